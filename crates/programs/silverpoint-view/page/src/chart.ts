// A plot of plain numbers: a line over numbers, or bars over words.

import { el, sharpen } from "./dom.ts";
import { colours, onTheme } from "./theme.ts";
import { shortCount } from "./time.ts";

const [LEFT, BOTTOM, TOP] = [56, 18, 8];
/** More bars than these are one another's neighbours without a gap. */
const LABELS = 24;

export interface Series {
  /** Numbers, ascending; or words, each with a bar. */
  x: number[] | string[];
  y: number[];
  label: string;
}

/** Least and greatest value, with zero between or at the edge; never an empty range. */
export function extent(values: readonly number[]): [number, number] {
  let [low, high] = [0, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high > low ? [low, high] : [low, low + 1];
}

export function chart(series: Series, className = "chart"): HTMLCanvasElement {
  const canvas = el("canvas", { class: className, role: "img", "aria-label": series.label, title: series.label });
  const isSmall = className !== "chart";
  const draw = () => canvas.clientWidth && paint(canvas, series, isSmall);
  new ResizeObserver(draw).observe(canvas);
  onTheme(() => canvas.isConnected && draw());
  return canvas;
}

function paint(canvas: HTMLCanvasElement, { x, y }: Series, isSmall: boolean): void {
  const { width, height, context } = sharpen(canvas);
  const theme = colours();
  context.clearRect(0, 0, width, height);
  const [left, bottom, top] = isSmall ? [0, 0, 1] : [LEFT, BOTTOM, TOP];
  const [low, high] = extent(y);
  const tall = height - bottom - top;
  const up = (value: number) => top + tall * (1 - (value - low) / (high - low));
  context.font = "11px system-ui, sans-serif";
  context.strokeStyle = context.fillStyle = theme.accent;
  const wide = width - left - (isSmall ? 0 : 8);
  const words = x.length && typeof x[0] === "string" ? (x as string[]) : undefined;
  let place: (at: number) => number;
  if (words) {
    const step = wide / words.length;
    place = (at) => left + at * step;
    y.forEach((value, at) => Number.isFinite(value) && context.fillRect(place(at), Math.min(up(value), up(0)), Math.max(1, step * 0.8), Math.abs(up(value) - up(0))));
  } else {
    const numbers = x as number[];
    const [first, last] = [numbers[0] ?? 0, numbers[numbers.length - 1] ?? 1];
    place = (at) => left + ((numbers[at]! - first) / (last - first || 1)) * wide;
    context.beginPath();
    y.forEach((value, at) => Number.isFinite(value) && context.lineTo(place(at), up(value)));
    context.stroke();
  }
  if (isSmall) return;
  context.fillStyle = theme.dim;
  context.textAlign = "right";
  for (const value of [low, (low + high) / 2, high]) context.fillText(shortCount(value), left - 6, up(value) + 4);
  context.fillRect(left, up(0), wide, 1);
  context.textAlign = "left";
  const texts = words && words.length <= LABELS ? words.map((_, at) => at) : [0, Math.floor(x.length / 2)];
  const room = words && words.length <= LABELS ? wide / words.length - 6 : wide / 2 - 10;
  for (const at of texts) {
    let text = String(x[at] ?? "");
    while (text.length > 1 && context.measureText(text).width > room) text = `${text.slice(0, -2)}…`;
    context.fillText(text, place(at), height - 5);
  }
}

/** A result of columns as a plot: the first column over the first other one that has numbers. */
export function seriesOf(columns: readonly string[], rows: readonly (string | null)[][], most: number): Series | undefined {
  const isNumber = (at: number) => rows.some((row) => row[at] !== null) && rows.every((row) => row[at] === null || (row[at] !== "" && Number.isFinite(Number(row[at]))));
  const value = columns.findIndex((_, at) => at > 0 && isNumber(at));
  if (value < 0 || rows.length < 2) return undefined;
  const number = (text: string | null | undefined) => (text === null || text === undefined ? NaN : Number(text));
  const shown = rows.slice(0, most);
  const label = `${columns[value]} by ${columns[0]}`;
  if (!isNumber(0)) return { x: shown.map((row) => row[0] ?? "null"), y: shown.map((row) => number(row[value])), label };
  const points = shown.filter((row) => row[0] !== null).map((row) => [Number(row[0]), number(row[value])] as const).sort((one, other) => one[0] - other[0]);
  return { x: points.map(([x]) => x), y: points.map(([, y]) => y), label };
}
