// What is drawn, and what the parts of the drawing share.

import type { Range } from "../state.ts";
import type { Clock } from "../time.ts";
import type { Layout } from "./layout.ts";
import type { Points, Spans } from "./model.ts";
import type { Scale } from "./scale.ts";

export interface Scene {
  scale: Scale;
  layout: Layout;
  /** How far it is scrolled down. */
  scroll: number;
  clock: Clock;
  height: number;
  spans(id: number): Spans | undefined;
  points(id: number): Points | undefined;
  /** From then on nothing is known of a track yet. */
  unreadFrom(id: number): number | undefined;
  label(site: number): string;
  /** Sites that the search has found; the others are pale. */
  found: ReadonlySet<number> | undefined;
  range: Range | undefined;
  hover: { x: number; y: number; key: string; index: number } | undefined;
  /** The time of the record whose details are shown. */
  at: number | undefined;
  selected: { key: string; begin: number; row: number } | undefined;
  whole: Range;
}

export const FONT = '11px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
export const BOLD = `600 ${FONT}`;
/** Mean width of a character of FONT. */
export const CHARACTER = 6.3;

/** As much of a text as fits. */
export function cut(text: string, width: number): string {
  const most = Math.floor(width / CHARACTER);
  if (text.length <= most) return text;
  return most > 2 ? `${text.slice(0, most - 1)}…` : "";
}
