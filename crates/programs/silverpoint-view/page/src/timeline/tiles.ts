// What the server says about the visible part of the tracks. While an answer is under way, the one before is drawn.

import { get, isAborted, type Lanes } from "../api.ts";
import type { Range } from "../state.ts";
import type { Trace } from "../trace.ts";
import { toPoints, toSpans, UNREAD, type Points, type Spans, type Track } from "./model.ts";

/** Tracks of one question, as the interface allows. */
const MOST_TRACKS = 200;
const MOST_PIXELS = 8192;
/** So much beside the view is asked for, as a share of it: the next moves need no answer. */
const MARGIN = 0.5;
/** Details that are being read are asked for again after this. */
const REFINE_MS = 80;
/** A view that has not moved for so long gets what is new. */
const REST_MS = 80;
/** While records are being read there is always something new: from a question to the next. */
const READING_MS = 400;
/** A view that moves gets what is new no later than this after the question before. */
const MOVING_MS = 1000;
/** The version of a tile whose details are to be asked for again. */
const COARSE = -1;

interface Tile {
  range: Range;
  perPixel: number;
  version: number;
  /** While more is being read this stays as it is. */
  isKnown: boolean;
  filter: string;
  spans: Spans | undefined;
  points: Points | undefined;
  /** From then on nothing is known yet. */
  unreadFrom: number | undefined;
  /** There is something that has not been read. */
  hasUnread: boolean;
  /** When it was asked for. */
  asked: number;
}

/** A question under way. */
interface Running {
  abort: AbortController;
  /** Without its answer the picture lacks nothing but what is new. */
  isForNews: boolean;
}

export class Tiles {
  private tiles = new Map<number, Tile>();
  private running: Running | undefined;
  private view: Range = [0, 0];
  private moved = 0;
  private timer = 0;
  /** Rectangles that begin within so many nanoseconds may be one; 0: within a pixel. */
  mergedNs = 0;
  /** Records were read for the picture alone: what began before it is not known. */
  isAhead = false;
  /** More detail comes. */
  isRefining = false;
  isLoading = false;

  constructor(
    private trace: Trace,
    private changed: () => void,
  ) {}

  spans(id: number): Spans | undefined {
    return this.tiles.get(id)?.spans;
  }

  points(id: number): Points | undefined {
    return this.tiles.get(id)?.points;
  }

  unreadFrom(id: number): number | undefined {
    return this.tiles.get(id)?.unreadFrom;
  }

  /** Whether something of a track in a range has not been read. */
  isUnread(id: number, [from, to]: Range): boolean {
    const tile = this.tiles.get(id);
    if (!tile?.hasUnread) return false;
    const { spans, unreadFrom = Infinity } = tile;
    return unreadFrom < to || (spans?.marks.some((marks, at) => (marks & UNREAD) !== 0 && spans.begin[at]! < to && spans.begin[at]! + spans.duration[at]! >= from) ?? false);
  }

  /** Track numbers belong to a filter. */
  clear(): void {
    this.stop();
    this.tiles.clear();
  }

  private stop(): void {
    this.running?.abort.abort();
    this.running = undefined;
    this.isLoading = false;
  }

  /** Asks for what these tracks lack in a view. What is new is of less haste than what the view has moved to. */
  want(tracks: readonly Track[], view: Range, pixels: number): void {
    if (!this.trace.isKnown) return;
    const now = performance.now();
    if (view[0] !== this.view[0] || view[1] !== this.view[1]) [this.view, this.moved] = [view, now];
    const perPixel = (view[1] - view[0]) / Math.max(1, pixels);
    const shown = tracks.filter(({ id }) => id >= 0);
    const isForNews = shown.every(({ id }) => this.fits(id, view, perPixel));
    if (this.running?.isForNews && !isForNews) this.stop();
    if (this.running) return;
    const lacking = shown.filter(({ id }) => !this.isNew(id) || !(isForNews || this.fits(id, view, perPixel))).slice(0, MOST_TRACKS);
    if (!lacking.length) return;
    const wait = isForNews ? this.newsDue(lacking) - now : 0;
    clearTimeout(this.timer);
    if (wait > 0) this.timer = window.setTimeout(this.changed, wait);
    else void this.ask(lacking, view, pixels, isForNews);
  }

