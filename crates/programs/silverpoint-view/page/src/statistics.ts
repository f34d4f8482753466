// The tab of the statistics: what happened most, how long spans took, and what was lost.

import { get, isAborted, isOffline, type Lanes, type Statistics as Answer } from "./api.ts";
import { button, el, fill, sharpen, type Child } from "./dom.ts";
import { chart } from "./chart.ts";
import { Compare } from "./compare.ts";
import { toggle } from "./filter/line.ts";
import { Flame } from "./flame.ts";
import { grid } from "./grid.ts";
import { PARTS, type Part, type Store } from "./state.ts";
import { Switches } from "./switches.ts";
import { colours, LEVELS, onTheme } from "./theme.ts";
import { bytes, count, duration, shortCount } from "./time.ts";
import type { Trace } from "./trace.ts";

const TITLES: Record<Part, [string, string]> = {
  figures: ["Figures", "Places, latencies of spans, threads, counters"],
  flame: ["Flame graph", "Spans within one another, by time or by count, of the selected range"],
  compare: ["Compare", "Two ranges or two files side by side"],
  switches: ["Switches", "Sites of the running programs, on and off"],
};
const ROWS = 500;
const PAUSE_MS = 1500;
/** Counters with a plot; others are in the timeline. */
const PLOTS = 100;
const PLOT_PIXELS = 160;

interface Placed {
  file: string;
  line: number;
}

export class Statistics {
  readonly element: HTMLElement;
  private readonly content = el("div");
  private readonly parts: Record<Part, HTMLElement>;
  private readonly others: Record<Exclude<Part, "figures">, { element: HTMLElement; refresh(): void }>;
  private readonly scrolls: HTMLElement;
  private askedFor = -1;
  private askedAt = 0;
  private timer = 0;
  private running: AbortController | undefined;
  private sparks: [HTMLCanvasElement, { from: string; count: number }[]][] = [];

  constructor(
    private trace: Trace,
    private store: Store,
  ) {
    this.others = { flame: new Flame(trace, store), compare: new Compare(trace, store), switches: new Switches(trace, store) };
    const { flame, compare, switches } = this.others;
    this.parts = { figures: this.content, flame: flame.element, compare: compare.element, switches: switches.element };
    this.scrolls = el("div", { class: "scrolls figures" }, Object.values(this.parts));
    const choices = PARTS.map((part) => button(TITLES[part][0], TITLES[part][1], () => store.set({ part })));
    this.element = el(
      "div",
      { class: "panel", id: "panel-statistics", role: "tabpanel", "aria-labelledby": "tab-statistics" },
      el("div", { class: "bar", role: "group", "aria-label": "Parts of the statistics" }, choices),
      this.scrolls,
    );
    const choose = () => {
      PARTS.forEach((part, at) => {
        const is = part === store.state.part;
        this.parts[part].hidden = !is;
        choices[at]!.setAttribute("aria-pressed", String(is));
        choices[at]!.hidden = (isOffline && part !== "figures") || (part === "switches" && !trace.summary?.can.includes(part));
      });
    };
    choose();
    let could = false;
    trace.onChange(() => {
      choose();
      this.refresh();
      const can = trace.summary?.can.includes("switches") ?? false;
      if (can && !could) switches.refresh();
      could = can;
      flame.refresh();
      compare.refresh();
    });
    store.onChange((_, changed) => {
      if (!(["tab", "part", "range", "a", "b"] as const).some((name) => changed.has(name))) return;
      choose();
      this.refresh();
      flame.refresh();
      compare.refresh();
      if (changed.has("tab") || changed.has("part")) switches.refresh();
    });
    onTheme(() => this.drawSparks());
  }

  private refresh(): void {
    const { tab, part } = this.store.state;
    if (tab !== "statistics" || part !== "figures" || !this.trace.isKnown || this.askedFor === this.trace.version) return;
    clearTimeout(this.timer);
    const wait = this.askedAt + PAUSE_MS - performance.now();
    if (wait > 0 && this.trace.progress?.state !== "finished") this.timer = window.setTimeout(() => this.refresh(), wait);
    else void this.ask();
  }

