// The timeline: puts tracks, answers, gestures and drawing together.

import type { Site, TrackAnswer } from "../api.ts";
import { el, fill, oncePerFrame, save, sharpen } from "../dom.ts";
import type { Range, Store } from "../state.ts";
import { LEVELS, onTheme } from "../theme.ts";
import { count, duration } from "../time.ts";
import type { Trace } from "../trace.ts";
import { draw } from "./draw.ts";
import { holdKeys, listen, type Surface } from "./gestures.ts";
import { hit, placeAt, toHit, type Hit } from "./hit.ts";
import { lay, NAMES, SCALE, type Layout } from "./layout.ts";
import { LOSS, OPEN, STALL, UNREAD, withProcesses, type Spans, type Track } from "./model.ts";
import { Scale } from "./scale.ts";
import { Tiles } from "./tiles.ts";

export interface TimelineEvents {
  /** A rectangle was clicked, or nothing. */
  pick(hit: Hit | undefined): void;
  status(text: string): void;
}

export class Timeline implements Surface {
  readonly element: HTMLElement;
  /** Says what the picture does not show. */
  readonly about = el("span", { class: "dim", role: "status" });
  private readonly canvas: HTMLCanvasElement;
  private readonly tip: HTMLElement;
  private tracks: Track[] = [];
  private layout: Layout = { placed: [], height: 0 };
  private readonly tiles: Tiles;
  private scroll = 0;
  private mouse: [number, number] | undefined;
  private hovered: Hit | undefined;
  /** While a range is being selected: what was selected before. */
  private rangeBefore: { range: Range | undefined } | undefined;
  private selected: Hit | undefined;
  /** The time of the record whose details are shown. */
  private at: number | undefined;
  private found: ReadonlySet<number> | undefined;
  private tilesFilter: string | undefined;
  /** Tracks that lack the words in question. */
  private hidden = 0;
  readonly redraw = oncePerFrame(() => this.draw());

