// The flame graph of a range: spans within one another, as wide as their time or their number.

import { get, isAborted, type Flame as Answer } from "./api.ts";
import { button, el, oncePerFrame, sharpen } from "./dom.ts";
import type { Range, Store } from "./state.ts";
import { colours, onTheme } from "./theme.ts";
import { count, duration } from "./time.ts";
import type { Trace } from "./trace.ts";

const ROW = 18;
const LEAST_PIXELS = 0.5;
const PAUSE_MS = 150;

interface Box {
  node: number;
  left: number;
  width: number;
  row: number;
}

/** Widths of all nodes, and what is within each, the widest first. */
export function widths(answer: Pick<Answer, "parent" | "count" | "time">, byTime: boolean): { width: number[]; children: number[][] } {
  const { parent, count, time } = answer;
  const own = byTime ? time : count;
  const width = [...own];
  const inner = own.map(() => 0);
  const children: number[][] = own.map(() => []);
  // Each is behind its parent.
  for (let node = own.length - 1; node > 0; node--) {
    // A span takes at least what is within it; of numbers, all are added.
    width[node] = byTime ? Math.max(own[node]!, inner[node]!) : own[node]! + inner[node]!;
    inner[parent[node]!]! += width[node]!;
    children[parent[node]!]!.push(node);
  }
  width[0] = inner[0] ?? 0;
  for (const list of children) list.sort((one, other) => width[other]! - width[one]!);
  return { width, children };
}

export class Flame {
  readonly element: HTMLElement;
  private readonly canvas = el("canvas", { class: "flame", role: "img", tabindex: "0" });
  private readonly about = el("span", { class: "dim grow", role: "status" });
  private readonly tip = el("div", { class: "dim mono" });
  private readonly kinds: HTMLButtonElement[];
  private answer: Answer | undefined;
  private byTime = true;
  private boxes: Box[] = [];
  private widths: number[] = [];
  /** The node that fills the width. */
  private top = 0;
  private askedFor = "";
  private running: AbortController | undefined;
  private readonly redraw = oncePerFrame(() => this.draw());

