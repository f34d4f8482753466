// The server's answers out of an exported file: the records of a range lie in the page itself.

import type { Columns, Facets, Lanes, Parameters, PointColumns, Progress, RecordAnswer, Site, Statistics, Summary, TrackAnswer } from "./api.ts";

/** What an exported file holds: the server's answers about its records. */
export interface Exported {
  /** As the page shows it. */
  filter: string;
  summary: Summary;
  tracks: TrackAnswer[];
  sites: Site[];
  records: RecordAnswer[];
  lanes: { from: string; tracks: Lanes["tracks"] };
  facets: Facets;
  statistics: Statistics;
}

export const DATA = "exported";

/** What this page holds, if it was exported. */
export function exported(): Exported | undefined {
  if (typeof document === "undefined") return undefined;
  const text = document.getElementById(DATA)?.textContent;
  return text ? (JSON.parse(text) as Exported) : undefined;
}

/** Rectangles of a range, at most one for each pixel in which one begins, as the server gives them. */
export function folded(columns: Columns, [from, to]: [number, number], pixel: number): Columns {
  const out: Columns = { begin: [], duration: [], site: [], count: [], level: [], marks: [] };
  let open = -1;
  for (let at = 0; at < columns.begin.length; at++) {
    const begin = columns.begin[at]!;
    const long = columns.duration[at]!;
    if (begin >= to || (begin < from && begin + long <= from)) continue;
    const place = begin < from ? -1 : Math.floor((begin - from) / pixel);
    const last = out.begin.length - 1;
    if (place >= 0 && place === open) {
      out.count[last]! += columns.count[at]!;
      out.level[last] = Math.max(out.level[last]!, columns.level[at]!);
      out.marks[last]! |= columns.marks[at]!;
      if (long <= out.duration[last]!) continue;
      out.begin[last] = begin - from;
      out.duration[last] = long;
      out.site[last] = columns.site[at]!;
      continue;
    }
    open = place;
    out.begin.push(begin - from);
    out.duration.push(long);
    out.site.push(columns.site[at]!);
    out.count.push(columns.count[at]!);
    out.level.push(columns.level[at]!);
    out.marks.push(columns.marks[at]!);
  }
  return out;
}

/** Values of a range, and the one before it. */
function pointsOf(columns: PointColumns, [from, to]: [number, number]): PointColumns {
  const first = Math.max(0, columns.at.findLastIndex((at) => at < from));
  const end = columns.at.findIndex((at) => at >= to);
  const part = <Item>(list: Item[]) => list.slice(first, end < 0 ? undefined : end);
  return { at: part(columns.at).map((at) => at - from), min: part(columns.min), max: part(columns.max), last: part(columns.last), count: part(columns.count) };
}

export class Offline {
  private readonly progress: Progress;
  private readonly times: bigint[];

  constructor(private data: Exported) {
    this.progress = { state: "finished", records: String(data.records.length), fraction: 1, problem: null };
    this.times = data.records.map(({ row }) => BigInt(row.time));
  }

  /** As the server answers; what it cannot answer is refused by `refuse`. */
  answer(path: string, parameters: Parameters, refuse: (text: string) => Error): unknown {
    const { data, progress } = this;
    if (parameters["filter"]) throw refuse("An exported file has no filters: its records are those that were exported.");
    const number = (name: string) => Number(parameters[name] ?? 0);
    switch (path) {
      case "trace":
        return { ...data.summary, progress };
      case "tracks":
        return { total: data.tracks.length, tracks: data.tracks.slice(number("from")), progress };
      case "sites":
        return { total: data.sites.length, sites: data.sites.slice(number("from")), progress };
      case "lanes":
        return this.lanes(parameters);
      case "histogram":
        return this.histogram(parameters);
      case "records": {
        const total = data.records.length;
        const from = parameters["from"] !== undefined ? number("from") : parameters["at"] !== undefined ? this.at(BigInt(parameters["at"])) : Math.max(0, total - number("count"));
        return { from: String(from), total: String(total), rows: data.records.slice(from, from + number("count")).map(({ row }) => row), progress };
      }
      case "record": {
        const record = data.records[number("number")];
        if (!record) throw refuse(`There is no record ${String(parameters["number"])}.`);
        return record;
      }
      case "facets":
        return { ...data.facets, progress };
      case "stats":
        return { ...data.statistics, progress };
      case "complete":
        return { from: 0, to: 0, items: [] };
      default:
        throw refuse("An exported file cannot answer this; open the trace itself.");
    }
  }

  /** The first record at or after a time. */
  private at(time: bigint): number {
    const found = this.times.findIndex((one) => one >= time);
    return found < 0 ? this.times.length : found;
  }

  private lanes(parameters: Parameters): Lanes {
    const base = BigInt(this.data.lanes.from);
    const [from, to] = [Number(BigInt(parameters["from"]!) - base), Number(BigInt(parameters["to"]!) - base)];
    const pixel = Math.max(1, Math.ceil((to - from) / Number(parameters["width"])));
    const wanted = new Set(String(parameters["tracks"]).split(",").map(Number));
    const cut = (columns: Columns) => folded(columns, [from, to], pixel);
    return {
      from: String(parameters["from"]),
      to: String(parameters["to"]),
      pixel_ns: String(pixel),
      merged_ns: "0",
      ahead: false,
      refining: false,
      known: true,
      tracks: this.data.lanes.tracks.filter(({ id }) => wanted.has(id)).map(({ id, rows, instants, points }) => ({ id, rows: rows.map(cut), instants: instants && cut(instants), points: points && pointsOf(points, [from, to]), unread_from: null })),
      progress: this.progress,
    };
  }

  private histogram(parameters: Parameters) {
    const [from, to] = [BigInt(parameters["from"]!), BigInt(parameters["to"]!)];
    const parts = Number(parameters["parts"]);
    const part = Math.max(1, Math.ceil(Number(to - from) / parts));
    const levels: number[][] = Array.from({ length: 6 }, () => Array<number>(parts).fill(0));
    this.times.forEach((time, at) => {
      const index = Math.floor(Number(time - from) / part);
      const list = levels[this.data.records[at]!.row.level];
      if (list && index >= 0 && index < parts) list[index]!++;
    });
    return { from: String(from), to: String(to), part_ns: String(part), levels, unread: null, progress: this.progress };
  }
}
