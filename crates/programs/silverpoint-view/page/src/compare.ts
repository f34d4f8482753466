// Two ranges, or two files, side by side: how often each span and each place was, and how long spans took.

import { get, isAborted, type Statistics as Answer } from "./api.ts";
import { button, el, fill, type Child } from "./dom.ts";
import { grid, type GridColumn } from "./grid.ts";
import { rangeOf, type Store } from "./state.ts";
import { bytes, count, duration, shortCount } from "./time.ts";
import type { Trace } from "./trace.ts";

const ROWS = 500;
const PAUSE_MS = 150;
/** A change that is worth a colour. */
const NOTABLE = 0.1;

type Side = "a" | "b";
const SIDES: readonly Side[] = ["a", "b"];

/** What both sides know of one place; one of them may not have it. */
export interface Pair<Item> {
  a: Item | undefined;
  b: Item | undefined;
}

interface Placed {
  name: string;
  category: string;
  file: string;
  line: number;
}

/** The same place on both sides: two builds of a program number their sites differently, and lines move. */
export function paired<Item extends Placed>(a: readonly Item[], b: readonly Item[]): Pair<Item>[] {
  const key = ({ name, category, file }: Placed) => JSON.stringify([name, category, file.slice(file.lastIndexOf("/") + 1)]);
  const pairs = new Map<string, Pair<Item>[]>();
  for (const item of a) {
    const list = pairs.get(key(item)) ?? [];
    list.push({ a: item, b: undefined });
    pairs.set(key(item), list);
  }
  for (const item of b) {
    const list = pairs.get(key(item)) ?? [];
    const free = list.find((pair) => !pair.b && pair.a?.line === item.line) ?? list.find((pair) => !pair.b);
    if (free) free.b = item;
    else list.push({ a: undefined, b: item });
    pairs.set(key(item), list);
  }
  return [...pairs.values()].flat();
}

/** By how much the second is more than the first; infinite where there was nothing. */
export function change(a: number, b: number): number {
  return a === b ? 0 : a === 0 ? Infinity : b / a - 1;
}

export class Compare {
  readonly element: HTMLElement;
  private readonly choices: Record<Side, HTMLSelectElement>;
  private readonly notes: Record<Side, HTMLElement>;
  private readonly result = el("div");
  private answers: Partial<Record<Side, Answer>> = {};
  private askedFor = "";
  private running: AbortController | undefined;

  constructor(
    private trace: Trace,
    private store: Store,
  ) {
    const select = (side: Side) => {
      const box = el("select", { "aria-label": `What side ${side.toUpperCase()} has` });
      box.addEventListener("change", () => store.set({ [side]: box.value }));
      return box;
    };
    this.choices = { a: select("a"), b: select("b") };
    this.notes = { a: el("span", { class: "dim" }), b: el("span", { class: "dim" }) };
    const line = (side: Side) => {
      const name = side.toUpperCase();
      return el("div", { class: "line" }, el("b", {}, name), this.choices[side], button(`Take the selected range`, `Side ${name} is the selected range`, () => this.take(side)), this.notes[side]);
    };
    this.element = el("section", { "aria-label": "Compare" }, SIDES.map(line), this.result);
  }

  private take(side: Side): void {
    const { range } = this.store.state;
    if (range) this.store.set({ [side]: `${Math.round(range[0])}~${Math.round(range[1])}` });
    else this.notes[side].textContent = "No range is selected: drag in the strip above.";
  }

  private showChoices(): void {
    const files = this.trace.summary?.files ?? [];
    for (const side of SIDES) {
      const chosen = this.store.state[side];
      const range = rangeOf(chosen);
      const { clock } = this.trace;
      fill(
        this.choices[side],
        el("option", { value: "" }, "everything"),
        range && el("option", { value: chosen }, `${clock.text(range[0], 6)} and ${duration(range[1] - range[0])} from there`),
        files.length > 1 && files.map(({ path }, at) => el("option", { value: `file:${at}` }, path.slice(path.lastIndexOf("/") + 1))),
      );
      this.choices[side].value = chosen;
    }
  }

  /** Asks for both sides while they are in sight. */
  refresh(): void {
    const { tab, part, a, b } = this.store.state;
    if (tab !== "statistics" || part !== "compare" || !this.trace.isKnown) {
      this.running?.abort();
      this.askedFor = "";
      return;
    }
    this.showChoices();
    const key = JSON.stringify([this.trace.filter, a, b, this.trace.progress?.state === "finished"]);
    if (key === this.askedFor) return;
    this.running?.abort();
    this.running = new AbortController();
    this.askedFor = key;
    this.answers = {};
    fill(this.result);
    for (const side of SIDES) void this.ask(side, this.running.signal);
  }

