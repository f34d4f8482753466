// Rows of the table by number, as the server gives them: fetched in chunks around what is seen, the least used are forgotten.

import { get, isAborted, type RecordAnswer, type Row, type Rows } from "../api.ts";
import type { Trace } from "../trace.ts";

const CHUNK = 100;
const KEPT_CHUNKS = 80;
const KEPT_RECORDS = 4000;
/** Records whose arguments are asked for at the same time. */
const AT_ONCE = 6;

export class RowCache {
  /** How many records the filter has shown so far. */
  total = 0;
  private chunks = new Map<number, Row[]>();
  private records = new Map<string, RecordAnswer | undefined>();
  private running = new AbortController();
  private loading = new Set<number>();
  private asking = 0;

  constructor(
    private trace: Trace,
    private changed: () => void,
    private failed: (text: string) => void,
  ) {}

  clear(): void {
    this.running.abort();
    this.running = new AbortController();
    this.chunks.clear();
    this.records.clear();
    this.loading.clear();
    this.asking = 0;
    this.total = 0;
  }

  row(number: number): Row | undefined {
    return this.chunks.get(Math.floor(number / CHUNK))?.[number % CHUNK];
  }

  /** Asks for the rows that are missing. */
  want(from: number, to: number): void {
    const end = Math.min(to, this.total);
    for (let chunk = Math.floor(from / CHUNK); chunk * CHUNK < end; chunk++) {
      const kept = this.chunks.get(chunk);
      const full = Math.min(CHUNK, this.total - chunk * CHUNK);
      if (kept) {
        // The youngest use is at the end.
        this.chunks.delete(chunk);
        this.chunks.set(chunk, kept);
      }
      if ((kept?.length ?? 0) < full && !this.loading.has(chunk) && this.loading.size < 4) void this.load(chunk);
    }
  }

  private async load(chunk: number): Promise<void> {
    this.loading.add(chunk);
    const { signal } = this.running;
    try {
      const rows = this.chunks.get(chunk)?.slice() ?? [];
      const full = Math.min(CHUNK, this.total - chunk * CHUNK);
      while (rows.length < full) {
        const answer = await this.ask({ from: chunk * CHUNK + rows.length, count: full - rows.length }, signal);
        if (!answer.rows.length) break;
        rows.push(...answer.rows);
      }
      this.chunks.set(chunk, rows);
      while (this.chunks.size > KEPT_CHUNKS) this.chunks.delete(this.chunks.keys().next().value!);
    } catch (error) {
      if (isAborted(error)) return;
      this.failed(error instanceof Error ? error.message : String(error));
    }
    this.loading.delete(chunk);
    this.changed();
  }

  async ask(which: { from?: number; at?: bigint; last?: number; count: number }, signal = this.running.signal): Promise<Rows> {
    const answer = await get<Rows>("records", { filter: this.trace.filter, ...which }, signal);
    this.total = Math.max(this.total, Number(answer.total));
    return answer;
  }

  /** The number of the first record at or after a time. */
  async numberAt(at: number): Promise<number> {
    const answer = await this.ask({ at: this.trace.base + BigInt(Math.round(at)), count: 1 });
    return Number(answer.from);
  }

  /** A record with its arguments, if it is known; else it is asked for. */
  record(number: string): RecordAnswer | undefined {
    const found = this.records.get(number);
    if (!found && !this.records.has(number) && this.asking < AT_ONCE) void this.loadRecord(number);
    return found;
  }

  private async loadRecord(number: string): Promise<void> {
    this.asking++;
    this.records.set(number, undefined);
    const { signal } = this.running;
    try {
      this.records.set(number, await get<RecordAnswer>("record", { filter: this.trace.filter, number }, signal));
      while (this.records.size > KEPT_RECORDS) this.records.delete(this.records.keys().next().value!);
    } catch (error) {
      if (isAborted(error)) return;
    }
    this.asking--;
    this.changed();
  }

  /** Rows of a range, for copies. */
  async all(from: number, to: number): Promise<Row[]> {
    const rows: Row[] = [];
    while (from + rows.length < to) {
      const answer = await this.ask({ from: from + rows.length, count: Math.min(500, to - from - rows.length) });
      if (!answer.rows.length) break;
      rows.push(...answer.rows);
    }
    return rows;
  }
}
