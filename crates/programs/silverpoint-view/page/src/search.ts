// The search of the timeline: names of places that contain a text. They stay bright, and the next and previous record of one is shown.

import { get, isAborted, type Row, type Rows } from "./api.ts";
import { afterQuiet, button, el } from "./dom.ts";
import { format, parse } from "./filter/line.ts";
import { note } from "./note.ts";
import type { Store } from "./state.ts";
import { count } from "./time.ts";
import { nameOf, type Timeline } from "./timeline/timeline.ts";
import type { Trace } from "./trace.ts";

/** So many places are searched for records; a filter line has 4,096 bytes. */
const MOST_PLACES = 40;

export class Search {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly found = el("span", { class: "dim", role: "status" });
  private line = "";
  private number: number | undefined;
  private running: AbortController | undefined;

  constructor(
    private trace: Trace,
    private store: Store,
    private timeline: Timeline,
    private show: (row: Row) => void,
  ) {
    this.input = el("input", { type: "search", placeholder: "Search names", "aria-label": "Search the names of spans and records", spellcheck: "false" });
    this.input.value = store.state.search;
    const changed = afterQuiet(120, () => store.set({ search: this.input.value.trim() }));
    this.input.addEventListener("input", changed);
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        store.set({ search: this.input.value.trim() });
        void this.step(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        this.input.value = "";
        store.set({ search: "" });
        this.input.blur();
      }
    });
    this.element = el(
      "div",
      { class: "search", role: "search" },
      this.input,
      button("‹", "Previous match (P)", () => void this.step(-1), "button small"),
      button("›", "Next match (N)", () => void this.step(1), "button small"),
      this.found,
    );
    store.onChange((state, what) => {
      if (!what.has("search")) return;
      if (this.input.value.trim() !== state.search) this.input.value = state.search;
      this.number = undefined;
      this.update();
    });
    trace.onChange(() => this.update());
  }

  private update(): void {
    const text = this.store.state.search.toLowerCase();
    if (!text) {
      this.line = "";
      this.found.textContent = "";
      this.timeline.highlight(undefined);
      return;
    }
    const sites = [...this.trace.sites.values()].filter((site) => `${nameOf(site)} ${site.category} ${site.function} ${site.file}:${site.line}`.toLowerCase().includes(text));
    this.timeline.highlight(new Set(sites.map((site) => site.id)));
    const records = sites.reduce((sum, site) => sum + site.records, 0);
    this.found.textContent = sites.length ? `${count(records)} records of ${count(sites.length)} places` : "no name has it";
    const places = [...new Set(sites.filter((site) => site.file).map((site) => `${site.file}:${site.line}`))].slice(0, MOST_PLACES);
    const options = parse(this.trace.filter).filter(({ name }) => name !== "--file");
    this.line = places.length ? format([...places.map((value) => ({ name: "--file", value })), ...options]) : "";
  }

  /** The next match after what is shown, or the one before. */
  async step(by: 1 | -1): Promise<void> {
    if (!this.line) {
      if (this.store.state.search) note("No name has this text");
      else this.input.focus();
      return;
    }
    this.running?.abort();
    this.running = new AbortController();
    const { signal } = this.running;
    const ask = (which: { from: number } | { at: bigint }) => get<Rows>("records", { filter: this.line, ...which, count: 1 }, signal);
    try {
      let number = this.number;
      if (number === undefined) {
        const middle = this.timeline.view[0];
        const first = await ask({ at: this.trace.base + BigInt(Math.round(middle)) });
        number = Number(first.from) + (by > 0 ? 0 : -1);
      } else number += by;
      let answer = await ask({ from: Math.max(0, number) });
      const total = Number(answer.total);
      if (!total) {
        note(answer.progress.state === "reading" ? "Still reading; try again" : "No record of these places");
        return;
      }
      if (number < 0 || number >= total) {
        number = number < 0 ? total - 1 : 0;
        note(by > 0 ? "From the beginning again" : "From the end again");
        answer = await ask({ from: number });
      }
      const row = answer.rows[0];
      if (!row) return;
      this.number = number;
      this.found.textContent = `${count(number + 1)} of ${count(total)}`;
      this.show(row);
    } catch (error) {
      if (!isAborted(error)) note(error instanceof Error ? error.message : String(error), true);
    }
  }
}
