// What there is to filter by, with the number of records. A click adds the value to the filter, or takes it away.

import { FACETS, get, isAborted, type FacetName, type Facets } from "../api.ts";
import { button, el, fill } from "../dom.ts";
import { format, has, parse, toggle } from "../filter/line.ts";
import type { Store } from "../state.ts";
import { LEVELS } from "../theme.ts";
import { count, shortCount } from "../time.ts";
import type { Trace } from "../trace.ts";
import { ValuePanel } from "./values.ts";

const TITLES: Record<FacetName, string> = {
  levels: "Level, at least",
  categories: "Category",
  threads: "Thread",
  processes: "Process",
  files: "File",
  functions: "Function",
};
const FIRST = 12;
const MORE = 500;
/** So often the counts are asked for while records come. */
const PAUSE_MS = 1500;

export class FacetPanel {
  private readonly content = el("div");
  private readonly values: ValuePanel;
  readonly element: HTMLElement;
  private facets: Facets | undefined;
  private opened = new Set<FacetName>();
  private running: AbortController | undefined;
  private askedFor = -1;
  private askedAt = 0;
  private timer = 0;

  constructor(
    private trace: Trace,
    private store: Store,
  ) {
    this.values = new ValuePanel(trace, store);
    this.element = el("nav", { class: "facets", "aria-label": "Values to filter by" }, this.content, this.values.element);
  }

  /** Asks again if something has changed. */
  refresh(): void {
    if (this.store.state.tab === "records" && this.trace.isKnown) this.values.refresh();
    if (this.store.state.tab !== "records" || this.askedFor === this.trace.version || !this.trace.isKnown) return;
    const wait = this.askedAt + PAUSE_MS - performance.now();
    clearTimeout(this.timer);
    if (wait > 0 && this.trace.progress?.state !== "finished") this.timer = window.setTimeout(() => this.refresh(), wait);
    else void this.ask();
  }

  private async ask(): Promise<void> {
    this.running?.abort();
    this.running = new AbortController();
    this.askedFor = this.trace.version;
    this.askedAt = performance.now();
    try {
      this.facets = await get<Facets>("facets", { filter: this.trace.filter, count: this.opened.size ? MORE : 50 }, this.running.signal);
      this.show();
    } catch (error) {
      if (!isAborted(error)) this.askedFor = -1;
    }
  }

  show(): void {
    const { facets } = this;
    if (!facets) return;
    fill(
      this.content,
      FACETS.map((name) => {
        const all = name === "levels" ? [...facets[name]].sort((one, two) => order(one.value) - order(two.value)) : facets[name];
        const shown = this.opened.has(name) ? all : all.slice(0, FIRST);
        if (!all.length) return null;
        const rest = all.length - shown.length + (facets.more[name] ?? 0);
        return el(
          "section",
          {},
          el("h2", {}, TITLES[name]),
          shown.map((facet) => this.one(facet.value, facet.records, facet.filter)),
          rest > 0 && !this.opened.has(name) && button(`${count(rest)} more`, `Show more: ${TITLES[name]}`, () => {
            this.opened.add(name);
            void this.ask();
          }, "facet dim"),
        );
      }),
    );
  }

  private one(value: string, records: number, filter: string): HTMLElement {
    const option = parse(filter)[0];
    const line = this.store.state.filter;
    const isOn = option ? has(line, option.name, option.value) : false;
    const row = el(
      "button",
      { class: "facet", type: "button", "aria-pressed": String(isOn), title: `${value}: ${count(records)} records` },
      el("span", { class: `name ${levelStyle(value, option?.name)}` }, value || "(none)"),
      el("span", { class: "amount" }, shortCount(records)),
    );
    row.addEventListener("click", () => {
      if (option) this.store.set({ filter: toggle(this.store.state.filter, option.name, option.value) });
      else this.store.set({ filter: format(parse(filter)) });
    });
    return row;
  }
}

function order(level: string): number {
  return -LEVELS.indexOf(level as (typeof LEVELS)[number]);
}

function levelStyle(value: string, name: string | undefined): string {
  const level = LEVELS.indexOf(value as (typeof LEVELS)[number]);
  return name === "-l" && level >= 0 ? `l${level}` : "";
}
