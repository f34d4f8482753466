// Which rectangle is at a place of the picture.

import { ROW, SCALE, type Layout, type Placed, trackAt } from "./layout.ts";
import type { Spans, Track } from "./model.ts";
import type { Scale } from "./scale.ts";

export interface Hit {
  track: Track;
  index: number;
  begin: number;
  duration: number;
  row: number;
  site: number;
  count: number;
  level: number;
  marks: number;
}

/** So near to a thin rectangle is on it. */
const NEAR_PIXELS = 4;

export function placeAt(layout: Layout, scroll: number, y: number): Placed | undefined {
  return y < SCALE ? undefined : trackAt(layout, y - SCALE + scroll);
}

export function hit(placed: Placed, spans: Spans, scale: Scale, scroll: number, x: number, y: number): Hit | undefined {
  const row = Math.floor((y - SCALE + scroll - placed.rowsTop) / ROW);
  const at = scale.time(x);
  const near = NEAR_PIXELS * scale.perPixel;
  let best: number | undefined;
  let bestDistance = near;
  for (let index = 0; index < spans.length; index++) {
    if (spans.row[index] !== row) continue;
    const begin = spans.begin[index]!;
    const end = begin + spans.duration[index]!;
    const distance = at < begin ? begin - at : at > end ? at - end : 0;
    // Of several, the nearest; within, the one that began last.
    if (distance > bestDistance || (distance === bestDistance && distance > 0)) continue;
    best = index;
    bestDistance = distance;
  }
  return best === undefined ? undefined : toHit(placed.track, spans, best);
}

export function toHit(track: Track, spans: Spans, index: number): Hit {
  return {
    track,
    index,
    begin: spans.begin[index]!,
    duration: spans.duration[index]!,
    row: spans.row[index]!,
    site: spans.site[index]!,
    count: spans.count[index]!,
    level: spans.level[index]!,
    marks: spans.marks[index]!,
  };
}

/** The spans around one, outermost first, and the first ones within it. */
export function family(track: Track, spans: Spans, self: Hit, most: number): { around: Hit[]; within: Hit[] } {
  const end = self.begin + self.duration;
  const around: Hit[] = [];
  const within: Hit[] = [];
  const first = track.kind === "thread" ? 1 : 0;
  const selfRow = self.row < first ? Infinity : self.row;
  for (let index = 0; index < spans.length; index++) {
    const row = spans.row[index]!;
    if (row < first) continue;
    const begin = spans.begin[index]!;
    const last = begin + spans.duration[index]!;
    if (row < selfRow && begin <= self.begin && last >= self.begin) around.push(toHit(track, spans, index));
    else if (row === selfRow + 1 && begin >= self.begin && last <= end && within.length < most) within.push(toHit(track, spans, index));
  }
  return { around: around.sort((one, two) => one.row - two.row), within };
}
