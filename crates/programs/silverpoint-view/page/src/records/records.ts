// The tab of the table: its bar, the facets, following live records, copies, and jumps to the timeline.

import { get, type RecordAnswer, type Row } from "../api.ts";
import { button, el } from "../dom.ts";
import { copy, note } from "../note.ts";
import { parse, format } from "../filter/line.ts";
import type { Store } from "../state.ts";
import { LEVELS } from "../theme.ts";
import { count } from "../time.ts";
import type { Trace } from "../trace.ts";
import { toJson } from "../tree.ts";
import { chooseColumns } from "./columns.ts";
import { FacetPanel } from "./facets.ts";
import { Find } from "./find.ts";
import { RowCache } from "./rows.ts";
import { Table } from "./table.ts";

/** More rows are not copied at once. */
const MOST_COPIED = 10_000;
/** So many records are copied with their arguments. */
const MOST_WITH_ARGUMENTS = 200;

export class Records {
  readonly element: HTMLElement;
  readonly table: Table;
  readonly rows: RowCache;
  private readonly facets: FacetPanel;
  private readonly followButton: HTMLButtonElement;
  private readonly newer: HTMLButtonElement;
  private readonly position: HTMLElement;
  private follows = false;
  private seen = 0;
  private filter: string | undefined;

  constructor(
    private trace: Trace,
    private store: Store,
    pick: (number: number) => void,
    open: (row: Row) => void,
  ) {
    this.rows = new RowCache(trace, () => this.table.redraw(), (text) => note(text, true));
    this.table = new Table(this.rows, trace, store);
    this.table.onPick = pick;
    this.table.onOpen = open;
    this.table.onScroll = () => this.scrolled();
    this.facets = new FacetPanel(trace, store);
    this.followButton = button("Follow", "Follow new records (L)", () => this.follow(!this.follows));
    this.newer = button("", "Show the newest records", () => this.follow(true), "button small");
    this.newer.hidden = true;
    this.position = el("span", { class: "dim" });
    this.element = el(
      "div",
      { class: "panel", id: "panel-records", role: "tabpanel", "aria-labelledby": "tab-records" },
      el(
        "div",
        { class: "bar" },
        this.position,
        this.newer,
        new Find(trace, () => this.table.focus, (number) => this.reveal(number)).element,
        el("span", { class: "grow" }),
        this.followButton,
        button("Columns", "Choose columns; any argument can be one", () => chooseColumns(store.state.columns, (columns) => store.set({ columns }))),
        button("Filter to range", "Only records of the selected range", () => this.filterToRange()),
        button("Copy text", "Copy the selected rows as text (C)", () => void this.copyText()),
        button("Copy JSON", "Copy the selected rows as JSON", () => void this.copyJson()),
      ),
      el("div", { class: "records" }, this.facets.element, this.table.element),
    );
    trace.onChange(() => this.refresh());
    store.onChange((state, changed) => {
      if (changed.has("columns")) this.table.setColumns();
      if (changed.has("range") && state.range && state.tab === "records") void this.toTime(state.range[0]);
      if (changed.has("tab")) this.facets.refresh();
      if (changed.has("filter")) this.facets.show();
      this.table.redraw();
    });
  }

  private refresh(): void {
    if (this.filter !== this.trace.filter) {
      this.filter = this.trace.filter;
      this.rows.clear();
      this.table.anchor = this.table.focus = -1;
      this.seen = 0;
      const { range } = this.store.state;
      if (range && this.store.state.tab === "records") void this.toTime(range[0]);
      else this.table.scrollTo(0);
    }
    this.rows.total = Math.max(this.rows.total, Number(this.trace.progress?.records ?? 0));
    this.followButton.hidden = !this.trace.isLive;
    if (this.trace.isLive && this.seen === 0 && !this.store.state.record) this.follow(true);
    if (this.follows) this.table.toEnd();
    this.facets.refresh();
    this.showPosition();
    this.table.redraw();
  }

