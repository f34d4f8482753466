// The whole trace in a strip: records over time by level, what the view shows, and a range that is brushed.

import { get, isAborted, type Histogram, type Summary } from "./api.ts";
import { button, el, fill, oncePerFrame, sharpen } from "./dom.ts";
import type { Range, Store } from "./state.ts";
import { colours, LEVELS, onTheme } from "./theme.ts";
import { bytes, count, duration, shortCount } from "./time.ts";
import type { Trace } from "./trace.ts";

const BAR_PIXELS = 3;
const EDGE_PIXELS = 5;
/** A brush that is shorter is a click. */
const CLICK_PIXELS = 4;
const PAUSE_MS = 700;

export class Overview {
  readonly element: HTMLElement;
  private readonly facts = el("div", { class: "facts" });
  private readonly canvas: HTMLCanvasElement;
  private histogram: Histogram | undefined;
  private askedFor = "";
  private askedAt = 0;
  private timer = 0;
  private running: AbortController | undefined;
  private readonly redraw = oncePerFrame(() => this.draw());

  constructor(
    private trace: Trace,
    private store: Store,
    private status: (text: string) => void,
  ) {
    this.canvas = el("canvas", { role: "img", "aria-label": "Records over time, by level. Drag to select a range." });
    this.element = el("div", { class: "overview" }, this.facts, this.canvas);
    new ResizeObserver(() => this.refresh()).observe(this.canvas);
    trace.onChange(() => this.refresh());
    store.onChange(this.redraw);
    onTheme(this.redraw);
    this.listen();
  }

  private get parts(): number {
    return Math.max(1, Math.min(2000, Math.floor(this.canvas.clientWidth / BAR_PIXELS)));
  }

  private refresh(): void {
    this.showFacts();
    const key = `${this.trace.version} ${this.parts}`;
    if (!this.trace.isKnown || this.askedFor === key) return;
    clearTimeout(this.timer);
    const wait = this.askedAt + PAUSE_MS - performance.now();
    if (wait > 0 && this.trace.progress?.state !== "finished") this.timer = window.setTimeout(() => this.refresh(), wait);
    else void this.ask(key);
  }

  private async ask(key: string): Promise<void> {
    this.running?.abort();
    this.running = new AbortController();
    this.askedFor = key;
    this.askedAt = performance.now();
    const { base, whole, filter } = this.trace;
    try {
      this.histogram = await get<Histogram>(
        "histogram",
        { filter, from: base + BigInt(Math.floor(whole[0])), to: base + BigInt(Math.ceil(whole[1]) + 1), parts: this.parts },
        this.running.signal,
      );
      this.redraw();
    } catch (error) {
      if (!isAborted(error)) this.askedFor = "";
    }
  }

  private showFacts(): void {
    const { summary, whole } = this.trace;
    if (!summary) return;
    const { progress } = summary;
    const records = Number(progress.records);
    const size = summary.files.reduce((sum, file) => sum + Number(file.bytes), 0);
    const reading = progress.state === "reading" ? ` · ${progress.fraction === null ? "reading" : `${Math.floor(progress.fraction * 100)} %`}` : "";
    const lost = Number(summary.lost);
    const stalls = Number(summary.stalls);
    const trouble = [lost && `${shortCount(lost)} lost`, stalls && `${shortCount(stalls)} ${stalls === 1 ? "wait" : "waits"}`, summary.messages.length && `${summary.messages.length} ${summary.messages.length === 1 ? "note" : "notes"}`, summary.tracks_left_out && `${count(summary.tracks_left_out)} tracks left out`].filter(Boolean);
    fill(
      this.facts,
      el("div", {}, el("b", {}, count(records)), ` records${reading}`),
      el("div", { class: "dim" }, `${duration(whole[1] - whole[0])}${size ? ` · ${bytes(size)}` : ""}`),
      trouble.length
        ? el("div", {}, button(trouble.join(" · "), "What is missing or damaged", () => showNotes(summary), `button link ${lost ? "bad" : "warned"}`))
        : el("div", { class: "dim" }, "nothing lost"),
    );
  }

  private get perPixel(): number {
    const { whole } = this.trace;
    return (whole[1] - whole[0]) / Math.max(1, this.canvas.clientWidth);
  }

  private x(at: number): number {
    return (at - this.trace.whole[0]) / this.perPixel;
  }

  private draw(): void {
    if (!this.canvas.clientWidth || !this.trace.isKnown) return;
    const { width, height, context } = sharpen(this.canvas);
    const theme = colours();
    context.clearRect(0, 0, width, height);
    if (this.histogram) this.drawBars(context, height);
    const { range, view } = this.store.state;
    if (view && this.store.state.tab === "timeline") {
      // What the timeline does not show is pale.
      const [from, to] = [this.x(view[0]), Math.max(this.x(view[1]), this.x(view[0]) + 2)];
      context.globalAlpha = 0.62;
      context.fillStyle = theme.panel;
      context.fillRect(0, 0, Math.max(0, from), height);
      context.fillRect(to, 0, width, height);
      context.globalAlpha = 1;
      context.fillStyle = theme.dim;
      context.fillRect(from, 0, 1, height);
      context.fillRect(to - 1, 0, 1, height);
    }
    if (range) {
      const [from, to] = [this.x(range[0]), this.x(range[1])];
      context.fillStyle = theme.shade;
      context.fillRect(from, 0, Math.max(1, to - from), height);
      context.fillStyle = theme.accent;
      context.fillRect(from, 0, 1, height);
      context.fillRect(Math.max(from, to - 1), 0, 1, height);
    }
  }

