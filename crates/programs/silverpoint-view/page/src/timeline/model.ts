// What the timeline draws: tracks, and the rectangles and values of a range of them, in typed arrays.

import type { Columns, PointColumns, TrackAnswer } from "../api.ts";

export type TrackKind = "process" | TrackAnswer["kind"];

export interface Track {
  /** `p100` of a process, `t3` of a track of the server. Kept in the address. */
  key: string;
  /** The server's number; -1: a process. */
  id: number;
  kind: TrackKind;
  name: string;
  /** What stands behind the name: the number of a process or thread. */
  note: string;
  /** Rows: the first of a thread has its records, the others nested spans. */
  rows: number;
  /** The key of the process that it belongs to. */
  parent: string | undefined;
  tid: number;
  lost: boolean;
}

export const LOSS = 1;
export const STALL = 2;
export const OPEN = 4;
/** The headers of the records' blocks are all that is known of them yet. */
export const UNREAD = 8;
export const NO_SITE = -1;

/** Rectangles of one track, row by row, each in order of time. */
export interface Spans {
  length: number;
  begin: Float64Array;
  duration: Float64Array;
  row: Uint16Array;
  site: Int32Array;
  /** How many spans a rectangle stands for. */
  count: Uint32Array;
  level: Uint8Array;
  marks: Uint8Array;
}

/** Values of a counter: the extremes, and the last, of those that are near one another. */
export interface Points {
  length: number;
  at: Float64Array;
  min: Float64Array;
  max: Float64Array;
  last: Float64Array;
}

/** The server's tracks, with a heading for each process. */
export function withProcesses(answers: readonly TrackAnswer[]): Track[] {
  const tracks: Track[] = [];
  let open: string | undefined;
  for (const track of answers) {
    const parent = `p${track.pid}-${track.process}`;
    if (parent !== open) {
      open = parent;
      tracks.push({ key: parent, id: -1, kind: "process", name: track.process || "process", note: String(track.pid), rows: 0, parent: undefined, tid: 0, lost: false });
    }
    const isThread = track.kind === "thread";
    tracks.push({
      key: `t${track.id}`,
      id: track.id,
      kind: track.kind,
      name: track.name || (isThread ? "thread" : track.kind),
      note: isThread ? String(track.tid) : "",
      rows: Math.max(1, track.depth + (isThread ? 1 : 0)),
      parent,
      tid: track.tid,
      lost: track.lost !== "0",
    });
  }
  return tracks;
}

/** `shift`: what the answer's times are relative to. */
export function toSpans(rows: readonly Columns[], instants: Columns | null, shift: number): Spans {
  const parts = instants ? [instants, ...rows] : rows;
  const length = parts.reduce((sum, part) => sum + part.begin.length, 0);
  const spans: Spans = {
    length,
    begin: new Float64Array(length),
    duration: new Float64Array(length),
    row: new Uint16Array(length),
    site: new Int32Array(length),
    count: new Uint32Array(length),
    level: new Uint8Array(length),
    marks: new Uint8Array(length),
  };
  let at = 0;
  parts.forEach((part, row) => {
    const many = part.begin.length;
    for (let index = 0; index < many; index++) spans.begin[at + index] = part.begin[index]! + shift;
    spans.duration.set(part.duration, at);
    spans.row.fill(row, at, at + many);
    spans.site.set(part.site, at);
    spans.count.set(part.count, at);
    spans.level.set(part.level, at);
    spans.marks.set(part.marks, at);
    at += many;
  });
  return spans;
}

export function toPoints(columns: PointColumns, shift: number): Points {
  const numbers = (list: readonly (number | null)[]) => Float64Array.from(list, (value) => value ?? NaN);
  return {
    length: columns.at.length,
    at: Float64Array.from(columns.at, (at) => at + shift),
    min: numbers(columns.min),
    max: numbers(columns.max),
    last: numbers(columns.last),
  };
}