  /** When what is new is to be asked for. */
  private newsDue(tracks: readonly Track[]): number {
    const tiles = tracks.map(({ id }) => this.tiles.get(id)!);
    const state = this.trace.progress?.state;
    const isRefined = tiles.some(({ version }) => version === COARSE);
    if (!isRefined && state === "finished") return 0;
    const asked = Math.min(...tiles.map(({ asked }) => asked));
    const pause = !isRefined && state === "reading" ? READING_MS : 0;
    return Math.min(Math.max(this.moved + REST_MS, asked + pause), asked + MOVING_MS);
  }

  private isNew(id: number): boolean {
    const tile = this.tiles.get(id);
    const { version, progress } = this.trace;
    return tile !== undefined && (tile.version === version || (tile.isKnown && progress?.state === "reading"));
  }

  /** Whether what is known of a track covers a view, and finely enough. */
  private fits(id: number, view: Range, perPixel: number): boolean {
    const tile = this.tiles.get(id);
    const { whole, filter } = this.trace;
    return (
      tile !== undefined &&
      tile.filter === filter &&
      tile.range[0] <= Math.max(view[0], whole[0]) &&
      tile.range[1] >= Math.min(view[1], whole[1]) &&
      tile.perPixel <= perPixel * 1.3 &&
      tile.perPixel >= perPixel / 4
    );
  }

  private askAgain(tiles: readonly Tile[]): void {
    setTimeout(() => {
      // Those that have been replaced since are in nobody's way.
      for (const tile of tiles) [tile.version, tile.isKnown] = [COARSE, false];
      this.changed();
    }, REFINE_MS);
  }

  private async ask(tracks: readonly Track[], view: Range, pixels: number, isForNews: boolean): Promise<void> {
    const running = (this.running = { abort: new AbortController(), isForNews });
    const asked = performance.now();
    const { base, version, filter } = this.trace;
    const margin = (view[1] - view[0]) * MARGIN;
    const range: Range = [Math.floor(view[0] - margin), Math.ceil(view[1] + margin)];
    if (range[1] <= range[0]) range[1] = range[0] + 1;
    const width = Math.min(MOST_PIXELS, Math.max(1, Math.round(pixels * (1 + 2 * MARGIN))));
    this.isLoading = true;
    try {
      const answer = await get<Lanes>(
        "lanes",
        { filter, from: base + BigInt(range[0]), to: base + BigInt(range[1]), width, refine: 1, tracks: tracks.map(({ id }) => id).join(",") },
        running.abort.signal,
      );
      const shift = Number(BigInt(answer.from) - base);
      this.mergedNs = Number(answer.merged_ns);
      this.isAhead = answer.ahead;
      this.isRefining = answer.refining;
      const perPixel = Math.max(Number(answer.pixel_ns), (range[1] - range[0]) / width);
      const empty: Tile = { range, perPixel, version, isKnown: answer.known, filter, spans: undefined, points: undefined, unreadFrom: undefined, hasUnread: false, asked };
      for (const { id } of tracks) this.tiles.set(id, empty);
      for (const track of answer.tracks) {
        this.tiles.set(track.id, {
          ...empty,
          spans: track.points ? undefined : toSpans(track.rows, track.instants, shift),
          points: track.points ? toPoints(track.points, shift) : undefined,
          unreadFrom: track.unread_from === null ? undefined : track.unread_from + shift,
          hasUnread: track.unread_from !== null || (track.instants?.marks.some((marks) => marks & UNREAD) ?? false),
        });
      }
      if (answer.refining) this.askAgain(tracks.map(({ id }) => this.tiles.get(id)!));
    } catch (error) {
      if (isAborted(error)) return;
      // Asked again with the next change of the view or of the trace, not before.
      for (const { id } of tracks) {
        const tile = this.tiles.get(id);
        this.tiles.set(id, { range, perPixel: (range[1] - range[0]) / width, version, isKnown: false, filter, spans: tile?.spans, points: tile?.points, unreadFrom: tile?.unreadFrom, hasUnread: tile?.hasUnread ?? false, asked });
      }
    } finally {
      if (this.running === running) {
        this.running = undefined;
        this.isLoading = false;
        this.changed();
      }
    }
  }
}