  constructor(
    private trace: Trace,
    private store: Store,
    private events: TimelineEvents,
  ) {
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "img",
      "aria-label": "Timeline of threads, spans and counters. The tab Records has the same as a table.",
    });
    this.tip = el("div", { class: "tip", hidden: true });
    this.element = el("div", { class: "timeline" }, this.canvas, this.tip);
    this.tiles = new Tiles(trace, this.redraw);
    listen(this.canvas, this);
    holdKeys(() => store.state.tab === "timeline", this, () => this.mouse?.[0] ?? this.scale().left + this.scale().width / 2, () => this.scale().width);
    new ResizeObserver(this.redraw).observe(this.canvas);
    onTheme(this.redraw);
    trace.onChange(() => this.refresh());
    store.onChange((_, changed) => {
      if (changed.has("folded")) this.relay();
      if (changed.has("tracks")) this.retrack();
      // The answer may be there before the next frame.
      if (changed.has("view") && this.canvas.clientWidth) this.want(this.canvas.clientHeight);
      this.redraw();
    });
  }

  get view(): Range {
    return this.store.state.view ?? this.trace.whole;
  }

  /** Tracks and records have come, or another filter holds. */
  private refresh(): void {
    if (this.tilesFilter !== this.trace.filter) {
      this.tilesFilter = this.trace.filter;
      this.tiles.clear();
    }
    this.retrack();
  }

  /** Shows the tracks that have the words in question. */
  private retrack(): void {
    const words = this.store.state.tracks.toLowerCase().split(/\s+/).filter(Boolean);
    const has = ({ process, pid, name, tid, kind }: TrackAnswer) => {
      const text = `${process} ${pid} ${name} ${tid} ${kind}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const wanted = words.length ? this.trace.tracks.filter(has) : this.trace.tracks;
    this.hidden = this.trace.tracks.length - wanted.length;
    this.tracks = withProcesses(wanted);
    this.relay();
    this.redraw();
  }

  private relay(): void {
    this.layout = lay(this.tracks, this.store.state.folded);
  }

  private scale(): Scale {
    const width = Math.max(50, this.canvas.clientWidth - NAMES);
    return new Scale(this.view, NAMES, width);
  }

  private draw(): void {
    if (!this.canvas.clientWidth || !this.trace.isKnown) return;
    const { height, context } = sharpen(this.canvas);
    this.limitScroll(height);
    const scale = this.scale();
    this.want(height);
    const { mouse, selected } = this;
    // Other rectangles may be under the mouse than those of the answer before.
    const hovered = (this.hovered = mouse && this.hitAt(...mouse));
    draw(context, {
      scale,
      layout: this.layout,
      scroll: this.scroll,
      clock: this.trace.clock,
      height,
      spans: (id) => this.tiles.spans(id),
      points: (id) => this.tiles.points(id),
      unreadFrom: (id) => this.tiles.unreadFrom(id),
      label: (site) => this.label(site),
      found: this.found,
      range: this.store.state.range,
      hover: mouse && { x: mouse[0], y: mouse[1], key: hovered?.track.key ?? "", index: hovered?.index ?? -1 },
      at: this.at,
      selected: selected && { key: selected.track.key, begin: selected.begin, row: selected.row },
      whole: this.trace.whole,
    });
    this.canvas.dataset["drawn"] = this.tiles.isLoading ? "waiting" : "complete";
    this.canvas.dataset["detail"] = this.tiles.isRefining ? "coming" : this.tiles.mergedNs > 0 ? "coarse" : "full";
    const about = this.describePicture();
    if (this.about.textContent !== about) this.about.textContent = about;
  }

  /** What the picture does not show. */
  private describePicture(): string {
    const { mergedNs, isAhead, isRefining } = this.tiles;
    const isUnread = this.layout.placed.some(({ track }) => this.tiles.isUnread(track.id, this.view));
    const lines = [
      this.hidden > 0 && `${count(this.hidden)} tracks hidden`,
      isAhead && !isRefining && "read ahead: what began before this may be missing",
      isRefining && "reading the details …",
      isUnread && "grey: not read yet",
      !isRefining && mergedNs > 0 && `steps of ${duration(mergedNs)}: zoom in for more`,
    ];
    return lines.filter(Boolean).join(" · ");
  }

  /** Asks for what is in sight. */
  private want(height: number): void {
    const seen = this.layout.placed.filter(({ top, height: high }) => top + high >= this.scroll && top <= this.scroll + height);
    this.tiles.want(seen.map(({ track }) => track), this.view, this.scale().width);
  }

  private limitScroll(height: number): void {
    this.scroll = Math.max(0, Math.min(this.scroll, this.layout.height - (height - SCALE)));
  }

  label(number: number): string {
    const site = this.trace.sites.get(number);
    return site ? nameOf(site) : "";
  }

  spansOf(track: Track): Spans | undefined {
    return this.tiles.spans(track.id);
  }

  trackOf(tid: number, pid: string): Track | undefined {
    return this.tracks.find((track) => track.kind === "thread" && track.tid === tid && track.parent?.startsWith(`p${pid}-`));
  }

  /** Sites that the search has found. */
  highlight(found: ReadonlySet<number> | undefined): void {
    this.found = found;
    this.redraw();
  }

  /** Marks what the details show. */
  mark(at: number | undefined, selected?: Hit): void {
    this.at = at;
    this.selected = selected;
    this.redraw();
  }

  /** Moves the view so that a time is in sight, and its track too. */
  reveal(at: number, track?: Track): void {
    const [from, to] = this.view;
    if (at < from || at > to) {
      const length = to - from;
      this.setView(this.scale().kept([at - length / 2, at + length / 2], this.trace.whole));
    }
    const placed = track && this.layout.placed.find((one) => one.track.key === track.key);
    if (placed) {
      const height = this.canvas.clientHeight - SCALE;
      if (placed.top < this.scroll || placed.top + placed.height > this.scroll + height) this.scroll = Math.max(0, placed.top - height / 3);
    }
    this.redraw();
  }

  /** The next rectangle of the row that is selected, or the one before; without a selection the first in sight. */
  step(by: 1 | -1): void {
    const next = this.selected ? this.beside(this.selected, by) : this.firstInSight();
    if (!next) return this.events.status(this.selected ? "nothing more of this row in sight" : "nothing in sight");
    this.reveal(next.begin, next.track);
    this.events.pick(next);
  }

  private beside({ track, row, begin }: Hit, by: 1 | -1): Hit | undefined {
    const spans = this.tiles.spans(track.id);
    let best: number | undefined;
    for (let at = 0; spans && at < spans.length; at++) {
      const away = (spans.begin[at]! - begin) * by;
      if (spans.row[at] !== row || away <= 0 || spans.marks[at]! & UNREAD) continue;
      if (best === undefined || away < (spans.begin[best]! - begin) * by) best = at;
    }
    return spans && best !== undefined ? toHit(track, spans, best) : undefined;
  }

  private firstInSight(): Hit | undefined {
    const [from, to] = this.view;
    for (const { track, top, height } of this.layout.placed) {
      const spans = top + height > this.scroll ? this.tiles.spans(track.id) : undefined;
      // The first row of a thread has its records: spans are more to the point.
      const least = track.kind === "thread" && track.rows > 1 ? 1 : 0;
      for (let at = 0; spans && at < spans.length; at++) {
        if (spans.row[at]! >= least && spans.begin[at]! >= from && spans.begin[at]! < to && !(spans.marks[at]! & UNREAD)) return toHit(track, spans, at);
      }
    }
    return undefined;
  }

  /** Shows the selected range, or else the span whose details are shown. */
  fit(): void {
    const { range } = this.store.state;
    const { selected } = this;
    if (range) this.show(range);
    else if (selected && selected.duration > 0) this.show([selected.begin, selected.begin + selected.duration]);
  }

  /** Shows a range with some room beside it. */
  show([from, to]: Range): void {
    const room = Math.max(10, (to - from) * 0.05);
    this.setView([from - room, to + room]);
  }

  private setView(view: Range): void {
    this.store.set({ view });
  }

  png(): void {
    this.canvas.toBlob((blob) => blob && save(blob, `${this.trace.summary?.title ?? "trace"}.png`));
  }

  // Gestures.

  zoom(factor: number, x: number): void {
    this.setView(this.scale().zoomed(factor, x, this.trace.whole));
  }

  pan(dx: number, dy: number): void {
    if (dy) {
      this.scroll += dy;
      this.limitScroll(this.canvas.clientHeight);
    }
    if (dx) this.setView(this.scale().panned(dx, this.trace.whole));
    this.redraw();
  }

  part(x: number, y: number): "names" | "scale" | "tracks" {
    return x < NAMES ? "names" : y < SCALE ? "scale" : "tracks";
  }

  click(x: number, y: number): void {
    this.canvas.focus({ preventScroll: true });
    const placed = placeAt(this.layout, this.scroll, y);
    if (placed?.track.kind === "process") {
      const folded = new Set(this.store.state.folded);
      if (!folded.delete(placed.track.key)) folded.add(placed.track.key);
      this.store.set({ folded });
      return;
    }
    const found = this.hitAt(x, y);
    if (!found && y < SCALE) this.store.set({ range: undefined });
    // There is no record to be shown yet, but the server reads what is in sight.
    if (found && found.marks & UNREAD) {
      this.show([found.begin, found.begin + found.duration]);
      return;
    }
    this.events.pick(found);
  }

  doubleClick(x: number, y: number): void {
    const found = this.hitAt(x, y);
    if (found && found.duration > 0) this.show([found.begin, found.begin + found.duration]);
  }

  hover(x: number, y: number): void {
    this.mouse = [x, y];
    this.hovered = this.hitAt(x, y);
    this.canvas.style.cursor = this.hovered ? "pointer" : "";
    this.showTip(x, y);
    this.events.status(x > NAMES ? this.trace.clock.full(this.scale().time(x)) : "");
    this.redraw();
  }

  leave(): void {
    this.mouse = undefined;
    this.hovered = undefined;
    this.tip.hidden = true;
    this.events.status("");
    this.redraw();
  }

  select(from: number, to: number, done: boolean): void {
    const scale = this.scale();
    const clamp = (x: number) => scale.time(Math.max(scale.left, Math.min(scale.left + scale.width, x)));
    const range: Range = [clamp(Math.min(from, to)), clamp(Math.max(from, to))];
    this.rangeBefore ??= { range: this.store.state.range };
    this.store.set({ range });
    if (!done) return;
    this.rangeBefore = undefined;
    this.events.status(`${duration(range[1] - range[0])} selected`);
  }

  unselect(): void {
    if (this.rangeBefore) this.store.set(this.rangeBefore);
    this.rangeBefore = undefined;
  }

  private hitAt(x: number, y: number): Hit | undefined {
    if (x < NAMES) return undefined;
    const placed = placeAt(this.layout, this.scroll, y);
    const spans = placed && this.tiles.spans(placed.track.id);
    return spans && hit(placed, spans, this.scale(), this.scroll, x, y);
  }

  private showTip(x: number, y: number): void {
    const { hovered } = this;
    const lines = hovered ? this.describe(hovered) : this.describePoint(x, y);
    this.tip.hidden = !lines;
    if (!lines) return;
    fill(this.tip, lines.map((line, at) => el("div", { class: at ? "dim" : "" }, line)));
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    this.tip.style.left = `${Math.max(4, Math.min(x + 14, width - this.tip.offsetWidth - 8))}px`;
    this.tip.style.top = `${y + 18 + this.tip.offsetHeight > height ? y - this.tip.offsetHeight - 8 : y + 16}px`;
  }

  private describe(found: Hit): string[] {
    if (found.marks & UNREAD) return [`about ${count(found.count)} records, not read yet`, `up to ${LEVELS[found.level]}; zoom in to see them`];
    const site = this.trace.sites.get(found.site);
    const lines = [site ? nameOf(site).slice(0, 200) : found.marks & LOSS ? "records were lost here" : found.marks & STALL ? "waited for room in the ring" : "record"];
    if (found.duration > 0) lines.push(duration(found.duration) + (found.marks & OPEN ? ", still open" : ""));
    if (found.count > 1) lines.push(`${count(found.count)} here; zoom in to tell them apart`);
    if (site?.file) lines.push(`${site.file}:${site.line}`);
    return lines;
  }

  private describePoint(x: number, y: number): string[] | undefined {
    const placed = placeAt(this.layout, this.scroll, y);
    const points = placed && x > NAMES ? this.tiles.points(placed.track.id) : undefined;
    const at = this.scale().time(x);
    if (placed && x > NAMES && at > (this.tiles.unreadFrom(placed.track.id) ?? Infinity)) return ["not read yet"];
    if (!placed || !points) return undefined;
    let found = -1;
    for (let index = 0; index < points.length && points.at[index]! <= at; index++) found = index;
    return found < 0 ? undefined : [`${placed.track.name} = ${points.last[found]!.toLocaleString("en-GB")}`];
  }
}

export function nameOf(site: Site): string {
  return site.name || site.function || `${site.file}:${site.line}`;
}
