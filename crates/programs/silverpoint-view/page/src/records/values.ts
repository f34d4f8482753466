// Values of arguments to filter by: the reader names an argument, and its values are counted over all records of the filter.

import { get, isAborted, type ArgumentValue, type ArgumentValues } from "../api.ts";
import { button, el, fill, type Child } from "../dom.ts";
import { and } from "../filter/line.ts";
import type { Store } from "../state.ts";
import { count, shortCount } from "../time.ts";
import type { Trace } from "../trace.ts";

const SHOWN = 20;
const PAUSE_MS = 200;

export class ValuePanel {
  readonly element: HTMLElement;
  private readonly input = el("input", { type: "text", class: "mono", placeholder: "an argument: order.id", "aria-label": "Count the values of an argument", spellcheck: "false" });
  private readonly list = el("div");
  private names: string[] = [];
  private askedFor = "";
  private running: AbortController | undefined;

  constructor(
    private trace: Trace,
    private store: Store,
  ) {
    this.input.addEventListener("keydown", (event) => {
      const name = this.input.value.trim();
      if (event.key !== "Enter" || !name) return;
      this.names = [name, ...this.names.filter((other) => other !== name)];
      this.input.value = "";
      this.askedFor = "";
      this.refresh();
    });
    this.element = el("section", { class: "needs-server" }, el("h2", {}, "Values of arguments"), this.input, this.list);
  }

  /** Counts again under another filter, or when everything is read. */
  refresh(): void {
    if (!this.names.length) return;
    const key = JSON.stringify([this.trace.filter, this.names, this.trace.progress?.state === "finished"]);
    if (key === this.askedFor) return;
    this.askedFor = key;
    this.running?.abort();
    this.running = new AbortController();
    const { signal } = this.running;
    const places = this.names.map((name) => {
      const place = el("div");
      void this.ask(name, place, signal);
      return [el("h2", { class: "line" }, el("span", { class: "grow" }, name), button("✕", `No values of ${name}`, () => this.remove(name), "button plain small")), place];
    });
    fill(this.list, places);
  }

  private remove(name: string): void {
    this.names = this.names.filter((other) => other !== name);
    this.running?.abort();
    this.askedFor = "";
    fill(this.list);
    this.refresh();
  }

  private async ask(name: string, place: HTMLElement, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const answer = await get<ArgumentValues>("values", { filter: this.trace.filter, name, count: SHOWN }, signal);
        const { state, fraction } = answer.progress;
        const more = answer.more + (answer.left_out ? 1 : 0);
        const rest: Child = state !== "finished" ? `reading ${fraction === null ? "" : `${Math.floor(fraction * 100)} %`}` : !answer.values.length ? "no record has it" : more ? `${count(more)} more values` : null;
        fill(place, answer.values.map((value) => this.one(name, value)), rest && el("div", { class: "facet dim" }, rest));
        if (state === "finished") return;
        await new Promise((resume) => setTimeout(resume, PAUSE_MS));
        signal.throwIfAborted();
      }
    } catch (error) {
      if (isAborted(error)) return;
      this.askedFor = "";
      fill(place, el("div", { class: "bad" }, error instanceof Error ? error.message : String(error)));
    }
  }

  private one(name: string, { value, number, records }: ArgumentValue): HTMLElement {
    const literal = number && Number.isSafeInteger(Number(value)) ? Number(value) : value;
    return el(
      "button",
      { class: "facet", type: "button", title: `${name} = ${value}: ${count(records)} records`, on: { click: () => this.store.set({ filter: and(this.store.state.filter, name, literal) }) } },
      el("span", { class: "name" }, value || "(empty)"),
      el("span", { class: "amount" }, shortCount(records)),
    );
  }
}