  constructor(
    private trace: Trace,
    private store: Store,
  ) {
    this.kinds = [
      button("By time", "Widths are durations", () => this.choose(true)),
      button("By count", "Widths are numbers of spans and records", () => this.choose(false)),
    ];
    this.element = el(
      "section",
      { "aria-label": "Flame graph" },
      el("div", { class: "line" }, this.kinds, button("All", "Show everything again", () => this.zoom(0)), this.about),
      this.canvas,
      this.tip,
    );
    this.choose(true);
    new ResizeObserver(this.redraw).observe(this.canvas.parentElement!);
    onTheme(this.redraw);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.textContent = ""));
    this.canvas.addEventListener("click", (event) => {
      const box = this.at(event);
      if (box) this.zoom(box.node);
    });
    this.canvas.addEventListener("keydown", (event) => event.key === "Backspace" && this.zoom(this.answer?.parent[this.top] ?? 0));
  }

  private choose(byTime: boolean): void {
    this.byTime = byTime;
    this.kinds.forEach((kind, at) => kind.setAttribute("aria-pressed", String(byTime === (at === 0))));
    this.redraw();
  }

  private zoom(node: number): void {
    this.top = node;
    this.redraw();
  }

  /** Asks for the selected range, or for everything, while it is in sight. */
  refresh(): void {
    const { tab, part, range } = this.store.state;
    if (tab !== "statistics" || part !== "flame" || !this.trace.isKnown) {
      this.running?.abort();
      this.askedFor = "";
      return;
    }
    const [from, to] = range ?? this.trace.whole;
    // What comes meanwhile is shown when the tab is opened again.
    const key = `${this.trace.filter} ${range ? `${from} ${to}` : this.trace.progress?.state === "finished"}`;
    if (key === this.askedFor) return;
    this.running?.abort();
    this.running = new AbortController();
    this.askedFor = key;
    this.top = 0;
    void this.ask([from, to], range !== undefined, this.running.signal);
  }

  private async ask([from, to]: Range, isSelected: boolean, signal: AbortSignal): Promise<void> {
    const { base, filter } = this.trace;
    const what = `${isSelected ? "selected range" : "whole trace"}, ${duration(to - from)}`;
    try {
      for (;;) {
        const answer = await get<Answer>("flame", { filter, from: base + BigInt(Math.floor(from)), to: base + BigInt(Math.ceil(to) + 1) }, signal);
        this.answer = answer;
        const { state, fraction, records } = answer.progress;
        const reading = state === "finished" ? "" : ` · reading ${fraction === null ? "" : `${Math.floor(fraction * 100)} %`}`;
        this.about.textContent = `${what} · ${count(Number(records))} records${answer.left_out ? ` · ${count(answer.left_out)} spans left out` : ""}${reading}`;
        this.redraw();
        if (state === "finished") return;
        await new Promise((resume) => setTimeout(resume, PAUSE_MS));
        signal.throwIfAborted();
      }
    } catch (error) {
      if (isAborted(error)) return;
      this.askedFor = "";
      this.about.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private name(node: number): string {
    const { site, process, processes } = this.answer!;
    if (node === 0) return "all";
    if (site[node]! < 0) return processes[process[node]!] ?? "process";
    return this.trace.sites.get(site[node]!)?.name ?? "span";
  }

  private draw(): void {
    const { answer, canvas } = this;
    if (!answer || !this.element.clientWidth) return;
    if (this.top >= answer.parent.length) this.top = 0;
    const { width, children } = widths(answer, this.byTime);
    this.widths = width;
    // What is around the node that fills the width, then it and what is within it.
    const around: number[] = [];
    for (let node = this.top; node !== 0; node = answer.parent[node]!) around.unshift(answer.parent[node]!);
    const full = this.element.clientWidth;
    this.boxes = around.map((node, row) => ({ node, left: 0, width: full, row }));
    const scale = full / Math.max(1, width[this.top]!);
    const open: Box[] = [{ node: this.top, left: 0, width: full, row: around.length }];
    let rows = open[0]!.row + 1;
    for (let box = open.pop(); box; box = open.pop()) {
      this.boxes.push(box);
      rows = Math.max(rows, box.row + 1);
      let { left } = box;
      for (const child of children[box.node]!) {
        const wide = width[child]! * scale;
        if (wide >= LEAST_PIXELS) open.push({ node: child, left, width: wide, row: box.row + 1 });
        left += wide;
      }
    }
    canvas.style.height = `${rows * ROW}px`;
    canvas.setAttribute("aria-label", `Flame graph by ${this.byTime ? "time" : "count"} of ${this.name(this.top)}`);
    const { context } = sharpen(canvas);
    const theme = colours();
    context.clearRect(0, 0, full, rows * ROW);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const { node, left, width: wide, row } of this.boxes) {
      const site = answer.site[node]!;
      context.globalAlpha = row < around.length ? 0.5 : 1;
      context.fillStyle = site < 0 ? theme.strong : theme.spans[site % theme.spans.length]!;
      context.fillRect(left, row * ROW, Math.max(LEAST_PIXELS, wide - 0.5), ROW - 1);
      if (wide < 24) continue;
      context.fillStyle = site < 0 ? theme.text : theme.spanText;
      context.save();
      context.beginPath();
      context.rect(left, row * ROW, wide - 3, ROW);
      context.clip();
      context.fillText(this.name(node), left + 4, row * ROW + ROW / 2);
      context.restore();
    }
    context.globalAlpha = 1;
    canvas.dataset["drawn"] = answer.progress.state;
    canvas.dataset["boxes"] = String(this.boxes.length);
  }

  private at(event: MouseEvent): Box | undefined {
    const { left, top } = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    return this.boxes.find((box) => box.row === Math.floor(y / ROW) && x >= box.left && x < box.left + box.width);
  }

  private hover(event: MouseEvent): void {
    const box = this.at(event);
    if (!box || !this.answer) {
      this.tip.textContent = "";
      return;
    }
    const { node } = box;
    const site = this.trace.sites.get(this.answer.site[node]!);
    const all = this.widths;
    const time = this.answer.time[node]!;
    const parts = [
      this.name(node),
      site?.file && `${site.file}:${site.line}`,
      this.answer.count[node] && `${count(this.answer.count[node]!)} times`,
      time && duration(time),
      `${((100 * all[node]!) / Math.max(1, all[0]!)).toFixed(1)} % of all`,
    ];
    this.tip.textContent = parts.filter(Boolean).join(" · ");
  }
}