  private scrolled(): void {
    // Who scrolls up reads: nothing jumps. At the end it follows again.
    if (this.trace.isLive) {
      const atEnd = this.table.isAtEnd;
      if (atEnd !== this.follows) this.follow(atEnd);
    }
    this.showPosition();
  }

  follow(follows: boolean): void {
    this.follows = follows;
    this.followButton.setAttribute("aria-pressed", String(follows));
    this.seen = this.rows.total;
    if (follows) this.table.toEnd();
    this.showPosition();
  }

  toggleFollow(): void {
    if (this.trace.isLive) this.follow(!this.follows);
  }

  private showPosition(): void {
    const { total } = this.rows;
    this.position.textContent = `${count(total)} records`;
    const fresh = total - this.seen;
    this.newer.hidden = this.follows || !this.trace.isLive || fresh <= 0;
    this.newer.textContent = `↓ ${count(fresh)} new`;
    if (this.follows) this.seen = total;
  }

  async toTime(at: number): Promise<void> {
    this.follow(false);
    try {
      const number = await this.rows.numberAt(at);
      this.table.scrollTo(number);
    } catch (error) {
      note(error instanceof Error ? error.message : String(error), true);
    }
  }

  /** Selects a record by its number, and brings it into sight. */
  reveal(number: number): void {
    this.follow(false);
    this.table.select(number);
    this.table.reveal(number);
  }

  private filterToRange(): void {
    const { range, filter } = this.store.state;
    if (!range) {
      note("No range is selected: drag in the strip above, or with Shift in the timeline");
      return;
    }
    const rest = parse(filter).filter(({ name }) => name !== "--since" && name !== "--until");
    const since = { name: "--since", value: rfc3339(this.trace.clock.wall(range[0])) };
    const until = { name: "--until", value: rfc3339(this.trace.clock.wall(range[1])) };
    this.store.set({ filter: format([since, until, ...rest]) });
  }

  private async chosen(): Promise<Row[] | undefined> {
    const [from, to] = this.table.selection;
    if (from < 0) {
      note("No row is selected");
      return undefined;
    }
    if (to - from > MOST_COPIED) {
      note(`At most ${count(MOST_COPIED)} rows are copied; ${count(to - from)} are selected`, true);
      return undefined;
    }
    return this.rows.all(from, to);
  }

  async copyText(): Promise<void> {
    const rows = await this.chosen();
    if (rows) await copy(rows.map((row) => asText(row, this.trace)).join("\n"), `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}`);
  }

  async copyJson(): Promise<void> {
    const rows = await this.chosen();
    if (!rows) return;
    const records = rows.length <= MOST_WITH_ARGUMENTS
      ? await Promise.all(rows.map((row) => get<RecordAnswer>("record", { filter: this.trace.filter, number: row.number }).then(asJson)))
      : rows.map((row) => asJson({ row }));
    await copy(records.map((record) => JSON.stringify(record)).join("\n"), `${count(rows.length)} ${rows.length === 1 ? "record" : "records"}`);
  }
}

export function rfc3339(wall: bigint): string {
  const rest = ((wall % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = new Date(Number((wall - rest) / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(rest).padStart(9, "0")}Z`;
}

export function asText(row: Row, trace: Trace): string {
  const at = trace.clock.text(trace.clock.relative(BigInt(row.time)));
  const level = (LEVELS[row.level] ?? "").toUpperCase().padEnd(5);
  const place = row.file ? `   ${row.file}:${row.line}` : "";
  return `${at} ${level} ${row.process}[${row.pid}] ${row.thread || row.tid} ${row.category}  ${row.message}${place}`;
}

/** A record for other programs. */
export function asJson(record: Pick<RecordAnswer, "row"> & Partial<RecordAnswer>): object {
  const { row } = record;
  const { number: _number, cut: _cut, backtrace: _backtrace, ...rest } = row;
  return {
    ...rest,
    time: rfc3339(BigInt(row.time)),
    level: LEVELS[row.level],
    duration: row.duration === null ? undefined : Number(row.duration),
    args: record.arguments?.length ? toJson(record.arguments) : undefined,
    context: record.fields?.length ? toJson(record.fields) : undefined,
  };
}
