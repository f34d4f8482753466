// The panel of one record: what it says, its arguments as a tree, its context, and the spans around and within it.

import { get, isAborted, type Lanes, type Progress, type RecordAnswer, type Row, type Rows, type Value } from "./api.ts";
import { button, el, fill, type Child } from "./dom.ts";
import { and, toggle } from "./filter/line.ts";
import { copy } from "./note.ts";
import { asJson, asText } from "./records/records.ts";
import { withColumn } from "./records/columns.ts";
import type { Store } from "./state.ts";
import { switchOf } from "./switches.ts";
import { LEVELS } from "./theme.ts";
import { count, duration } from "./time.ts";
import { family, toHit, type Hit } from "./timeline/hit.ts";
import { toSpans, type Track } from "./timeline/model.ts";
import { nameOf, type Timeline } from "./timeline/timeline.ts";
import type { Trace } from "./trace.ts";
import { tree } from "./tree.ts";

const MOST_CHILDREN = 50;
/** Records of the same time are searched for one record, so many with each question. */
const SAME_TIME = 500;
/** Questions at most: what a program's clock gives to more records is not told apart. */
const SAME_TIME_QUESTIONS = 200;
const LEAST_WIDTH = 240;
/** Arguments by which records of one flow or operation are tied to one another. */
const TIES = ["flow", "flow_id", "id", "async_id", "link", "follows_from"];
/** Arguments of a link: ids of other records. */
const ENDS = ["from", "to"];
/** Between two questions about records that are being read. */
const READING_MS = 100;

export class Details {
  readonly element: HTMLElement;
  private readonly content: HTMLElement;
  private running = new AbortController();
  private shown: RecordAnswer | undefined;

  constructor(
    private trace: Trace,
    private store: Store,
    private timeline: Timeline,
    private jump: { toTable(row: Row): void; toTimeline(row: Row): void },
  ) {
    this.content = el("div", { class: "content", tabindex: "0" });
    const edge = el("div", { class: "edge", "aria-hidden": "true" });
    this.element = el("aside", { class: "details", "aria-label": "Details", hidden: true }, edge, this.content);
    edge.addEventListener("pointerdown", (event) => {
      edge.setPointerCapture(event.pointerId);
      const move = (now: PointerEvent) => {
        const width = this.element.getBoundingClientRect().right - now.clientX;
        this.element.style.width = `${Math.max(LEAST_WIDTH, Math.min(width, window.innerWidth * 0.7))}px`;
      };
      edge.addEventListener("pointermove", move);
      edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", move), { once: true });
    });
  }

  close(): void {
    this.running.abort();
    this.shown = undefined;
    this.element.hidden = true;
    this.timeline.mark(undefined);
    this.store.set({ record: undefined });
  }

