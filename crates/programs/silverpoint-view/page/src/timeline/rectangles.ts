// Spans and records of the tracks: rectangles as pixels first, then what is written on them.

import type { Colours } from "../theme.ts";
import { FONT, cut, type Scene } from "./scene.ts";
import { ROW, SCALE, type Placed } from "./layout.ts";
import { LOSS, NO_SITE, OPEN, STALL, UNREAD, type Spans } from "./model.ts";
import { mixer, type Pixels } from "./pixels.ts";

/** Heights of records, by level. */
const STROKES = [5, 6, 8, 11, 14, 16] as const;
const HIGH = ROW - 2;
const LONGEST_LABEL = 300;
const LEAST_LABEL_PIXELS = 28;
const PALE = 0.18;
const RECORDS = 0.85;
const UNREAD_SHARE = 0.35;
/** Levels that are shown of what has not been read. */
const ERROR = 4;

/** Draws the rectangles of one track; gives those that something is to be written or drawn on. */
export function fillTrack(pixels: Pixels, scene: Scene, theme: Colours, placed: Placed, spans: Spans, ratio: number): number[] {
  const { scale, found } = scene;
  const [from, to] = scale.view;
  const per = scale.perPixel;
  const base = SCALE + placed.rowsTop - scene.scroll;
  const [first, last] = [Math.round(scale.left * ratio), Math.round((scale.left + scale.width) * ratio)];
  const isThread = placed.track.kind === "thread";
  const [plain, soft, pale, unread] = [mixer(theme.back), mixer(theme.back, RECORDS), mixer(theme.back, PALE), mixer(theme.back, UNREAD_SHARE)];
  const noted: number[] = [];
  for (let at = 0; at < spans.length; at++) {
    const begin = spans.begin[at]!;
    const duration = spans.duration[at]!;
    const end = begin + duration;
    if (end < from || begin > to) continue;
    const row = spans.row[at]!;
    const top = base + row * ROW;
    if (top > scene.height || top + ROW < SCALE) continue;
    const left = Math.round((scale.left + (begin - from) / per) * ratio);
    const right = Math.round((scale.left + (end - from) / per) * ratio);
    const [level, marks] = [spans.level[at]!, spans.marks[at]!];
    const isPale = found !== undefined && !found.has(spans.site[at]!);
    const isRecord = isThread && row === 0;
    const colour = colourOf(theme, spans.site[at]!, level, marks, isRecord);
    const word = (isPale ? pale : isRecord ? soft : plain)(colour);
    if (marks & UNREAD) {
      pixels.fill(Math.max(first, left), Math.round((top + 3) * ratio), Math.min(last, Math.max(left + 1, right)), Math.round((top + HIGH - 3) * ratio), unread(level >= ERROR ? theme.levels[level]! : theme.dim));
      continue;
    }
    if (isRecord && duration === 0) {
      // A record is a stroke; the higher, the worse.
      const tall = marks & LOSS ? HIGH : STROKES[level]!;
      const y = Math.round((top + (HIGH - tall) / 2) * ratio);
      const wide = Math.max(1, Math.round((level >= 3 || marks & LOSS ? 2 : 1.5) * ratio));
      if (left >= first) pixels.fill(left, y, Math.min(last, left + wide), y + Math.round(tall * ratio), word);
      if (marks & LOSS) noted.push(at);
      continue;
    }
    const gap = right - left > 3 * ratio ? Math.round(ratio) : 0;
    const edge = Math.min(last, Math.max(left + 1, right - gap));
    const [y, under] = [Math.round(top * ratio), Math.round((top + HIGH) * ratio)];
    pixels.fill(Math.max(first, left), y, edge, under, word);
    if (level >= 3 && !isPale && !isRecord) pixels.fill(Math.max(first, left), under - Math.round(3 * ratio), edge, under, plain(theme.levels[level]!));
    const wide = (edge - Math.max(first, left)) / ratio;
    if (wide > LEAST_LABEL_PIXELS || (marks & OPEN && wide > 8)) noted.push(at);
  }
  return noted;
}