  private async ask(): Promise<void> {
    this.running?.abort();
    this.running = new AbortController();
    this.askedFor = this.trace.version;
    this.askedAt = performance.now();
    try {
      const { signal } = this.running;
      const answer = await get<Answer>("stats", { filter: this.trace.filter, count: ROWS }, signal);
      this.show(answer, await this.plots(answer, signal));
    } catch (error) {
      if (isAborted(error)) return;
      fill(this.content, el("p", { class: "empty bad" }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** The values of the first counters over the whole time. */
  private async plots(answer: Answer, signal: AbortSignal): Promise<Map<number, HTMLElement>> {
    const { base, filter } = this.trace;
    const tracks = answer.counters.slice(0, PLOTS).map(({ track }) => track);
    if (!tracks.length || answer.begin === null || answer.end === null) return new Map();
    const lanes = await get<Lanes>("lanes", { filter, from: answer.begin, to: BigInt(answer.end) + 1n, width: PLOT_PIXELS, tracks: tracks.join(",") }, signal);
    const shift = Number(BigInt(lanes.from) - base);
    const names = new Map(answer.counters.map(({ track, name }) => [track, name]));
    return new Map(
      lanes.tracks.flatMap(({ id, points }) => {
        if (!points?.at.length) return [];
        const x = points.at.map((at) => at + shift);
        return [[id, chart({ x, y: points.last.map((value) => value ?? NaN), label: `${names.get(id) ?? "counter"} over time` }, "spark wide")]];
      }),
    );
  }

  private show(answer: Answer, plots: Map<number, HTMLElement>): void {
    const scroll = this.scrolls.scrollTop;
    this.sparks = [];
    const losses = answer.losses.filter(({ records }) => records !== "0");
    const seconds = answer.begin && answer.end ? Number(BigInt(answer.end) - BigInt(answer.begin)) / 1e9 : 0;
    const rate = (records: number) => (seconds > 0 ? `${shortCount(records / seconds)}/s` : "");
    const filterTo = ({ file, line }: Placed) => file && this.store.set({ filter: toggle(this.store.state.filter, "--file", `${file}:${line}`), tab: "records" });
    const place = ({ file, line }: Placed) => (file ? el("span", { class: "dim mono", title: `${file}:${line}` }, `${file.slice(file.lastIndexOf("/") + 1)}:${line}`) : "");
    const most = Math.max(1, ...answer.sites.map(({ records }) => records));
    fill(
      this.content,
      el(
        "div",
        { class: "tiles" },
        tile("records", count(Number(answer.records)), answer.per_second === null ? "" : `${shortCount(answer.per_second)} a second`),
        tile("errors and worse", count((answer.levels[4] ?? 0) + (answer.levels[5] ?? 0)), `${count(answer.levels[3] ?? 0)} warnings`, (answer.levels[4] ?? 0) + (answer.levels[5] ?? 0) > 0 ? "bad" : ""),
        losses.length
          ? losses.map(({ cause, records }) => tile(`lost: ${cause}`, count(Number(records)), "records", "bad"))
          : tile("lost", "0", "nothing is missing"),
        tile("waits for room", count(Number(answer.stalls)), Number(answer.stall_ns) ? duration(Number(answer.stall_ns)) : "", Number(answer.stalls) ? "warned" : ""),
      ),
      part(
        "Spans",
        answer.more["spans"],
        answer.spans.length
          ? grid("Spans", [
              { title: "Name", show: (row) => row.name, key: (row) => row.name },
              { title: "Category", show: (row) => el("span", { class: "dim" }, row.category), key: (row) => row.category },
              { title: "Place", show: place, key: (row) => `${row.file}:${row.line}` },
              { title: "Count", isNumber: true, show: (row) => count(row.count), key: (row) => row.count },
              { title: "Total", isNumber: true, show: (row) => duration(Number(row.total)), key: (row) => Number(row.total) },
              { title: "Mean", isNumber: true, show: (row) => duration(Number(row.mean)), key: (row) => Number(row.mean) },
              { title: "Least", isNumber: true, show: (row) => duration(Number(row.min)), key: (row) => Number(row.min) },
              { title: "50 %", isNumber: true, show: (row) => duration(Number(row.p50)), key: (row) => Number(row.p50) },
              { title: "90 %", isNumber: true, show: (row) => duration(Number(row.p90)), key: (row) => Number(row.p90) },
              { title: "99 %", isNumber: true, show: (row) => duration(Number(row.p99)), key: (row) => Number(row.p99) },
              { title: "Greatest", isNumber: true, show: (row) => duration(Number(row.max)), key: (row) => Number(row.max) },
              { title: "Latency", show: (row) => this.spark(row.histogram) },
            ], answer.spans, filterTo)
          : null,
      ),
      part(
        "Places",
        answer.more["sites"],
        grid("Places", [
          { title: "Name", show: (row) => row.name, key: (row) => row.name },
          { title: "Level", show: (row) => el("span", { class: `l${row.level}` }, LEVELS[row.level] ?? ""), key: (row) => row.level },
          { title: "Category", show: (row) => el("span", { class: "dim" }, row.category), key: (row) => row.category },
          { title: "Place", show: place, key: (row) => `${row.file}:${row.line}` },
          { title: "Records", isNumber: true, show: (row) => count(row.records), key: (row) => row.records },
          { title: "Rate", isNumber: true, show: (row) => rate(row.records), key: (row) => row.records },
          { title: "Bytes", isNumber: true, show: (row) => bytes(row.bytes), key: (row) => row.bytes },
          { title: "", show: (row) => share(row.records / most) },
        ], answer.sites, filterTo),
      ),
      part(
        "Threads",
        answer.more["threads"],
        grid("Threads", [
          { title: "Thread", show: (row) => row.name, key: (row) => row.name },
          { title: "Number", isNumber: true, show: (row) => row.tid, key: (row) => row.tid },
          { title: "Process", show: (row) => `${row.process} ${row.pid}`, key: (row) => row.process },
          { title: "Records", isNumber: true, show: (row) => count(row.records), key: (row) => row.records },
          { title: "Rate", isNumber: true, show: (row) => rate(row.records), key: (row) => row.records },
          { title: "Lost", isNumber: true, show: (row) => el("span", { class: row.lost === "0" ? "dim" : "bad" }, count(Number(row.lost))), key: (row) => Number(row.lost) },
        ], answer.threads),
      ),
      part(
        "Counters",
        answer.more["counters"],
        answer.counters.length
          ? grid("Counters", [
              { title: "Name", show: (row) => row.name, key: (row) => row.name },
              { title: "Process", show: (row) => `${row.process} ${row.pid}`, key: (row) => row.process },
              { title: "Values", isNumber: true, show: (row) => count(row.records), key: (row) => row.records },
              { title: "Least", isNumber: true, show: (row) => figure(row.min), key: (row) => row.min ?? 0 },
              { title: "Greatest", isNumber: true, show: (row) => figure(row.max), key: (row) => row.max ?? 0 },
              { title: "Last", isNumber: true, show: (row) => figure(row.last), key: (row) => row.last ?? 0 },
              { title: "Over time", show: (row) => plots.get(row.track) ?? "" },
            ], answer.counters)
          : null,
      ),
    );
    this.scrolls.scrollTop = scroll;
  }

  /** The distribution of durations: a bar for each power of two, as high as the logarithm of its number. */
  private spark(histogram: { from: string; count: number }[]): HTMLElement {
    const first = histogram[0];
    const last = histogram[histogram.length - 1];
    const label = first && last ? `Durations from ${duration(Number(first.from))} to ${duration(Number(last.from) * 2)}` : "No durations";
    const canvas = el("canvas", { class: "spark", role: "img", "aria-label": label, title: label });
    this.sparks.push([canvas, histogram]);
    requestAnimationFrame(() => drawSpark(canvas, histogram));
    return canvas;
  }

  private drawSparks(): void {
    this.sparks = this.sparks.filter(([canvas]) => canvas.isConnected);
    for (const [canvas, histogram] of this.sparks) drawSpark(canvas, histogram);
  }
}

function drawSpark(canvas: HTMLCanvasElement, histogram: { from: string; count: number }[]): void {
  if (!canvas.clientWidth || !histogram.length) return;
  const { width, height, context } = sharpen(canvas);
  context.clearRect(0, 0, width, height);
  context.fillStyle = colours().accent;
  const power = (from: string) => Math.floor(Math.log2(Math.max(1, Number(from))));
  const least = power(histogram[0]!.from);
  const many = Math.max(8, power(histogram[histogram.length - 1]!.from) - least + 1);
  const most = Math.log2(1 + Math.max(...histogram.map((bar) => bar.count)));
  const wide = Math.min(10, width / many);
  for (const bar of histogram) {
    const tall = bar.count ? Math.max(1.5, (height * Math.log2(1 + bar.count)) / most) : 0;
    context.fillRect((power(bar.from) - least) * wide, height - tall, Math.max(1, wide - 1), tall);
  }
}

function figure(value: number | null): string {
  return value === null ? "not finite" : value.toLocaleString("en-GB", { maximumFractionDigits: 6 });
}

function tile(name: string, value: string, note: string, style = ""): HTMLElement {
  return el("div", { class: "tile" }, el("div", { class: "dim" }, name), el("div", { class: `value ${style}` }, value), el("div", { class: "dim" }, note));
}

function part(title: string, more: number | undefined, content: Child): HTMLElement | null {
  return content ? el("section", {}, el("h2", {}, title, more ? el("span", { class: "dim" }, ` · ${count(more)} more are not shown`) : null), content) : null;
}

function share(part: number): HTMLElement {
  const bar = el("div", { class: "bar-share" });
  bar.style.width = `${Math.max(1, part * 110)}px`;
  return bar;
}
