// Sites of running programs: which are on, and switching them as `silverpoint ctl` does.

import { get, post, type Switches as Answer, type SwitchSite } from "./api.ts";
import { button, el, fill } from "./dom.ts";
import { note } from "./note.ts";
import type { Store } from "./state.ts";
import { LEVELS } from "./theme.ts";
import { count } from "./time.ts";
import type { Trace } from "./trace.ts";

const PAUSE_MS = 2000;
/** Rows that are shown; a text narrows them down. */
const SHOWN = 500;

/** What directives cannot name as a place. */
const UNNAMED = /[,=\s[\]{}*?]/;

/** The directive that switches a line of source; none where directives cannot name it. */
export function directiveOf({ file, line }: { file: string; line: number }, isOn: boolean): string | undefined {
  return file && line > 0 && !UNNAMED.test(file) ? `+${file}:${line}=${isOn ? "on" : "off"}` : undefined;
}

/** Sends directives to a process, or to all; gives whether they hold. */
export async function direct(text: string, pid?: number): Promise<boolean> {
  try {
    const { processes } = await post<{ processes: { on: number }[] }>(`switches${pid === undefined ? "" : `?pid=${pid}`}`, text);
    const on = processes.reduce((sum, process) => sum + process.on, 0);
    note(`${text.replace(/^\+/, "")}: ${count(on)} ${on === 1 ? "site is" : "sites are"} on`);
    return true;
  } catch (error) {
    note(error instanceof Error ? error.message : String(error), true);
    return false;
  }
}

export class Switches {
  readonly element: HTMLElement;
  private readonly processes = el("div", { class: "processes" });
  private readonly wanted = el("input", { type: "search", placeholder: "Narrow the places down", "aria-label": "Text in the names, categories and places" });
  private readonly rows = el("tbody");
  private readonly more = el("p", { class: "dim" });
  private answer: Answer | undefined;
  private shown = "";
  private timer = 0;
  /** Changes that were begun, and those that have ended. */
  private changes = 0;

  constructor(
    private trace: Trace,
    private store: Store,
  ) {
    const heads = ["On", "Name", "Level", "Category", "Place", "Process"].map((title) => el("th", { scope: "col" }, title));
    this.element = el(
      "section",
      { "aria-label": "Switches" },
      this.processes,
      el("div", { class: "line" }, this.wanted),
      el("table", { class: "grid", "aria-label": "Switches" }, el("thead", {}, el("tr", {}, heads)), this.rows),
      this.more,
    );
    this.wanted.addEventListener("input", () => this.showRows());
  }

  private get isShown(): boolean {
    const { tab, part } = this.store.state;
    return tab === "statistics" && part === "switches";
  }

  /** Asks, and again while it is in sight. */
  refresh(): void {
    clearTimeout(this.timer);
    if (!this.isShown || !this.trace.summary?.can.includes("switches")) return;
    void this.ask().finally(() => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.refresh(), PAUSE_MS);
    });
  }

  private async ask(): Promise<void> {
    const { changes } = this;
    try {
      const answer = await get<Answer>("switches");
      // What was asked before a change does not know it.
      if (changes !== this.changes) return;
      this.answer = answer;
      this.showProcesses();
      this.showRows();
    } catch (error) {
      this.shown = "";
      fill(this.processes, el("p", { class: "bad" }, error instanceof Error ? error.message : String(error)));
    }
  }

  private async change(text: string, pid: number | undefined): Promise<void> {
    this.changes++;
    await direct(text, pid);
    this.changes++;
    await this.ask();
  }

  /** Only what has changed, and not while somebody writes in a field. */
  private showProcesses(): void {
    const { processes } = this.answer!;
    const key = JSON.stringify(processes);
    const writes = document.activeElement instanceof HTMLInputElement && this.processes.contains(document.activeElement);
    if (key === this.shown || (writes && processes.length)) return;
    this.shown = key;
    if (!processes.length) {
      fill(this.processes, el("p", { class: "empty" }, "No program that is shown here is running."));
      return;
    }
    fill(
      this.processes,
      processes.map(({ pid, name, directives, problem }) => {
        const input = el("input", { type: "text", class: "mono grow", spellcheck: "false", placeholder: "off; for example info,net=debug,pump.cpp:88=on", "aria-label": `Directives of ${name} ${pid}` });
        input.value = directives;
        const set = () => void this.change(input.value, pid);
        input.addEventListener("keydown", (event) => event.key === "Enter" && set());
        return el("div", { class: "line" }, el("b", {}, name), el("span", { class: "dim" }, pid), problem ? el("span", { class: "bad" }, problem) : [input, button("Set", `Replace the directives of ${name} ${pid}`, set)]);
      }),
    );
  }

  private showRows(): void {
    const { sites = [], processes = [], more = 0 } = this.answer ?? {};
    const text = this.wanted.value.trim().toLowerCase();
    const found = sites.filter((site) => !text || `${site.name}\n${site.category}\n${site.file}:${site.line}`.toLowerCase().includes(text));
    // A box that has the focus stays in the page.
    const kept = new Map([...this.rows.children].map((row) => [row.getAttribute("data-key"), row as HTMLTableRowElement]));
    const rows = found.slice(0, SHOWN).map((site) => {
      const process = processes[site.process];
      const key = JSON.stringify([process?.pid, site.category, site.file, site.line, site.name, site.level]);
      const row = kept.get(key) ?? this.row(site, key, process);
      row.querySelector("input")!.checked = site.on;
      return row;
    });
    if (rows.length !== this.rows.children.length || rows.some((row, at) => row !== this.rows.children[at])) this.rows.replaceChildren(...rows);
    const hidden = found.length - rows.length + more;
    this.more.textContent = hidden > 0 ? `${count(hidden)} more are not shown` : "";
  }

  private row(site: SwitchSite, key: string, process: Answer["processes"][number] | undefined): HTMLTableRowElement {
    const box = el("input", { type: "checkbox", "aria-label": `${site.name} at ${site.file}:${site.line}` });
    box.disabled = directiveOf(site, true) === undefined;
    if (box.disabled) box.title = "Directives cannot name this place; switch its category above";
    box.addEventListener("change", () => {
      const text = directiveOf(site, box.checked);
      if (text) void this.change(text, process?.pid);
    });
    return el(
      "tr",
      { "data-key": key },
      [box, site.name, el("span", { class: `l${site.level}` }, LEVELS[site.level] ?? ""), el("span", { class: "dim" }, site.category), el("span", { class: "dim mono" }, site.file && `${site.file}:${site.line}`), el("span", { class: "dim" }, process ? `${process.name} ${process.pid}` : "")].map((cell) => el("td", {}, cell)),
    );
  }
}

/** A button that switches the line of a record off and on again; it says what is so now. */
export function switchOf(place: { file: string; line: number }): HTMLElement | undefined {
  if (!directiveOf(place, true)) return undefined;
  let isOn: boolean | undefined;
  const press = button("", "Switch this line of source in the running program", () => void change(), "button small");
  press.hidden = true;
  const look = async () => {
    try {
      const { sites } = await get<Answer>("switches", { file: place.file, line: place.line });
      press.hidden = !sites.length;
      isOn = sites.some((site) => site.on);
      press.textContent = isOn ? "Switch off" : "Switch on";
    } catch {
      press.hidden = true;
    }
  };
  const change = async () => {
    press.disabled = true;
    await direct(directiveOf(place, !isOn)!);
    await look();
    press.disabled = false;
  };
  void look();
  return press;
}