  private drawBars(context: CanvasRenderingContext2D, height: number): void {
    const { levels, unread, from, part_ns } = this.histogram!;
    const theme = colours();
    const parts = Math.max(0, ...levels.map((list) => list.length));
    let most = 1;
    const total = (part: number) => sum(levels, part) + (unread?.[part] ?? 0);
    for (let part = 0; part < parts; part++) most = Math.max(most, total(part));
    const start = this.trace.clock.relative(BigInt(from));
    const long = Number(part_ns);
    // Rare records stay visible: the root of the number is drawn.
    const tall = (records: number) => (records ? Math.max(1.5, (height - 6) * Math.sqrt(records / most)) : 0);
    for (let part = 0; part < parts; part++) {
      const all = total(part);
      if (!all) continue;
      const left = this.x(start + part * long);
      const wide = Math.max(1, this.x(start + (part + 1) * long) - left - 0.5);
      const whole = tall(all);
      let top = height;
      // From below: the worst first, each by its share of the bar and never invisible.
      for (let level = LEVELS.length - 1; level >= 0; level--) {
        const records = levels[level]?.[part] ?? 0;
        if (!records) continue;
        const share = Math.max(level >= 3 ? 2 : 0.5, (whole * records) / all);
        top -= share;
        context.fillStyle = theme.levels[level]!;
        context.fillRect(left, Math.max(2, top), wide, share);
      }
      // Nobody knows their levels yet.
      const share = (whole * (unread?.[part] ?? 0)) / all;
      context.globalAlpha = 0.5;
      context.fillStyle = theme.dim;
      context.fillRect(left, Math.max(2, top - share), wide, share);
      context.globalAlpha = 1;
    }
  }

  private listen(): void {
    const { canvas, store } = this;
    const time = (x: number) => {
      const { whole } = this.trace;
      return Math.max(whole[0], Math.min(whole[1], whole[0] + x * this.perPixel));
    };
    let start: { x: number; kept: Range | undefined; mode: "brush" | "from" | "to" } | undefined;
    const place = (event: PointerEvent) => event.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const x = place(event);
      const { range } = store.state;
      const near = (at: number) => Math.abs(this.x(at) - x) <= EDGE_PIXELS;
      start = { x, kept: range, mode: range && near(range[0]) ? "from" : range && near(range[1]) ? "to" : "brush" };
    });
    canvas.addEventListener("pointermove", (event) => {
      const x = place(event);
      if (!start) {
        this.status(this.describe(x));
        return;
      }
      if (Math.abs(x - start.x) < CLICK_PIXELS && start.mode === "brush") return;
      const fixed = start.mode === "from" ? start.kept![1] : start.mode === "to" ? start.kept![0] : time(start.x);
      const [one, two] = [fixed, time(x)];
      if (one !== two) store.set({ range: [Math.min(one, two), Math.max(one, two)] });
    });
    canvas.addEventListener("pointerup", (event) => {
      const x = place(event);
      if (start?.mode === "brush" && Math.abs(x - start.x) < CLICK_PIXELS) {
        // A click moves the view there, and ends the selection.
        const { view } = store.state;
        if (store.state.range) store.set({ range: undefined });
        else if (view) {
          const length = view[1] - view[0];
          const middle = time(x);
          store.set({ view: [middle - length / 2, middle + length / 2] });
        }
      }
      start = undefined;
    });
    canvas.addEventListener("pointercancel", () => (start = undefined));
    canvas.addEventListener("pointerleave", () => this.status(""));
    canvas.addEventListener("dblclick", () => store.state.range && store.set({ view: store.state.range }));
  }

  private describe(x: number): string {
    const at = this.trace.whole[0] + x * this.perPixel;
    const { histogram } = this;
    if (!histogram) return "";
    const part = Math.floor((at - this.trace.clock.relative(BigInt(histogram.from))) / Number(histogram.part_ns));
    const found = LEVELS.map((level, number) => [level, histogram.levels[number]?.[part] ?? 0] as const).filter(([, records]) => records);
    const waiting = histogram.unread?.[part] ?? 0;
    return `${this.trace.clock.full(at)} · ${waiting ? `about ${count(waiting)} not read yet, ` : ""}${count(sum(histogram.levels, part))} records${found.length ? ` (${found.map(([level, records]) => `${count(records)} ${level}`).join(", ")})` : ""} in ${duration(Number(histogram.part_ns))}`;
  }
}

/** What the server says about the files, in a dialog. */
function showNotes(summary: Summary): void {
  const dialog = el(
    "dialog",
    { "aria-label": "What is missing or damaged", on: { close: () => dialog.remove() } },
    el("h2", {}, "What is missing or damaged"),
    el("p", {}, `${count(Number(summary.lost))} records lost, ${count(Number(summary.stalls))} waits for room in a ring.`),
    summary.tracks_left_out > 0 && el("p", {}, `${count(summary.tracks_left_out)} tracks are left out of the timeline; the table has their records.`),
    el("ul", { class: "mono" }, summary.messages.map((message) => el("li", {}, message))),
    summary.messages_more > 0 && el("p", {}, `${count(summary.messages_more)} more`),
    button("Close", "Close", () => dialog.close()),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function sum(levels: number[][], part: number): number {
  return levels.reduce((all, list) => all + (list[part] ?? 0), 0);
}