  private async ask(side: Side, signal: AbortSignal): Promise<void> {
    const { base, filter, whole } = this.trace;
    const chosen = this.store.state[side];
    const [from, to] = rangeOf(chosen) ?? whole;
    const file = /^file:(\d+)$/.exec(chosen)?.[1];
    const what = file === undefined ? { from: base + BigInt(Math.floor(from)), to: base + BigInt(Math.ceil(to) + 1) } : { file };
    try {
      for (;;) {
        const answer = await get<Answer>("stats", { filter, count: ROWS, ...what }, signal);
        const { state, fraction } = answer.progress;
        this.notes[side].textContent = `${count(Number(answer.records))} records in ${duration(seconds(answer) * 1e9)}${state === "finished" ? "" : ` · reading ${fraction === null ? "" : `${Math.floor(fraction * 100)} %`}`}`;
        if (state === "finished") {
          this.answers[side] = answer;
          this.show();
          return;
        }
        await new Promise((resume) => setTimeout(resume, PAUSE_MS));
        signal.throwIfAborted();
      }
    } catch (error) {
      if (isAborted(error)) return;
      this.askedFor = "";
      this.notes[side].textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private show(): void {
    const { a, b } = this.answers;
    if (!a || !b) return;
    type Span = Answer["spans"][number];
    type Place = Answer["sites"][number];
    const rate = (side: Answer, records: number | undefined) => (records ?? 0) / Math.max(1e-9, seconds(side));
    const durations = (title: string, of: (span: Span) => string): GridColumn<Pair<Span>>[] => {
      const value = (span: Span | undefined) => (span ? Number(of(span)) : 0);
      return [
        { title: `${title} A`, isNumber: true, show: (pair) => pair.a && duration(value(pair.a)), key: (pair) => value(pair.a) },
        { title: "B", isNumber: true, show: (pair) => pair.b && duration(value(pair.b)), key: (pair) => value(pair.b) },
        { title: "change", isNumber: true, show: (pair) => pair.a && pair.b && shown(change(value(pair.a), value(pair.b))), key: (pair) => change(value(pair.a), value(pair.b)) },
      ];
    };
    fill(
      this.result,
      el("h2", {}, "Spans"),
      grid("Spans compared", [
        ...named<Span>(),
        { title: "Count A", isNumber: true, show: (pair) => count(pair.a?.count ?? 0), key: (pair) => pair.a?.count ?? 0 },
        { title: "B", isNumber: true, show: (pair) => count(pair.b?.count ?? 0), key: (pair) => pair.b?.count ?? 0 },
        ...durations("50 %", (span) => span.p50),
        ...durations("99 %", (span) => span.p99),
        ...durations("Total", (span) => span.total),
      ], paired<Span>(a.spans, b.spans)),
      el("h2", {}, "Places"),
      grid("Places compared", [
        ...named<Place>(),
        { title: "Records A", isNumber: true, show: (pair) => count(pair.a?.records ?? 0), key: (pair) => pair.a?.records ?? 0 },
        { title: "B", isNumber: true, show: (pair) => count(pair.b?.records ?? 0), key: (pair) => pair.b?.records ?? 0 },
        { title: "Rate A", isNumber: true, show: (pair) => `${shortCount(rate(a, pair.a?.records))}/s`, key: (pair) => rate(a, pair.a?.records) },
        { title: "B", isNumber: true, show: (pair) => `${shortCount(rate(b, pair.b?.records))}/s`, key: (pair) => rate(b, pair.b?.records) },
        { title: "change", isNumber: true, show: (pair) => shown(change(rate(a, pair.a?.records), rate(b, pair.b?.records))), key: (pair) => change(rate(a, pair.a?.records), rate(b, pair.b?.records)) },
        { title: "Bytes A", isNumber: true, show: (pair) => bytes(pair.a?.bytes ?? 0), key: (pair) => pair.a?.bytes ?? 0 },
        { title: "B", isNumber: true, show: (pair) => bytes(pair.b?.bytes ?? 0), key: (pair) => pair.b?.bytes ?? 0 },
      ], paired<Place>(a.sites, b.sites)),
    );
  }
}

function named<Item extends Placed>(): GridColumn<Pair<Item>>[] {
  const of = ({ a, b }: Pair<Item>) => (a ?? b)!;
  return [
    { title: "Name", show: (pair) => of(pair).name, key: (pair) => of(pair).name },
    { title: "Category", show: (pair) => el("span", { class: "dim" }, of(pair).category), key: (pair) => of(pair).category },
  ];
}

function seconds({ begin, end }: Answer): number {
  return begin && end ? Number(BigInt(end) - BigInt(begin)) / 1e9 : 0;
}

function shown(part: number): Child {
  if (!Number.isFinite(part)) return el("span", { class: "warned" }, "new");
  const style = part > NOTABLE ? "bad" : part < -NOTABLE ? "good" : "dim";
  return el("span", { class: style }, `${part > 0 ? "+" : part < 0 ? "−" : ""}${Math.abs(part * 100).toFixed(Math.abs(part) < 0.1 ? 1 : 0)} %`);
}
