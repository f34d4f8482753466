// The tab of SQL: a query, its rows, and how to end it.

import { get, post, type SqlAnswer } from "./api.ts";
import { chart, seriesOf } from "./chart.ts";
import { button, el, fill } from "./dom.ts";
import { grid } from "./grid.ts";
import { copy } from "./note.ts";
import type { Store } from "./state.ts";
import { count } from "./time.ts";
import type { Trace } from "./trace.ts";

const EXAMPLE = "select category, level, count(*) as records\nfrom records group by category, level order by records desc";
const SHOWN = 1000;
/** Points of a plot. */
const PLOTTED = 2000;
const PAUSE_MS = 120;

export class Sql {
  readonly element: HTMLElement;
  private readonly query: HTMLTextAreaElement;
  private readonly run: HTMLButtonElement;
  private readonly cancel: HTMLButtonElement;
  private readonly state = el("span", { class: "dim", role: "status" });
  private readonly result = el("div", { class: "scrolls" });
  private readonly plot: HTMLButtonElement;
  private isPlot = false;
  private readonly tables = el("div", { class: "tables dim" });
  private job = -1;
  private columns: string[] = [];
  private rows: (string | null)[][] = [];
  private hasTables = false;

  constructor(
    private trace: Trace,
    private store: Store,
  ) {
    this.query = el("textarea", { "aria-label": "SQL query", spellcheck: "false", rows: "5" });
    this.query.value = store.state.sql || EXAMPLE;
    this.query.addEventListener("input", () => store.set({ sql: this.query.value }));
    this.query.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void this.start();
    });
    this.run = button("Run", "Run the query (Ctrl+Enter)", () => void this.start());
    this.cancel = button("Cancel", "End the query", () => void this.end());
    this.cancel.disabled = true;
    this.plot = button("Plot", "Show the rows as a plot, or as a table again", () => {
      this.isPlot = !this.isPlot;
      this.show();
    });
    this.plot.disabled = true;
    this.element = el(
      "div",
      { class: "panel", id: "panel-sql", role: "tabpanel", "aria-labelledby": "tab-sql" },
      el(
        "div",
        { class: "sql" },
        this.query,
        el("div", { class: "line" }, this.run, this.cancel, this.state, el("span", { class: "grow" }), this.plot, button("Copy as CSV", "Copy the rows as CSV", () => this.copyCsv())),
        this.tables,
      ),
      this.result,
    );
    store.onChange((state, changed) => {
      if (changed.has("sql") && state.sql !== this.query.value) this.query.value = state.sql || EXAMPLE;
      if (changed.has("tab") && state.tab === "sql") this.opened();
    });
    trace.onChange(() => {
      if (store.state.tab === "sql") this.opened();
    });
  }

  private get isPossible(): boolean {
    return this.trace.summary?.can.includes("sql") ?? false;
  }

  private opened(): void {
    if (!this.trace.summary) return;
    this.run.disabled = !this.isPossible || !this.cancel.disabled;
    if (!this.isPossible) this.state.textContent = "SQL reads trace files, not running programs: record one (silverpoint attach -o FILE), and open it.";
    else if (!this.hasTables) void this.showTables();
  }

  private async showTables(): Promise<void> {
    this.hasTables = true;
    try {
      const { tables } = await get<{ tables: { name: string; columns: string[] }[] }>("sql/tables");
      fill(this.tables, "Tables: ", tables.slice(0, 60).map(({ name, columns }) => [
        button(name, columns.join(", "), () => this.insert(name), "button link"), " ",
      ]));
    } catch {
      this.hasTables = false;
    }
  }

  private insert(text: string): void {
    const { selectionStart: from, selectionEnd: to } = this.query;
    this.query.setRangeText(text, from, to, "end");
    this.query.focus();
    this.store.set({ sql: this.query.value });
  }

  private async start(): Promise<void> {
    if (!this.isPossible) return;
    this.store.set({ sql: this.query.value });
    this.columns = [];
    this.rows = [];
    fill(this.result);
    this.busy(true);
    this.state.className = "dim";
    this.state.textContent = "running …";
    try {
      const { job } = await post<{ job: number }>("sql", this.query.value);
      this.job = job;
      await this.collect(job);
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error));
    }
    this.busy(false);
  }

  private async collect(job: number): Promise<void> {
    for (;;) {
      const answer = await get<SqlAnswer>("sql", { job, from: this.rows.length });
      if (job !== this.job) return;
      this.columns = answer.columns;
      this.rows.push(...answer.rows);
      const text = `${count(answer.total)} rows in ${(answer.milliseconds / 1000).toFixed(2)} s`;
      if (answer.state === "failed") {
        this.fail(answer.error ?? "failed");
        return;
      }
      if (answer.state === "done" && this.rows.length >= answer.total) {
        this.state.textContent = `${text}${answer.cut ? "; there are more, which are not fetched" : ""}`;
        this.show();
        return;
      }
      this.state.textContent = `running … ${text}`;
      if (!answer.rows.length) await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    }
  }

  private show(): void {
    const series = seriesOf(this.columns, this.rows, PLOTTED);
    this.plot.disabled = !series;
    this.plot.setAttribute("aria-pressed", String(this.isPlot && series !== undefined));
    if (series && this.isPlot) {
      fill(this.result, chart(series), this.rows.length > PLOTTED && el("p", { class: "empty" }, `The first ${count(PLOTTED)} of ${count(this.rows.length)} rows are plotted.`));
      return;
    }
    const shown = this.rows.slice(0, SHOWN);
    const isNumber = this.columns.map((_, at) => shown.some((row) => row[at] !== null) && shown.every((row) => row[at] === null || /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(row[at] ?? "")));
    fill(
      this.result,
      grid(
        "Result",
        this.columns.map((title, at) => ({
          title,
          isNumber: isNumber[at]!,
          show: (row: (string | null)[]) => (row[at] === null ? el("span", { class: "dim" }, "null") : el("span", { class: "mono" }, row[at])),
          key: (row: (string | null)[]) => (isNumber[at] ? Number(row[at] ?? -Infinity) : (row[at] ?? "")),
        })),
        shown,
      ),
      this.rows.length > SHOWN && el("p", { class: "empty" }, `The first ${count(SHOWN)} of ${count(this.rows.length)} rows are shown; a copy has all.`),
    );
  }

  private fail(text: string): void {
    this.state.className = "bad";
    this.state.textContent = text;
  }

  private busy(isBusy: boolean): void {
    this.run.disabled = isBusy;
    this.cancel.disabled = !isBusy;
  }

  private async end(): Promise<void> {
    try {
      await post("sql/cancel");
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error));
    }
  }

  private copyCsv(): void {
    const cell = (text: string | null) => (text === null ? "" : /[",\n\r]/.test(text) || text === "" ? `"${text.replaceAll('"', '""')}"` : text);
    void copy([this.columns, ...this.rows].map((row) => row.map(cell).join(",")).join("\n"), `${count(this.rows.length)} rows`);
  }
}
