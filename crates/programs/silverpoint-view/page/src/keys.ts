// Keys of the whole page; those that are held (W, A, S, D) are in timeline/gestures.ts.

import type { Row } from "./api.ts";
import type { Details } from "./details.ts";
import type { FilterBox } from "./filter/box.ts";
import { showHelp } from "./help.ts";
import type { Records } from "./records/records.ts";
import type { Search } from "./search.ts";
import { TABS, type Store } from "./state.ts";
import { isWriting } from "./timeline/gestures.ts";
import type { Timeline } from "./timeline/timeline.ts";

export interface Parts {
  timeline: Timeline;
  records: Records;
  details: Details;
  search: Search;
  box: FilterBox;
  tracks: HTMLInputElement;
  follow(): void;
  toTable(row: Row): void;
  toTimeline(row: Row): void;
}

export function listenToKeys(store: Store, parts: Parts): void {
  const { timeline, records, details, search, box } = parts;
  const keys: Record<string, () => void> = {
    "?": showHelp,
    "/": () => {
      box.input.focus();
      box.input.select();
    },
    "0": () => store.set({ view: undefined }),
    f: () => timeline.fit(),
    n: () => void search.step(1),
    p: () => void search.step(-1),
    j: () => records.table.move(1),
    k: () => records.table.move(-1),
    l: parts.follow,
    c: () => (store.state.tab === "records" && records.table.focus >= 0 ? void records.copyText() : details.copyText()),
    g: () => {
      const { row } = details;
      if (!row) return;
      if (store.state.tab === "timeline") parts.toTable(row);
      else parts.toTimeline(row);
    },
    Escape: () => {
      if (details.row) details.close();
      else store.set({ range: undefined });
    },
  };
  TABS.forEach((tab, at) => (keys[String(at + 1)] = () => store.set({ tab })));
  const onTimeline: Record<string, () => void> = {
    ArrowUp: () => timeline.pan(0, -54),
    ArrowDown: () => timeline.pan(0, 54),
    ArrowLeft: () => timeline.pan(-100, 0),
    ArrowRight: () => timeline.pan(100, 0),
    PageUp: () => timeline.pan(0, -400),
    PageDown: () => timeline.pan(0, 400),
    ".": () => timeline.step(1),
    ",": () => timeline.step(-1),
    t: () => parts.tracks.focus(),
    Home: () => store.set({ view: undefined }),
  };
  window.addEventListener("keydown", (event) => {
    if (event.metaKey || event.altKey || isWriting(event)) return;
    if (event.ctrlKey) {
      if (event.key !== "f" || store.state.tab !== "timeline") return;
      search.input.focus();
      search.input.select();
      event.preventDefault();
      return;
    }
    const isFocused = (event.target as Element | null)?.closest("[role=tablist], [role=grid], summary, .details");
    const press = keys[event.key] ?? (store.state.tab === "timeline" && !isFocused ? onTimeline[event.key] : undefined);
    if (!press) return;
    press();
    event.preventDefault();
  });
}
