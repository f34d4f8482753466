// The table: a window on any number of rows, with a scrollbar of its own. (An element cannot be as high as a hundred million rows.)

import type { Row } from "../api.ts";
import { el, fill, oncePerFrame } from "../dom.ts";
import type { Range, Store } from "../state.ts";
import { LEVELS } from "../theme.ts";
import { count } from "../time.ts";
import type { Trace } from "../trace.ts";
import { textAt } from "../tree.ts";
import { columnsOf, isArgument, type Column } from "./columns.ts";
import type { RowCache } from "./rows.ts";

const ROW_HEIGHT = 20;
const LEAST_THUMB = 24;
const LEAST_WIDTH = 36;

export class Table {
  readonly element: HTMLElement;
  private readonly head: HTMLElement;
  private readonly body: HTMLElement;
  private readonly bar: HTMLElement;
  private readonly thumb: HTMLElement;
  private readonly empty: HTMLElement;
  private columns: Column[] = [];
  private widths = new Map<string, number>();
  /** The first row in sight; a fraction of a row is scrolled away. */
  private top = 0;
  /** Rows that are selected: where the selection began, and where it ends. */
  anchor = -1;
  focus = -1;
  /** Called when somebody scrolls by hand. */
  onScroll: () => void = () => {};
  /** Called with the number of a row that was chosen; the row may still be under way. */
  onPick: (number: number) => void = () => {};
  /** Called with a row that was clicked twice. */
  onOpen: (row: Row) => void = () => {};
  readonly redraw = oncePerFrame(() => this.draw());

  constructor(
    private rows: RowCache,
    private trace: Trace,
    private store: Store,
  ) {
    this.head = el("div", { class: "thead", role: "row" });
    this.body = el("div", { class: "rows", role: "rowgroup" });
    this.thumb = el("div", { class: "thumb" });
    this.bar = el("div", { class: "scroll", "aria-hidden": "true" }, this.thumb);
    this.empty = el("div", { class: "empty", hidden: true });
    this.element = el(
      "div",
      { class: "table", role: "grid", tabindex: "0", "aria-label": "Records", "aria-multiselectable": "true" },
      this.head,
      this.body,
      this.empty,
    );
    this.element.append(this.bar);
    this.setColumns();
    this.listen();
    new ResizeObserver(this.redraw).observe(this.element);
  }

  setColumns(): void {
    this.columns = columnsOf(this.store.state.columns);
    fill(
      this.head,
      this.columns.map((column) => {
        const grip = el("span", { class: "grip", "aria-hidden": "true" });
        const cell = el("div", { class: column.isWide ? "cell wide" : "cell", role: "columnheader" }, column.title, grip);
        this.resizable(column, cell, grip);
        return cell;
      }),
    );
    this.redraw();
  }

  private width(column: Column): number {
    return this.widths.get(column.key) ?? column.width;
  }

