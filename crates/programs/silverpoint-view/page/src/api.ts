// The server's answers, as crates/programs/silverpoint-view/API.md states them, and how they are asked for.

import { exported, Offline } from "./offline.ts";

export interface Progress {
  state: "reading" | "waiting" | "finished";
  records: string;
  fraction: number | null;
  problem: string | null;
}

export interface Summary {
  title: string;
  live: boolean;
  version: string;
  can: string[];
  files: { path: string; bytes: string }[];
  files_more: number;
  begin: string | null;
  end: string | null;
  revision: number;
  tracks: number;
  sites: number;
  tracks_left_out: number;
  levels: number[];
  lost: string;
  stalls: string;
  messages: string[];
  messages_more: number;
  progress: Progress;
}

export interface TrackAnswer {
  id: number;
  kind: "thread" | "async" | "counter";
  pid: number;
  process: string;
  tid: number;
  name: string;
  records: number;
  depth: number;
  lost: string;
}

export interface Site {
  id: number;
  level: number;
  kind: string;
  category: string;
  name: string;
  function: string;
  file: string;
  line: number;
  records: number;
}

export interface Columns {
  begin: number[];
  duration: number[];
  site: number[];
  count: number[];
  level: number[];
  marks: number[];
}

export interface PointColumns {
  at: number[];
  min: (number | null)[];
  max: (number | null)[];
  last: (number | null)[];
  count: number[];
}

export interface Lanes {
  from: string;
  to: string;
  pixel_ns: string;
  merged_ns: string;
  /** Records were read for the answer that are far behind what has been read. */
  ahead: boolean;
  /** More will be known soon: ask again. */
  refining: boolean;
  /** Records that are read now are none of these. */
  known: boolean;
  /** `unread_from`: from then on nothing is known of the track yet. */
  tracks: { id: number; rows: Columns[]; instants: Columns | null; points: PointColumns | null; unread_from: number | null }[];
  progress: Progress;
}

export interface Row {
  number: string;
  time: string;
  level: number;
  kind: string;
  duration: string | null;
  pid: number;
  process: string;
  tid: number;
  thread: string;
  category: string;
  file: string;
  line: number;
  function: string;
  message: string;
  cut: boolean;
  backtrace: boolean;
}

export interface Rows {
  from: string;
  total: string;
  rows: Row[];
  progress: Progress;
}

export interface Value {
  name: string;
  kind: string;
  text: string;
  value?: string;
  type: string;
  unit: string;
  missing: number;
  cut?: number;
  children?: Value[];
}

export interface RecordAnswer {
  row: Row;
  template: string;
  truncated: boolean;
  arguments: Value[];
  fields: Value[];
  nodes_left_out: number;
}

export interface Histogram {
  from: string;
  to: string;
  part_ns: string;
  levels: number[][];
  /** Records that are known from the headers of their blocks only. */
  unread: number[] | null;
  progress: Progress;
}

export interface Facet {
  value: string;
  records: number;
  filter: string;
}

export const FACETS = ["levels", "categories", "threads", "processes", "files", "functions"] as const;
export type FacetName = (typeof FACETS)[number];

export type Facets = Record<FacetName, Facet[]> & { more: Partial<Record<FacetName, number>>; progress: Progress };

interface Place {
  site: number;
  name: string;
  category: string;
  file: string;
  line: number;
}

export interface Statistics {
  records: string;
  begin: string | null;
  end: string | null;
  per_second: number | null;
  levels: number[];
  losses: { cause: string; records: string }[];
  stalls: string;
  stall_ns: string;
  spans: (Place & {
    count: number;
    total: string;
    mean: string;
    min: string;
    p50: string;
    p90: string;
    p99: string;
    max: string;
    histogram: { from: string; count: number }[];
  })[];
  counters: { track: number; name: string; process: string; pid: number; records: number; min: number | null; max: number | null; last: number | null }[];
  sites: (Place & { level: number; records: number; bytes: number })[];
  threads: { track: number; name: string; process: string; pid: number; tid: number; records: number; lost: string }[];
  more: Record<string, number>;
  progress: Progress;
}

/** A tree of spans: a node for each index, each behind its parent. */
export interface Flame {
  parent: number[];
  /** -1: the root, or a process. */
  site: number[];
  process: number[];
  count: number[];
  time: number[];
  processes: Record<string, string>;
  left_out: number;
  progress: Progress;
}

export interface ArgumentValue {
  value: string;
  /** A filter writes it without quotes. */
  number: boolean;
  records: number;
}

export interface ArgumentValues {
  values: ArgumentValue[];
  more: number;
  left_out: number;
  progress: Progress;
}

/** Records that contain a text. */
export interface Matches {
  numbers: string[];
  count: number;
  progress: Progress;
}

export interface SwitchSite {
  /** Index of its process in the answer. */
  process: number;
  category: string;
  file: string;
  line: number;
  name: string;
  level: number;
  on: boolean;
}

export interface Switches {
  processes: { pid: number; name: string; directives: string; problem: string | null }[];
  sites: SwitchSite[];
  more: number;
}

export interface SqlAnswer {
  job: number;
  state: "running" | "done" | "failed";
  columns: string[];
  from: number;
  rows: (string | null)[][];
  total: number;
  cut: boolean;
  milliseconds: number;
  error: string | null;
}

export interface Completions {
  from: number;
  to: number;
  items: { text: string; note: string }[];
}

/** The server's refusal, with its code. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export type Parameters = Record<string, string | number | bigint | undefined>;

async function answer<Answer>(response: Response): Promise<Answer> {
  if (response.ok) return (await response.json()) as Answer;
  const text = await response.text();
  let refused = new Refused("failed", text || `status ${response.status}`);
  try {
    const { error, code } = JSON.parse(text) as { error: string; code: string };
    refused = new Refused(code, error);
  } catch {
    // Not JSON: the text says it.
  }
  throw refused;
}

/** So often the server is asked again for what it does not know yet, with pauses in between. */
const TRIES = 25;
const PAUSE_MS = 200;

const data = exported();
/** Where the page was exported, answers come from itself. */
const offline = data && new Offline(data);
export const isOffline = data !== undefined;

export async function get<Answer>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Answer> {
  if (offline) return offline.answer(path, parameters, (text) => new Refused("offline", text)) as Answer;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined && value !== "") query.set(name, String(value));
  const text = query.toString();
  const address = `/api/${path}${text ? `?${text}` : ""}`;
  for (let left = TRIES; ; left--) {
    try {
      return await answer<Answer>(await fetch(address, { credentials: "same-origin", ...(signal && { signal }) }));
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== "busy" || left <= 0) throw error;
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
      signal?.throwIfAborted();
    }
  }
}

export async function post<Answer>(path: string, body = ""): Promise<Answer> {
  return answer<Answer>(
    await fetch(`/api/${path}`, { method: "POST", credentials: "same-origin", headers: { "Content-Type": "text/plain" }, body }),
  );
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
