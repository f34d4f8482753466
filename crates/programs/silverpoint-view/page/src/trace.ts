// The trace as it is known so far, under the filter of the moment: summary, tracks and sites. It asks on while more is being read.

import { get, isAborted, Refused, type Progress, type Site, type Summary, type TrackAnswer } from "./api.ts";
import type { Range } from "./state.ts";
import { Clock } from "./time.ts";

const PAGE = 2000;
/** More tracks and sites than these are left out, and the page says so. */
const MOST_TRACKS = 20_000;
const MOST_SITES = 50_000;

export class Trace {
  filter = "";
  summary: Summary | undefined;
  tracks: TrackAnswer[] = [];
  sites = new Map<number, Site>();
  /** From the first record to the end of the last, of all records. */
  whole: Range = [0, 1];
  /** Whether there is a record. */
  isKnown = false;
  clock = new Clock(0n);
  base = 0n;
  /** Grows with each change of what is known. */
  version = 0;
  problem: string | undefined;
  /** No news are wanted: what stands in the picture stays. */
  isPaused = false;

  private listeners: (() => void)[] = [];
  private running: AbortController | undefined;
  private revision = -1;

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  get progress(): Progress | undefined {
    return this.summary?.progress;
  }

  get isLive(): boolean {
    return this.summary?.live === true || this.progress?.state === "waiting";
  }

  /** Asks for the trace under a filter, until it is read or another one is wanted. */
  async follow(filter: string): Promise<void> {
    this.running?.abort();
    const running = (this.running = new AbortController());
    this.filter = filter;
    this.revision = -1;
    while (!running.signal.aborted) {
      let pause = 200;
      try {
        if (!this.isPaused) {
          await this.ask(running.signal);
          const state = this.progress?.state;
          if (state === "finished") return;
          if (state === "waiting") pause = 500;
        }
      } catch (error) {
        if (isAborted(error)) return;
        this.problem = error instanceof Refused ? error.message : "The server does not answer. If it has ended, start silverpoint view again.";
        this.announced = "";
        this.announce();
        if (error instanceof Refused && error.code !== "busy") return;
        pause = 2000;
      }
      await new Promise((resume) => setTimeout(resume, pause));
    }
  }

  private async ask(signal: AbortSignal): Promise<void> {
    const { filter } = this;
    const summary = await get<Summary>("trace", { filter }, signal);
    if (summary.begin !== null && !this.isKnown) {
      this.base = BigInt(summary.begin);
      const { zone } = this.clock;
      this.clock = new Clock(this.base);
      this.clock.zone = zone;
    }
    if (summary.begin !== null && summary.end !== null) {
      const range: Range = [this.clock.relative(BigInt(summary.begin)), this.clock.relative(BigInt(summary.end))];
      // Without a filter the server knows all of it; what headers promised too much is taken back.
      this.whole = !this.isKnown || filter === "" ? range : [Math.min(this.whole[0], range[0]), Math.max(this.whole[1], range[1])];
      this.isKnown = true;
      if (this.whole[1] <= this.whole[0]) this.whole = [this.whole[0], this.whole[0] + 1000];
    }
    if (summary.revision !== this.revision) {
      const tracks = await pages<TrackAnswer>("tracks", "tracks", filter, MOST_TRACKS, signal);
      const sites = await pages<Site>("sites", "sites", filter, MOST_SITES, signal);
      this.tracks = tracks;
      this.sites = new Map(sites.map((site) => [site.id, site]));
      this.revision = summary.revision;
    }
    this.summary = summary;
    this.problem = summary.progress.problem ?? undefined;
    const { records, state } = summary.progress;
    const news = JSON.stringify([filter, records, state, summary.revision, summary.lost, summary.stalls, this.problem]);
    if (news === this.announced) return;
    this.announced = news;
    this.announce();
  }

  private announced = "";

  private announce(): void {
    this.version++;
    for (const listener of this.listeners) listener();
  }
}

export async function pages<Item>(path: string, name: string, filter: string, most: number, signal: AbortSignal): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await get<{ total: number } & Record<string, Item[]>>(path, { filter, from: items.length, count: PAGE }, signal);
    const found = page[name] ?? [];
    items.push(...found);
    if (!found.length || items.length >= Math.min(page.total, most)) return items;
  }
}
