// The keys and gestures, in a dialog.

import { button, el } from "./dom.ts";

const KEYS: [string[], string][] = [
  [["W", "S"], "zoom in and out"],
  [["A", "D"], "earlier, later"],
  [["wheel"], "zoom at the pointer; over names: scroll"],
  [["Shift", "wheel"], "earlier, later"],
  [["drag"], "move"],
  [["two fingers"], "zoom and move; on the scale only in time"],
  [["Shift", "drag"], "select a range (or drag on the scale)"],
  [["F"], "show the selected range or span"],
  [["0"], "show the whole trace"],
  [["/"], "filter"],
  [["Ctrl", "F"], "search in the timeline"],
  [["T"], "show only tracks with a word: a process, thread or name"],
  [[",", "."], "previous and next span or record of the row"],
  [["N", "P"], "next and previous match"],
  [["Esc"], "end the selection, close the details"],
  [["1 … 4"], "timeline, records, statistics, SQL"],
  [["J", "K"], "next and previous record"],
  [["G"], "from the table to the timeline, and back"],
  [["C"], "copy the selected record"],
  [["L"], "follow live records, or pause"],
  [["?"], "this help"],
];

let dialog: HTMLDialogElement | undefined;

export function showHelp(): void {
  if (!dialog) {
    dialog = el(
      "dialog",
      { "aria-label": "Keys" },
      el("h2", {}, "Keys and gestures"),
      el("div", { class: "keys" }, KEYS.map(([keys, what]) => [el("span", {}, keys.map((key) => [el("kbd", {}, key), " "])), el("span", {}, what)])),
      el("p", { class: "dim" }, "The address holds what you see: a bookmark brings it back. A filter is written as for silverpoint cat: options (-l warn -c net -w 'id=7'), or an expression alone (id=7 and px>3.5)."),
      button("Close", "Close", () => dialog!.close()),
    );
    document.body.append(dialog);
  }
  dialog.showModal();
}
