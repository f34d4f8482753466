// What the page shows, and where it is kept: in the address, so that a bookmark or a link brings it back.

import type { Zone } from "./time.ts";

export type Tab = "timeline" | "records" | "statistics" | "sql";
export const TABS: readonly Tab[] = ["timeline", "records", "statistics", "sql"];

/** Parts of the statistics. */
export const PARTS = ["figures", "flame", "compare", "switches"] as const;
export type Part = (typeof PARTS)[number];

/** From and to, in nanoseconds since the beginning of the trace. */
export type Range = [number, number];

export interface State {
  tab: Tab;
  /** What the statistics show. */
  part: Part;
  /** What is compared, both as `FROM~TO` or `file:N`; empty: everything. */
  a: string;
  b: string;
  /** What the timeline shows; undefined: everything, also what is still to come. */
  view: Range | undefined;
  /** What is selected of it. */
  range: Range | undefined;
  /** The conditions of the filter box. */
  filter: string;
  /** What the timeline searches. */
  search: string;
  /** Words that the tracks in the timeline have. */
  tracks: string;
  /** The number of the record whose details are shown. */
  record: string | undefined;
  /** Columns of arguments in the table. */
  columns: string[];
  zone: Zone;
  /** Tracks that are folded. */
  folded: Set<string>;
  sql: string;
}

export type Change = Partial<State>;
type Listener = (state: State, changed: ReadonlySet<keyof State>) => void;

export class Store {
  readonly state: State;
  private listeners: Listener[] = [];
  private pending = new Set<keyof State>();

  constructor() {
    this.state = {
      tab: "timeline",
      part: "figures",
      a: "",
      b: "",
      view: undefined,
      range: undefined,
      filter: "",
      search: "",
      tracks: "",
      record: undefined,
      columns: [],
      zone: "local",
      folded: new Set(),
      sql: "",
      ...fromHash(location.hash),
    };
    window.addEventListener("hashchange", () => {
      if (location.hash === this.hash()) return;
      this.set({ range: undefined, record: undefined, filter: "", search: "", tracks: "", view: undefined, ...fromHash(location.hash) });
    });
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  set(change: Change): void {
    for (const [name, value] of Object.entries(change) as [keyof State, never][]) {
      if (this.state[name] === value) continue;
      this.state[name] = value;
      this.pending.add(name);
    }
    this.announce();
  }

  private isAnnouncing = false;

  /** A listener may change more; everyone hears of that afterwards. */
  private announce(): void {
    if (this.isAnnouncing) return;
    this.isAnnouncing = true;
    try {
      while (this.pending.size) {
        const changed = this.pending;
        this.pending = new Set();
        for (const listener of this.listeners) listener(this.state, changed);
      }
    } finally {
      this.isAnnouncing = false;
    }
    this.keep();
  }

  private timer = 0;

  /** Writes the address when nothing has changed for a moment. */
  private keep(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => history.replaceState(null, "", this.hash()), 150);
  }

  /** The state as a fragment of an address. */
  hash(): string {
    const { state } = this;
    const parts = new URLSearchParams();
    const range = ([from, to]: Range) => `${Math.round(from)}~${Math.round(to)}`;
    if (state.part !== "figures" && state.tab === "statistics") parts.set("part", state.part);
    if (state.a) parts.set("a", state.a);
    if (state.b) parts.set("b", state.b);
    if (state.view) parts.set("view", range(state.view));
    if (state.range) parts.set("range", range(state.range));
    if (state.filter) parts.set("filter", state.filter);
    if (state.search) parts.set("search", state.search);
    if (state.tracks) parts.set("tracks", state.tracks);
    if (state.record) parts.set("record", state.record);
    for (const column of state.columns) parts.append("column", column);
    for (const track of state.folded) parts.append("fold", track);
    if (state.zone !== "local") parts.set("zone", state.zone);
    if (state.sql && state.tab === "sql") parts.set("sql", state.sql);
    const text = parts.toString();
    return `#${state.tab}${text ? `?${text}` : ""}`;
  }
}

function fromHash(hash: string): Change {
  const change: Change = {};
  const [tab, rest = ""] = hash.slice(1).split("?", 2);
  if (TABS.includes(tab as Tab)) change.tab = tab as Tab;
  const parts = new URLSearchParams(rest);
  const part = parts.get("part") as Part;
  if (PARTS.includes(part)) change.part = part;
  for (const side of ["a", "b"] as const) {
    const text = parts.get(side) ?? "";
    if (rangeOf(text) || /^file:\d{1,6}$/.test(text)) change[side] = text;
  }
  const range = (name: string) => rangeOf(parts.get(name) ?? "");
  const view = range("view");
  if (view) change.view = view;
  const selected = range("range");
  if (selected) change.range = selected;
  for (const name of ["filter", "search", "tracks", "record", "sql"] as const) {
    const text = parts.get(name);
    if (text) change[name] = text;
  }
  const zone = parts.get("zone");
  if (zone === "utc" || zone === "relative") change.zone = zone;
  if (parts.has("column")) change.columns = parts.getAll("column").slice(0, 100);
  if (parts.has("fold")) change.folded = new Set(parts.getAll("fold").slice(0, 1000));
  return change;
}

/** A range as the address has it: `FROM~TO`. */
export function rangeOf(text: string): Range | undefined {
  const found = /^(-?\d{1,18})~(-?\d{1,18})$/.exec(text);
  return found && Number(found[1]) < Number(found[2]) ? [Number(found[1]), Number(found[2])] : undefined;
}