  private resizable(column: Column, cell: HTMLElement, grip: HTMLElement): void {
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      const [start, before] = [event.clientX, cell.offsetWidth];
      const move = (now: PointerEvent) => {
        this.widths.set(column.key, Math.max(LEAST_WIDTH, before + now.clientX - start));
        this.redraw();
      };
      grip.addEventListener("pointermove", move);
      grip.addEventListener("lostpointercapture", () => grip.removeEventListener("pointermove", move), { once: true });
    });
  }

  private get height(): number {
    return Math.max(1, this.body.clientHeight / ROW_HEIGHT);
  }

  private get last(): number {
    return Math.max(0, this.rows.total - Math.floor(this.height));
  }

  get isAtEnd(): boolean {
    return this.top >= this.last - 0.5;
  }

  get first(): number {
    return Math.floor(this.top);
  }

  scrollTo(row: number): void {
    this.top = Math.max(0, Math.min(row, this.last));
    this.redraw();
  }

  toEnd(): void {
    this.scrollTo(this.last);
  }

  /** Brings a row into sight. */
  reveal(row: number): void {
    if (row < this.top || row >= this.top + Math.floor(this.height)) this.scrollTo(row - Math.floor(this.height / 3));
    this.redraw();
  }

  select(row: number, extend = false): void {
    this.focus = row;
    if (!extend || this.anchor < 0) this.anchor = row;
    this.redraw();
  }

  /** Selected rows, the end excluded. */
  get selection(): [number, number] {
    return [Math.min(this.anchor, this.focus), Math.max(this.anchor, this.focus) + 1];
  }

  private draw(): void {
    if (!this.body.clientHeight) return;
    const total = this.rows.total;
    this.top = Math.max(0, Math.min(this.top, this.last));
    const first = Math.floor(this.top);
    const many = Math.min(total - first, Math.ceil(this.height) + 1);
    this.rows.want(Math.max(0, first - 30), first + many + 30);
    this.element.setAttribute("aria-rowcount", String(total));
    const [from, to] = this.selection;
    const list: HTMLElement[] = [];
    for (let number = first; number < first + many; number++) list.push(this.line(number, from <= number && number < to));
    this.body.replaceChildren(...list);
    if (this.focus >= 0) this.element.setAttribute("aria-activedescendant", `row-${this.focus}`);
    this.sizeHead();
    this.drawBar(total);
    const isEmpty = total === 0;
    this.empty.hidden = !isEmpty;
    const isReading = this.trace.progress?.state === "reading" || !this.trace.progress;
    if (isEmpty) this.empty.textContent = isReading ? "Reading …" : this.trace.filter ? "No record satisfies the filter." : "There is no record yet.";
  }

  private sizeHead(): void {
    this.columns.forEach((column, at) => this.size(this.head.children[at] as HTMLElement, column));
  }

  private size(cell: HTMLElement, column: Column): void {
    const width = `${this.width(column)}px`;
    if (column.isWide) cell.style.flexBasis = width;
    else cell.style.width = width;
  }

  private line(number: number, isSelected: boolean): HTMLElement {
    const row = this.rows.row(number);
    const line = el("div", { class: row ? styleOf(row) : "row", role: "row", id: `row-${number}`, "aria-rowindex": String(number + 1), "aria-selected": String(isSelected) });
    line.style.top = `${(number - this.top) * ROW_HEIGHT}px`;
    line.dataset["number"] = String(number);
    if (!row) {
      line.append(el("div", { class: "cell dim", role: "gridcell" }, "…"));
      return line;
    }
    const { range } = this.store.state;
    if (range && isWithin(this.trace.clock.relative(BigInt(row.time)), range)) line.classList.add("inside");
    const record = this.columns.some(isArgument) ? this.rows.record(row.number) : undefined;
    for (const column of this.columns) {
      const text = isArgument(column)
        ? record ? (textAt(record.arguments, column.key) ?? textAt(record.fields, column.key) ?? "") : ""
        : column.text(row, this.trace);
      const cell = el("div", { class: column.isWide ? "cell wide" : "cell", role: "gridcell" }, text);
      if (column.key === "@level") cell.classList.add(`l${row.level}`);
      else if (column.key !== "@message" && !isArgument(column)) cell.classList.add("dim");
      this.size(cell, column);
      line.append(cell);
    }
    return line;
  }

  private drawBar(total: number): void {
    const space = this.bar.clientHeight;
    const share = Math.min(1, this.height / Math.max(1, total));
    const size = Math.max(LEAST_THUMB, space * share);
    this.bar.hidden = share >= 1;
    this.thumb.style.height = `${size}px`;
    this.thumb.style.top = `${(space - size) * (this.last ? this.top / this.last : 0)}px`;
    this.bar.title = `${count(this.first + 1)} of ${count(total)}`;
    // It stays at the right edge while the columns scroll sideways.
    this.bar.style.right = `${-this.element.scrollLeft}px`;
  }

  private listen(): void {
    const { element, body, bar } = this;
    element.addEventListener("scroll", this.redraw);
    body.addEventListener(
      "wheel",
      (event) => {
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
        event.preventDefault();
        const rows = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY : event.deltaY / ROW_HEIGHT;
        this.scrollTo(this.top + rows);
        this.onScroll();
      },
      { passive: false },
    );
    const numberOf = (event: Event): number => {
      const line = (event.target as Element).closest<HTMLElement>("[data-number]");
      return line ? Number(line.dataset["number"]) : -1;
    };
    body.addEventListener("click", (event) => {
      const number = numberOf(event);
      if (number < 0) return;
      this.select(number, event.shiftKey);
      this.onPick(number);
    });
    body.addEventListener("dblclick", (event) => {
      const row = this.rows.row(numberOf(event));
      if (row) this.onOpen(row);
    });
    bar.addEventListener("pointerdown", (event) => {
      bar.setPointerCapture(event.pointerId);
      const box = bar.getBoundingClientRect();
      const inThumb = event.target === this.thumb ? event.clientY - this.thumb.getBoundingClientRect().top : this.thumb.offsetHeight / 2;
      const move = (now: PointerEvent) => {
        const free = Math.max(1, box.height - this.thumb.offsetHeight);
        this.scrollTo(((now.clientY - box.top - inThumb) / free) * this.last);
        this.onScroll();
      };
      move(event);
      bar.addEventListener("pointermove", move);
      bar.addEventListener("lostpointercapture", () => bar.removeEventListener("pointermove", move), { once: true });
    });
    this.touch();
    element.addEventListener("keydown", (event) => this.key(event));
  }

  private touch(): void {
    let last: number | undefined;
    this.body.addEventListener("touchstart", (event) => (last = event.touches[0]?.clientY), { passive: true });
    this.body.addEventListener("touchmove", (event) => {
      const now = event.touches[0]?.clientY;
      if (now === undefined || last === undefined) return;
      this.scrollTo(this.top + (last - now) / ROW_HEIGHT);
      this.onScroll();
      last = now;
    }, { passive: true });
  }

  /** Moves the selection by rows. */
  move(by: number, extend = false): void {
    const from = this.focus < 0 ? this.first - Math.sign(by) : this.focus;
    const to = Math.max(0, Math.min(this.rows.total - 1, from + by));
    this.select(to, extend);
    this.reveal(to);
    this.onScroll();
    if (to < this.rows.total && !extend) this.onPick(to);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.height) - 1);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step !== undefined) this.move(Number.isFinite(step) ? step : Math.sign(step) * this.rows.total, event.shiftKey);
    else if (event.key === "Enter" && this.rows.row(this.focus)) this.onOpen(this.rows.row(this.focus)!);
    else return;
    event.preventDefault();
  }
}

function isWithin(at: number, [from, to]: Range): boolean {
  return at >= from && at <= to;
}

function styleOf(row: Row): string {
  if (row.kind === "loss" || row.kind === "stall") return "row rloss";
  return row.level >= 3 ? `row r${Math.min(row.level, LEVELS.length - 1)}` : "row";
}
