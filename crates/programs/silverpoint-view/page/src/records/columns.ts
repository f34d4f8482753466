// Columns of the table: those of every record, and any argument by its path.

import type { Row } from "../api.ts";
import { button, el, fill } from "../dom.ts";
import { LEVELS } from "../theme.ts";
import { duration } from "../time.ts";
import type { Trace } from "../trace.ts";

export interface Column {
  /** `@level`, or the path of an argument: `order.id`. Kept in the address. */
  key: string;
  title: string;
  width: number;
  isWide?: boolean;
  text(row: Row, trace: Trace): string;
}

const OF_RECORDS: Column[] = [
  { key: "@number", title: "#", width: 84, text: (row) => row.number },
  { key: "@time", title: "Time", width: 148, text: (row, trace) => trace.clock.text(trace.clock.relative(BigInt(row.time))) },
  { key: "@level", title: "Level", width: 58, text: (row) => LEVELS[row.level] ?? "" },
  { key: "@kind", title: "Kind", width: 92, text: (row) => row.kind },
  { key: "@duration", title: "Duration", width: 92, text: (row) => (row.duration === null ? "" : duration(Number(row.duration))) },
  { key: "@process", title: "Process", width: 110, text: (row) => `${row.process}[${row.pid}]` },
  { key: "@thread", title: "Thread", width: 110, text: (row) => row.thread || String(row.tid) },
  { key: "@category", title: "Category", width: 100, text: (row) => row.category },
  { key: "@message", title: "Message", width: 520, isWide: true, text: (row) => row.message.replaceAll("\n", " ⏎ ") + (row.cut ? " …" : "") },
  { key: "@function", title: "Function", width: 160, text: (row) => row.function },
  { key: "@place", title: "Place", width: 170, text: (row) => (row.file ? `${baseName(row.file)}:${row.line}` : "") },
];

const DEFAULT = ["@time", "@level", "@process", "@thread", "@category", "@message", "@place"];

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function isArgument(column: Column): boolean {
  return !column.key.startsWith("@");
}

/** `[]`: those that are shown if nobody has chosen. */
export function columnsOf(keys: readonly string[]): Column[] {
  return (keys.length ? keys : DEFAULT).map((key) => OF_RECORDS.find((column) => column.key === key) ?? argument(key));
}

function argument(key: string): Column {
  return { key, title: key, width: 120, text: () => "" };
}

/** Adds an argument before the message, so that it is in sight. */
export function withColumn(keys: readonly string[], key: string): string[] {
  const list = keys.length ? [...keys] : [...DEFAULT];
  if (list.includes(key)) return list;
  const message = list.indexOf("@message");
  list.splice(message < 0 ? list.length : message, 0, key);
  return list;
}

/** A dialog to choose them. */
export function chooseColumns(keys: readonly string[], apply: (keys: string[]) => void): void {
  let chosen = keys.length ? [...keys] : [...DEFAULT];
  const list = el("div", { class: "choose" });
  const path = el("input", { type: "text", placeholder: "argument, such as order.id", "aria-label": "Path of an argument", spellcheck: "false" });
  const show = () => {
    const all = [...new Set([...OF_RECORDS.map((column) => column.key), ...chosen])];
    fill(
      list,
      all.map((key) => {
        const box = el("input", { type: "checkbox" });
        box.checked = chosen.includes(key);
        box.addEventListener("change", () => {
          if (!box.checked) chosen = chosen.filter((one) => one !== key);
          else if (key.startsWith("@")) chosen = all.filter((one) => one === key || chosen.includes(one));
          else chosen = withColumn(chosen, key);
          apply(chosen);
        });
        return el("label", {}, box, " ", columnsOf([key])[0]!.title);
      }),
    );
  };
  show();
  const add = () => {
    const key = path.value.trim().replace(/^@+/, "");
    if (!key) return;
    chosen = withColumn(chosen, key);
    path.value = "";
    apply(chosen);
    show();
  };
  path.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      add();
    }
  });
  const dialog = el(
    "dialog",
    { "aria-label": "Columns", on: { close: () => dialog.remove() } },
    el("h2", {}, "Columns"),
    list,
    el("div", { class: "line" }, path, button("Add", "Add this argument as a column", add)),
    el(
      "div",
      { class: "line" },
      button("As at first", "Show the columns of the beginning", () => {
        chosen = [...DEFAULT];
        apply([]);
        show();
      }),
      el("span", { class: "grow" }),
      button("Close", "Close", () => dialog.close()),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}