  /** The record of a rectangle: its time, thread and site say which. */
  async pick(hit: Hit): Promise<void> {
    const signal = this.begin();
    const site = this.trace.sites.get(hit.site);
    this.timeline.mark(undefined, hit);
    try {
      const time = this.trace.base + BigInt(Math.round(hit.begin));
      const isOfTrack = (row: Row) => hit.track.kind !== "thread" || row.tid === hit.track.tid;
      const isOfSite = (row: Row) => !site || (row.file === site.file && row.line === site.line && row.kind !== "span_end");
      let nearest: Row | undefined;
      const answer = await this.search(this.trace.filter, time, signal, (row) => {
        if (isOfTrack(row)) nearest ??= row;
        return isOfTrack(row) && isOfSite(row);
      });
      const found = answer.found ?? nearest;
      if (found) await this.load(found.number, signal, hit);
      else this.showRectangle(hit);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The same record under the filter of now, under which it may have another number. */
  async locate(row: Row): Promise<void> {
    const signal = this.begin();
    try {
      const { found } = await this.search(this.trace.filter, BigInt(row.time), signal, (other) => isSame(row, other));
      if (found) await this.load(found.number, signal);
      else this.store.set({ record: undefined });
    } catch (error) {
      this.fail(error);
    }
  }

  async open(number: string): Promise<void> {
    if (this.shown?.row.number === number && !this.element.hidden) return;
    const signal = this.begin();
    try {
      await this.load(number, signal);
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * The first record of a time that is the wanted one, under a filter, and the number of the first record of that time or behind it. `progress` is
   * that of the first answer: a record that it lacks may have been read since.
   */
  private async search(filter: string, time: bigint, signal: AbortSignal, isWanted: (row: Row) => boolean): Promise<{ found: Row | undefined; first: number; progress: Progress }> {
    let { from, rows, progress } = await get<Rows>("records", { filter, at: time, count: SAME_TIME }, signal);
    const first = Number(from);
    for (let asked = 1, behind = first; ; asked++) {
      const same = rows.filter((row) => BigInt(row.time) === time);
      const found = same.find(isWanted);
      behind += rows.length;
      if (found || same.length < SAME_TIME || asked === SAME_TIME_QUESTIONS) return { found, first, progress };
      ({ rows } = await get<Rows>("records", { filter, from: behind, count: SAME_TIME }, signal));
    }
  }

  private begin(): AbortSignal {
    this.running.abort();
    this.running = new AbortController();
    this.element.hidden = false;
    return this.running.signal;
  }

  private fail(error: unknown): void {
    if (isAborted(error)) return;
    fill(this.content, this.head("Details"), el("p", { class: "bad" }, error instanceof Error ? error.message : String(error)));
  }

  private async load(number: string, signal: AbortSignal, hit?: Hit): Promise<void> {
    const record = await get<RecordAnswer>("record", { filter: this.trace.filter, number }, signal);
    this.shown = record;
    this.store.set({ record: number });
    const at = this.trace.clock.relative(BigInt(record.row.time));
    this.timeline.mark(at, hit);
    const family = el("div");
    this.show(record, at, family, hit);
    const track = hit?.track ?? this.timeline.trackOf(record.row.tid, String(record.row.pid));
    if (track) await this.relations(family, track, at, hit, signal);
  }

  private head(title: string): HTMLElement {
    return el("div", { class: "headline" }, el("h2", { class: "grow" }, title), button("✕", "Close the details (Esc)", () => this.close(), "button plain small"));
  }

  private showRectangle(hit: Hit): void {
    const site = this.trace.sites.get(hit.site);
    fill(
      this.content,
      this.head(site ? nameOf(site) : "Details"),
      facts([
        ["begin", this.trace.clock.full(hit.begin)],
        ["duration", hit.duration ? duration(hit.duration) : ""],
        ["records", hit.count > 1 ? `${count(hit.count)} here; zoom in to tell them apart` : ""],
        ["place", site ? `${site.file}:${site.line}` : ""],
      ]),
    );
  }

  private show(record: RecordAnswer, at: number, family: HTMLElement, hit: Hit | undefined): void {
    const { row } = record;
    const { clock } = this.trace;
    const lasted = row.duration !== null ? Number(row.duration) : hit?.duration;
    const options = {
      onFilter: (path: string, value: Value) => this.store.set({ filter: and(this.store.state.filter, path, literal(value)) }),
      onColumn: (path: string) => this.store.set({ columns: withColumn(this.store.state.columns, path), tab: "records" as const }),
    };
    const place = row.file && `${row.file}:${row.line}`;
    const isEnd = (value: Value) => row.kind === "link" && ENDS.includes(value.name);
    const ties = record.arguments.filter((value) => (TIES.includes(value.name) || isEnd(value)) && !value.children);
    const pressed = document.activeElement;
    const title = pressed instanceof HTMLElement && this.content.contains(pressed) ? pressed.title : "";
    fill(
      this.content,
      this.head(`${row.kind.replaceAll("_", " ")} ${count(Number(row.number))}`),
      el("div", { class: "message" }, row.message, row.cut ? " …" : ""),
      el(
        "div",
        { class: "acts" },
        this.store.state.tab === "timeline"
          ? button("In the table", "Show this record in the table (G)", () => this.jump.toTable(row), "button small")
          : button("In the timeline", "Show this record in the timeline (G)", () => this.jump.toTimeline(row), "button small"),
        button("Copy text", "Copy this record as text (C)", () => this.copyText(), "button small"),
        button("Copy JSON", "Copy this record as JSON", () => this.copyJson(), "button small"),
        this.trace.summary?.can.includes("switches") && switchOf(row),
      ),
      facts([
        ["time", `${clock.full(at)}`],
        ["since begin", duration(at)],
        ["duration", lasted ? duration(lasted) : ""],
        ["level", el("span", { class: `l${row.level}` }, LEVELS[row.level] ?? "")],
        ["process", `${row.process} ${row.pid}`],
        ["thread", `${row.thread} ${row.tid}`],
        ["category", row.category && link(row.category, "Only this category, or all again", () => this.toggle("-c", row.category.replaceAll("=", "?")))],
        ["function", row.function],
        ["place", place && link(place, "Only this place, or all again", () => this.toggle("--file", place))],
        ["template", record.template && record.template !== row.message ? el("span", { class: "mono" }, record.template) : ""],
        ["", record.truncated ? el("span", { class: "warned" }, "the program cut an argument") : ""],
        ["", row.backtrace ? "held back until something happened that it explains" : ""],
      ]),
      section("Arguments", record.arguments.length ? tree(record.arguments, options) : null),
      section("Context", record.fields.length ? tree(record.fields, options) : null),
      record.nodes_left_out ? el("p", { class: "dim" }, `${count(record.nodes_left_out)} more values are not shown`) : null,
      section(
        "Linked",
        ties.length
          ? ties.map((value) => this.tie(isEnd(value) ? "id" : value.name, value))
          : null,
      ),
      family,
    );
    // The same button of the record that is shown now, in the same moment as the record: pressing it again goes on.
    if (title) [...this.content.querySelectorAll<HTMLElement>("button")].find((one) => one.title === title)?.focus();
  }

  /** Records with the same value: all of them, and the steps to the one before and to the next. */
  private tie(path: string, value: Value): HTMLElement {
    const note = el("span", { class: "dim", role: "status" });
    const step = (text: string, by: 1 | -1) => button(text, stepLabel(path, value, by), () => void this.toTied(path, value, by, note), "button small needs-server");
    const all = link(`all with ${equation(path, value)}`, "Show the records that have the same", () => this.store.set({ filter: and(this.store.state.filter, path, literal(value)) }));
    return el("div", { class: "tie" }, all, step("‹", -1), step("›", 1), note);
  }

  /** The record before or behind the shown one that has this value, of those that the filter selects. */
  private async toTied(path: string, value: Value, by: 1 | -1, note: HTMLElement): Promise<void> {
    const { row } = this.shown!;
    const filter = and(this.trace.filter, path, literal(value));
    const signal = this.begin();
    try {
      for (;;) {
        const { found: own, first, progress } = await this.search(filter, BigInt(row.time), signal, (other) => isSame(row, other));
        // A link has no such value itself: what is next comes at its time or behind it.
        const number = own ? Number(own.number) + by : by > 0 ? first : first - 1;
        const isKnown = progress.state !== "reading" || (own && by < 0);
        const found = number < 0 ? undefined : (await get<Rows>("records", { filter, from: number, count: 1 }, signal)).rows[0];
        if (found && (isKnown || own)) {
          if (this.store.state.tab === "timeline") {
            this.timeline.reveal(this.trace.clock.relative(BigInt(found.time)), this.timeline.trackOf(found.tid, String(found.pid)));
          }
          await this.locate(found);
          return;
        }
        if (isKnown) {
          note.textContent = by > 0 ? "this is the last" : "this is the first";
          return;
        }
        note.textContent = `reading: ${count(Number(progress.records))} so far`;
        await new Promise((resume) => setTimeout(resume, READING_MS));
        signal.throwIfAborted();
      }
    } catch (error) {
      this.fail(error);
    }
  }

  private toggle(name: string, value: string): void {
    this.store.set({ filter: toggle(this.store.state.filter, name, value) });
  }

  /** Spans around the record and, if it is a span, within it. */
  private async relations(place: HTMLElement, track: Track, at: number, hit: Hit | undefined, signal: AbortSignal): Promise<void> {
    const ask = async (from: number, to: number) => {
      const { base, filter } = this.trace;
      const answer = await get<Lanes>("lanes", { filter, from: base + BigInt(Math.round(from)), to: base + BigInt(Math.round(to)), width: 2000, tracks: track.id }, signal);
      const lane = answer.tracks[0];
      return lane && !lane.points ? toSpans(lane.rows, lane.instants, Number(BigInt(answer.from) - base)) : undefined;
    };
    let self: Hit | undefined = hit;
    const isSpan = this.shown?.row.kind === "span" || this.shown?.row.kind === "async_begin";
    if (!self || isSpan) {
      const now = await ask(at, at + 1);
      if (!now) return;
      for (let index = 0; isSpan && index < now.length; index++) {
        if (now.begin[index] === at && now.duration[index]! > 0) self = toHit(track, now, index);
      }
      self ??= { track, index: -1, begin: at, duration: 0, row: 0, site: -1, count: 1, level: 0, marks: 0 };
    }
    const spans = await ask(self.begin, self.begin + Math.max(1, self.duration));
    if (!spans) return;
    const { around, within } = family(track, spans, self, MOST_CHILDREN);
    const one = (other: Hit) => {
      const site = this.trace.sites.get(other.site);
      const name = site ? nameOf(site) : "span";
      return el("div", { class: "relative" }, link(name, `Show ${name}`, () => this.follow(other)), el("span", { class: "dim number" }, other.count > 1 ? `${count(other.count)} × ` : "", duration(other.duration)));
    };
    fill(place, section("Spans around", around.length ? around.map(one) : null), section("Spans within", within.length ? within.map(one) : null));
  }

  private follow(hit: Hit): void {
    if (this.store.state.tab === "timeline") this.timeline.reveal(hit.begin, hit.track);
    void this.pick(hit);
  }

  get row(): Row | undefined {
    return this.element.hidden ? undefined : this.shown?.row;
  }

  copyText(): void {
    if (this.shown) void copy(asText(this.shown.row, this.trace), "record");
  }

  private copyJson(): void {
    if (this.shown) void copy(JSON.stringify(asJson(this.shown), null, 2), "record");
  }
}

function isSame(one: Row, other: Row): boolean {
  return one.time === other.time && one.tid === other.tid && one.pid === other.pid && one.kind === other.kind && one.file === other.file && one.line === other.line && one.message === other.message;
}

/** As a filter writes it: numbers without quotes, if no bit is lost. */
function literal(value: Value): string | number {
  const number = Number(value.value ?? NaN);
  const isExact = value.kind === "float" ? Number.isFinite(number) : ["int", "uint"].includes(value.kind) && Number.isSafeInteger(number);
  return isExact ? number : value.text;
}

function equation(path: string, value: Value): string {
  return `${path} = ${value.text.slice(0, 100)}`;
}

function stepLabel(path: string, value: Value, by: 1 | -1): string {
  return `${by > 0 ? "Next" : "Previous"} record with ${equation(path, value)}`;
}

function link(text: string, label: string, press: () => void): HTMLElement {
  return button(text, label, press, "button link");
}

function section(title: string, content: Child): HTMLElement | null {
  return content ? el("section", {}, el("h2", {}, title), content) : null;
}

function facts(list: [string, Child][]): HTMLElement {
  return el("dl", { class: "facts-list" }, list.filter(([, value]) => value).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}