/** Where nothing is known of a track yet: as what headers state of a thread. */
export function fillUnread(pixels: Pixels, scene: Scene, theme: Colours, placed: Placed, ratio: number): void {
  const { scale, whole } = scene;
  const from = scene.unreadFrom(placed.track.id);
  if (from === undefined) return;
  const top = SCALE + placed.rowsTop - scene.scroll;
  const [left, right] = [Math.max(scale.left, scale.x(from)), Math.min(scale.left + scale.width, scale.x(whole[1]))];
  pixels.fill(Math.round(left * ratio), Math.round((top + 3) * ratio), Math.round(right * ratio), Math.round((top + HIGH - 3) * ratio), mixer(theme.back, UNREAD_SHARE)(theme.dim));
}

function colourOf(theme: Colours, site: number, level: number, marks: number, isRecord: boolean): string {
  if (marks & LOSS) return theme.loss;
  if (marks & STALL) return theme.stall;
  if (isRecord) return theme.levels[level]!;
  return site === NO_SITE ? theme.dim : theme.spans[site % theme.spans.length]!;
}

/** Names of spans, signs of losses, and the fading of spans without an end. */
export function writeTrack(context: CanvasRenderingContext2D, scene: Scene, theme: Colours, placed: Placed, spans: Spans, noted: readonly number[]): void {
  const { scale } = scene;
  const base = SCALE + placed.rowsTop - scene.scroll;
  context.font = FONT;
  for (const at of noted) {
    const y = Math.round(base + spans.row[at]! * ROW);
    const begin = scale.x(spans.begin[at]!);
    const left = Math.max(scale.left, begin);
    const right = Math.min(scale.left + scale.width, scale.x(spans.begin[at]! + spans.duration[at]!));
    const isPale = scene.found !== undefined && !scene.found.has(spans.site[at]!);
    if (spans.marks[at]! & LOSS) {
      context.fillStyle = theme.loss;
      context.beginPath();
      context.moveTo(begin - 5, y);
      context.lineTo(begin + 5, y);
      context.lineTo(begin, y + 7);
      context.fill();
    }
    if (spans.marks[at]! & OPEN) {
      const wide = Math.min(40, right - left);
      const fade = context.createLinearGradient(right - wide, 0, right, 0);
      fade.addColorStop(0, "transparent");
      fade.addColorStop(1, theme.back);
      context.fillStyle = fade;
      context.fillRect(right - wide, y, wide, HIGH);
    }
    const text = cut(scene.label(spans.site[at]!).slice(0, LONGEST_LABEL), right - left - 8);
    if (!text) continue;
    context.globalAlpha = isPale ? PALE * 2 : 1;
    context.fillStyle = theme.spanText;
    context.fillText(text, left + 4, y + HIGH / 2 + 0.5);
    context.globalAlpha = 1;
  }
}

/** Frames around what the mouse is on, and what the details show. */
export function frameTrack(context: CanvasRenderingContext2D, scene: Scene, theme: Colours, placed: Placed, spans: Spans): void {
  const { scale, hover, selected } = scene;
  const { key } = placed.track;
  const frame = (at: number, colour: string, line: number) => {
    const left = Math.max(scale.left - 2, scale.x(spans.begin[at]!));
    const right = Math.min(scale.left + scale.width + 2, scale.x(spans.begin[at]! + spans.duration[at]!));
    const y = Math.round(SCALE + placed.rowsTop - scene.scroll + spans.row[at]! * ROW);
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(left - 0.5, y - 0.5, Math.max(2, right - left), HIGH + 1);
  };
  if (hover?.key === key && hover.index >= 0 && hover.index < spans.length) frame(hover.index, theme.text, 1);
  if (selected?.key !== key) return;
  for (let at = 0; at < spans.length; at++) {
    if (spans.row[at] === selected.row && spans.begin[at] === selected.begin) frame(at, theme.accent, 2);
  }
}
