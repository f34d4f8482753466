// Where each track stands: from top to bottom, in pixels before scrolling.

import type { Track } from "./model.ts";

export const ROW = 18;
const PROCESS_HEIGHT = 24;
const PAD = 2;
const COUNTER_HEIGHT = 44;
const GAP = 3;
/** Height of the ruler. */
export const SCALE = 26;
/** Width of the names. */
export const NAMES = 200;

export interface Placed {
  track: Track;
  top: number;
  height: number;
  /** Where its first row of spans begins. */
  rowsTop: number;
  isFolded: boolean;
}

export interface Layout {
  placed: Placed[];
  height: number;
}

export function lay(tracks: readonly Track[], folded: ReadonlySet<string>): Layout {
  const placed: Placed[] = [];
  let top = 0;
  for (const track of tracks) {
    if (track.parent !== undefined && folded.has(track.parent)) continue;
    const isProcess = track.kind === "process";
    const height = isProcess ? PROCESS_HEIGHT : track.kind === "counter" ? COUNTER_HEIGHT : track.rows * ROW + 2 * PAD;
    placed.push({ track, top, height, rowsTop: top + PAD, isFolded: isProcess && folded.has(track.key) });
    top += height + (track.kind === "process" ? 0 : GAP);
  }
  return { placed, height: top + 40 };
}

/** The track at a height, by bisection. */
export function trackAt(layout: Layout, y: number): Placed | undefined {
  let [low, high] = [0, layout.placed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.placed[middle]!.top <= y) low = middle + 1;
    else high = middle;
  }
  const found = layout.placed[low - 1];
  return found && y < found.top + found.height ? found : undefined;
}
