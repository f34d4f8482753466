// What the server says about the visible part of the tracks. While an answer is under way, the one before is drawn.

import { get, isAborted, type Lanes } from "../api.ts";
import type { Range } from "../state.ts";
import type { Trace } from "../trace.ts";
import { toPoints, toSpans, type Points, type Spans, type Track } from "./model.ts";

/** Tracks of one question, as the interface allows. */
const MOST_TRACKS = 200;
const MOST_PIXELS = 8192;
/** So much beside the view is asked for, as a share of it: the next moves need no answer. */
const MARGIN = 0.5;

interface Tile {
  range: Range;
  perPixel: number;
  version: number;
  filter: string;
  spans: Spans | undefined;
  points: Points | undefined;
}

export class Tiles {
  private tiles = new Map<number, Tile>();
  private running: AbortController | undefined;
  /** Rectangles that begin within so many nanoseconds may be one. */
  mergedNs = 0;
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
    const { whole, version, filter } = this.trace;
    return (
      tile !== undefined &&
      tile.filter === filter &&
      tile.version === version &&
      tile.range[0] <= Math.max(view[0], whole[0]) &&
      tile.range[1] >= Math.min(view[1], whole[1]) &&
      tile.perPixel <= perPixel * 1.3 &&
      tile.perPixel >= perPixel / 4
    );
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
        { filter, from: base + BigInt(range[0]), to: base + BigInt(range[1]), width, tracks: tracks.map(({ id }) => id).join(",") },
        running.signal,
      );
      const shift = Number(BigInt(answer.from) - base);
      this.mergedNs = Number(answer.merged_ns);
      const perPixel = Math.max(Number(answer.pixel_ns), (range[1] - range[0]) / width);
      const empty: Tile = { range, perPixel, version, filter, spans: undefined, points: undefined };
      for (const { id } of tracks) this.tiles.set(id, empty);
      for (const track of answer.tracks) {
        this.tiles.set(track.id, {
          ...empty,
          spans: track.points ? undefined : toSpans(track.rows, track.instants, shift),
          points: track.points ? toPoints(track.points, shift) : undefined,
        });
      }
    } catch (error) {
      if (isAborted(error)) return;
      // Asked again with the next change of the view or of the trace, not before.
      for (const { id } of tracks) {
        const tile = this.tiles.get(id);
        this.tiles.set(id, { range, perPixel: (range[1] - range[0]) / width, version, filter, spans: tile?.spans, points: tile?.points });
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
