// The page: puts the parts together, and passes keys to them.

import { get, isOffline, Refused, type Completions, type Row } from "./api.ts";
import { Details } from "./details.ts";
import { button, el } from "./dom.ts";
import { FilterBox } from "./filter/box.ts";
import { exportRange } from "./export.ts";
import { listenToKeys } from "./keys.ts";
import { showHelp } from "./help.ts";
import { Overview } from "./overview.ts";
import { Records } from "./records/records.ts";
import { Search } from "./search.ts";
import { Sql } from "./sql.ts";
import { Store, TABS, type Tab } from "./state.ts";
import { Statistics } from "./statistics.ts";
import { startTheme, switchTheme } from "./theme.ts";
import type { Zone } from "./time.ts";
import { Timeline } from "./timeline/timeline.ts";
import { Trace } from "./trace.ts";

const TITLES: Record<Tab, string> = { timeline: "Timeline", records: "Records", statistics: "Statistics", sql: "SQL" };

function start(): void {
  startTheme();
  const store = new Store();
  const trace = new Trace();
  trace.clock.zone = store.state.zone;

  const hovered = el("span", { class: "grow" });
  const state = el("span", { role: "status" });
  const status = (text: string) => (hovered.textContent = text);

  const timeline = new Timeline(trace, store, { pick: (hit) => (hit ? void details.pick(hit) : details.close()), status });
  const toTimeline = (row: Row) => {
    store.set({ tab: "timeline" });
    timeline.reveal(trace.clock.relative(BigInt(row.time)), timeline.trackOf(row.tid, String(row.pid)));
    void details.open(row.number);
  };
  const toTable = (row: Row) => {
    store.set({ tab: "records" });
    records.reveal(Number(row.number));
  };
  const records = new Records(trace, store, (number) => void details.open(String(number)), toTimeline);
  const details: Details = new Details(trace, store, timeline, { toTable, toTimeline });
  const search = new Search(trace, store, timeline, (row) => {
    const { clock } = trace;
    timeline.reveal(clock.relative(BigInt(row.time)), timeline.trackOf(row.tid, String(row.pid)));
    void details.locate(row);
  });
  const statistics = new Statistics(trace, store);
  const sql = new Sql(trace, store);
  const overview = new Overview(trace, store, status);

  // Following in the timeline: the end of the trace stays at the right edge.
  let follows = false;
  const followButton = button("Follow", "Keep the newest in sight (L)", () => follow(!follows));
  const follow = (on: boolean) => {
    follows = on;
    followButton.setAttribute("aria-pressed", String(on));
    if (on) toNewest();
  };
  const toNewest = () => {
    const [from, to] = timeline.view;
    const length = Math.min(to - from, 10e9);
    store.set({ view: [trace.whole[1] - length, trace.whole[1]] });
  };

  const tracks = el("input", { type: "search", class: "tracks", placeholder: "Tracks", "aria-label": "Show tracks whose process, thread or name has this text", spellcheck: "false" });
  tracks.value = store.state.tracks;
  tracks.addEventListener("input", () => store.set({ tracks: tracks.value.trim() }));
  tracks.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    tracks.value = "";
    store.set({ tracks: "" });
    tracks.blur();
  });

  const timelinePanel = el(
    "div",
    { class: "panel", id: "panel-timeline", role: "tabpanel", "aria-labelledby": "tab-timeline" },
    el(
      "div",
      { class: "bar" },
      tracks,
      search.element,
      timeline.about,
      el("span", { class: "grow" }),
      followButton,
      button("Show all", "Show the whole trace (0)", () => store.set({ view: undefined })),
      button("Show range", "Show the selected range or span (F)", () => timeline.fit()),
      button("Export", "Save the selected range, or what is in sight, as a page of its own", () => void exportRange(trace, store), "button needs-server"),
      button("PNG", "Save the picture of the timeline", () => timeline.png()),
    ),
    timeline.element,
  );
  const panels: Record<Tab, HTMLElement> = { timeline: timelinePanel, records: records.element, statistics: statistics.element, sql: sql.element };
  const tabs = TABS.map((tab) =>
    el("button", { class: "tab", type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": `panel-${tab}`, on: { click: () => store.set({ tab }) } }, TITLES[tab]),
  );
  const tabList = el("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, tabs);
  tabList.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const at = (TABS.indexOf(store.state.tab) + step + TABS.length) % TABS.length;
    store.set({ tab: TABS[at]! });
    tabs[at]!.focus();
  });

  const box = new FilterBox({
    label: "Filter of records",
    placeholder: "Filter, as in silverpoint cat:  -l warn -c net   or   id=7 and px>3.5     (press /)",
    complete: (text, cursor) => get<Completions>("complete", { filter: trace.filter, text: text || undefined, at: cursor }),
    apply: (filter) => store.set({ filter }),
  });
  box.set(store.state.filter);

  const zone = el("select", { "aria-label": "How times are shown", title: "How times are shown" },
    el("option", { value: "local" }, "local time"), el("option", { value: "utc" }, "UTC"), el("option", { value: "relative" }, "since begin"));
  zone.value = store.state.zone;
  zone.addEventListener("change", () => store.set({ zone: zone.value as Zone }));

  const title = el("span", { class: "brand" }, "Silverpoint");
  const pause = button("Pause", "Stop asking for new records, or go on", () => {
    trace.isPaused = !trace.isPaused;
    showState();
  });
  document.body.append(
    el("header", { class: "top" }, title, tabList, box.element, pause, zone, button("◐", "Dark or light", switchTheme, "button plain"), button("?", "Keys and gestures (?)", showHelp, "button plain")),
    overview.element,
    el("main", { class: "middle" }, TABS.map((tab) => panels[tab]), details.element),
    el("footer", { class: "bottom" }, hovered, state),
  );

  const showTab = () => {
    const { tab } = store.state;
    TABS.forEach((one, at) => {
      panels[one].hidden = one !== tab;
      tabs[at]!.setAttribute("aria-selected", String(one === tab));
      tabs[at]!.tabIndex = one === tab ? 0 : -1;
    });
  };

  const showState = () => {
    const { summary, problem } = trace;
    pause.hidden = followButton.hidden = !trace.isLive;
    pause.textContent = trace.isPaused ? "Resume" : "Pause";
    pause.setAttribute("aria-pressed", String(trace.isPaused));
    state.className = problem ? "bad" : "";
    const reading = summary?.progress.state === "reading";
    state.textContent = problem ?? (trace.isPaused ? "paused" : reading ? "reading …" : trace.isLive ? "live" : "");
    document.body.dataset["state"] = problem ? "problem" : (summary?.progress.state ?? "");
    if (summary) {
      title.textContent = summary.title;
      title.title = summary.files.map((file) => file.path).join("\n");
      document.title = `${summary.title} – Silverpoint`;
    }
  };

  let isOpened = false;
  trace.onChange(() => {
    showState();
    if (follows && !trace.isPaused) toNewest();
    if (!isOpened && trace.isKnown) {
      isOpened = true;
      const { record } = store.state;
      if (record) {
        void details.open(record);
        records.reveal(Number(record));
      }
    }
  });

  store.onChange((now, changed) => {
    if (changed.has("tab")) showTab();
    if (changed.has("tracks") && tracks.value.trim() !== now.tracks) tracks.value = now.tracks;
    if (changed.has("zone")) {
      trace.clock.zone = zone.value = now.zone;
      timeline.redraw();
      records.table.redraw();
    }
    if (changed.has("view") && follows && now.view && now.view[1] < trace.whole[1]) follow(false);
    if (changed.has("record") && now.record && isOpened) void details.open(now.record);
    if (changed.has("filter")) void applyFilter(now.filter);
  });

  const applyFilter = async (filter: string) => {
    box.set(filter);
    try {
      // Only a line that is understood replaces the one before.
      await get("trace", { filter });
      if (store.state.filter !== filter) return;
      box.problem(undefined);
      const { row } = details;
      store.set({ record: undefined });
      void trace.follow(filter);
      if (row) void details.locate(row);
    } catch (error) {
      if (error instanceof Refused) box.problem(error.message);
    }
  };

  if (isOffline) {
    document.body.classList.add("offline");
    box.input.disabled = true;
    box.input.placeholder = "Exported: these records, without filters, SQL and a server";
  }
  showTab();
  showState();
  listenToKeys(store, { timeline, records, details, search, box, tracks, follow: () => (store.state.tab === "records" ? records.toggleFollow() : follow(!follows)), toTable, toTimeline });
  // The whole of the trace comes first, so that times and the strip do not depend on a filter of the address.
  void trace.follow("").catch(() => {});
  if (store.state.filter) {
    const { filter } = store.state;
    const wait = setInterval(() => {
      if (!trace.isKnown) return;
      clearInterval(wait);
      void applyFilter(filter);
    }, 50);
  }
}

start();
