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
}

export class Tiles {
  private tiles = new Map<number, Tile>();
  private running: AbortController | undefined;
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
    this.running?.abort();
    this.running = undefined;
    this.tiles.clear();
  }

  /** Asks for what these tracks lack in a view. */
  want(tracks: readonly Track[], view: Range, pixels: number): void {
    if (this.running || !this.trace.isKnown) return;
    const perPixel = (view[1] - view[0]) / Math.max(1, pixels);
    const lacking = tracks.filter(({ id }) => id >= 0 && !this.isGood(id, view, perPixel)).slice(0, MOST_TRACKS);
    if (lacking.length) void this.ask(lacking, view, pixels);
  }

  private isGood(id: number, view: Range, perPixel: number): boolean {
    const tile = this.tiles.get(id);
    const { whole, version, filter, progress } = this.trace;
    return (
      tile !== undefined &&
      tile.filter === filter &&
      (tile.version === version || (tile.isKnown && progress?.state === "reading")) &&
      tile.range[0] <= Math.max(view[0], whole[0]) &&
      tile.range[1] >= Math.min(view[1], whole[1]) &&
      tile.perPixel <= perPixel * 1.3 &&
      tile.perPixel >= perPixel / 4
    );
  }

  private askAgain(tiles: readonly Tile[]): void {
    setTimeout(() => {
      // Those that have been replaced since are in nobody's way.
      for (const tile of tiles) [tile.version, tile.isKnown] = [-1, false];
      this.changed();
    }, REFINE_MS);
  }

  private async ask(tracks: readonly Track[], view: Range, pixels: number): Promise<void> {
    const running = (this.running = new AbortController());
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
        running.signal,
      );
      const shift = Number(BigInt(answer.from) - base);
      this.mergedNs = Number(answer.merged_ns);
      this.isAhead = answer.ahead;
      this.isRefining = answer.refining;
      const perPixel = Math.max(Number(answer.pixel_ns), (range[1] - range[0]) / width);
      const empty: Tile = { range, perPixel, version, isKnown: answer.known, filter, spans: undefined, points: undefined, unreadFrom: undefined, hasUnread: false };
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
        this.tiles.set(id, { range, perPixel: (range[1] - range[0]) / width, version, isKnown: false, filter, spans: tile?.spans, points: tile?.points, unreadFrom: tile?.unreadFrom, hasUnread: tile?.hasUnread ?? false });
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
