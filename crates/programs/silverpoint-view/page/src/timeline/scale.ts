// The mapping between time and pixels, and the marks of the ruler.

import type { Range } from "../state.ts";
import { roundStep } from "../time.ts";

/** Closer than this nothing is told apart: times are whole nanoseconds. */
const SHORTEST_VIEW = 50;

export class Scale {
  /** `left`: where the time begins, in pixels. */
  constructor(
    readonly view: Range,
    readonly left: number,
    readonly width: number,
  ) {}

  get perPixel(): number {
    return (this.view[1] - this.view[0]) / Math.max(1, this.width);
  }

  x(at: number): number {
    return this.left + (at - this.view[0]) / this.perPixel;
  }

  time(x: number): number {
    return this.view[0] + (x - this.left) * this.perPixel;
  }

  /** The view after a zoom around a place. */
  zoomed(factor: number, x: number, whole: Range): Range {
    const [from, to] = this.view;
    const longest = (whole[1] - whole[0]) * 1.5 + 1000;
    const length = Math.min(longest, Math.max(SHORTEST_VIEW, (to - from) * factor));
    const share = Math.min(1, Math.max(0, (x - this.left) / this.width));
    const centre = from + (to - from) * share;
    return this.kept([centre - length * share, centre + length * (1 - share)], whole);
  }

  panned(pixels: number, whole: Range): Range {
    const shift = pixels * this.perPixel;
    return this.kept([this.view[0] + shift, this.view[1] + shift], whole);
  }

  /** Some of the trace stays in sight. */
  kept([from, to]: Range, whole: Range): Range {
    const length = to - from;
    const margin = length * 0.4;
    const first = Math.max(whole[0] - margin, Math.min(from, Math.max(whole[0] - margin, whole[1] + margin - length)));
    return [first, first + length];
  }

  /** Times of the ruler's marks, at least `apart` pixels from one another, and their distance. */
  marks(apart: number): { times: number[]; step: number } {
    const step = roundStep(this.perPixel * apart);
    const times: number[] = [];
    for (let at = Math.ceil(this.view[0] / step) * step; at <= this.view[1] && times.length < 1000; at += step) times.push(at);
    return { times, step };
  }
}
