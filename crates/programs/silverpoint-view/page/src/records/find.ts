// The search of the table: records whose text contains another one, over all records of the filter, with progress.

import { get, isAborted, type Matches } from "../api.ts";
import { button, el } from "../dom.ts";
import { count } from "../time.ts";
import type { Trace } from "../trace.ts";

const PAUSE_MS = 150;

export class Find {
  readonly element: HTMLElement;
  private readonly input = el("input", { type: "search", placeholder: "Find in the text", "aria-label": "Find in the text of all records", spellcheck: "false" });
  private readonly state = el("span", { class: "dim", role: "status" });
  private readonly end: HTMLButtonElement;
  private found: Matches | undefined;
  /** Of the match that is shown. */
  private index = 0;
  private askedFor = "";
  private running: AbortController | undefined;

  constructor(
    private trace: Trace,
    /** The record that is selected; below 0: none. */
    private at: () => number,
    private show: (number: number) => void,
  ) {
    this.end = button("Cancel", "End the search", () => this.cancel(), "button small");
    this.end.hidden = true;
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void this.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") this.cancel();
    });
    this.element = el(
      "div",
      { class: "search needs-server", role: "search" },
      this.input,
      button("‹", "Previous record with this text", () => void this.step(-1), "button small"),
      button("›", "Next record with this text", () => void this.step(1), "button small"),
      this.end,
      this.state,
    );
  }

  private cancel(): void {
    this.running?.abort();
    this.end.hidden = true;
    this.askedFor = "";
    this.found = undefined;
    this.state.textContent = "";
  }

  /** The next match after the selected record, or the one before; begins a search if need be. */
  private async step(by: 1 | -1): Promise<void> {
    const text = this.input.value;
    if (!text) {
      this.input.focus();
      return;
    }
    const key = JSON.stringify([this.trace.filter, text]);
    if (key !== this.askedFor) {
      this.cancel();
      this.askedFor = key;
      this.running = new AbortController();
      await this.ask(text, by, this.running.signal);
    } else this.jump(by);
  }

  private async ask(text: string, by: 1 | -1, signal: AbortSignal): Promise<void> {
    this.end.hidden = false;
    let isShown = false;
    try {
      for (;;) {
        this.found = await get<Matches>("search", { filter: this.trace.filter, text }, signal);
        const { state, fraction } = this.found.progress;
        isShown ||= this.jump(by);
        if (state === "finished") break;
        const part = fraction === null ? "" : ` · ${Math.floor(fraction * 100)} %`;
        this.state.textContent = `${count(this.found.count)} so far${part}`;
        await new Promise((resume) => setTimeout(resume, PAUSE_MS));
        signal.throwIfAborted();
      }
      this.tell();
    } catch (error) {
      if (isAborted(error)) return;
      this.askedFor = "";
      this.state.textContent = error instanceof Error ? error.message : String(error);
    }
    this.end.hidden = true;
  }

  private jump(by: 1 | -1): boolean {
    const numbers = this.found?.numbers.map(Number) ?? [];
    if (!numbers.length) return false;
    const at = this.at();
    let index = by > 0 ? numbers.findIndex((number) => number > at) : numbers.findLastIndex((number) => number < at);
    if (index < 0) index = by > 0 ? 0 : numbers.length - 1;
    this.index = index;
    this.show(numbers[index]!);
    this.tell();
    return true;
  }

  private tell(): void {
    const { count: all, numbers } = this.found!;
    const more = all > numbers.length ? `; the first ${count(numbers.length)} can be shown` : "";
    this.state.textContent = all ? `${count(this.index + 1)} of ${count(all)}${more}` : "no record has it";
  }
}
