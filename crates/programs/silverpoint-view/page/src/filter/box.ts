// The box of the filter: completion while it is written, and what is wrong with it.

import type { Completions } from "../api.ts";
import { afterQuiet, el, fill } from "../dom.ts";

export interface BoxOptions {
  complete(text: string, cursor: number): Promise<Completions>;
  apply(text: string): void;
  label: string;
  placeholder: string;
}

export class FilterBox {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private choices: Completions["items"] = [];
  private replaced: [number, number] = [0, 0];
  /** The text that the choices are for. */
  private completed = "";
  private chosen = -1;
  private asked = 0;

  constructor(private options: BoxOptions) {
    this.input = el("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      role: "combobox",
      "aria-expanded": "false",
      "aria-autocomplete": "list",
      "aria-controls": "choices",
      "aria-label": options.label,
      placeholder: options.placeholder,
    });
    this.list = el("div", { class: "choices", id: "choices", role: "listbox", "aria-label": "Completions", hidden: true });
    this.element = el("div", { class: "filter", role: "search" }, this.input, this.list);
    const complete = afterQuiet(60, () => void this.complete());
    this.input.addEventListener("input", complete);
    this.input.addEventListener("focus", () => {
      if (!this.input.value) complete();
    });
    this.input.addEventListener("blur", () => {
      this.close();
      this.options.apply(this.input.value.trim());
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    // The list keeps the cursor in the box.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  set(text: string): void {
    if (this.input.value !== text && document.activeElement !== this.input) this.input.value = text;
    else if (document.activeElement === this.input && this.input.value.trim() !== text) this.input.value = text;
  }

  /** Shows what is wrong with the filter, or nothing. */
  problem(text: string | undefined): void {
    this.element.classList.toggle("wrong", text !== undefined);
    this.input.setAttribute("aria-invalid", String(text !== undefined));
    this.input.title = text ?? "";
    if (text === undefined) return;
    this.choices = [];
    fill(this.list, el("div", { class: "problem", role: "alert" }, text));
    this.list.hidden = document.activeElement !== this.input;
  }

  private async complete(): Promise<void> {
    const number = ++this.asked;
    const text = this.input.value;
    const cursor = this.input.selectionStart ?? text.length;
    try {
      const { from, to, items } = await this.options.complete(text, cursor);
      if (number !== this.asked || document.activeElement !== this.input) return;
      this.completed = text;
      this.replaced = [from, to];
      this.choices = items;
      this.chosen = -1;
      this.show();
    } catch {
      // Without completions the box works as well.
    }
  }

  private show(): void {
    fill(
      this.list,
      this.choices.map((choice, at) =>
        el(
          "div",
          { class: "choice", role: "option", id: `choice-${at}`, "aria-selected": String(at === this.chosen), on: { click: () => this.take(at) } },
          choice.text,
          choice.note && el("span", { class: "dim" }, choice.note),
        ),
      ),
    );
    this.list.hidden = !this.choices.length;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    if (this.chosen >= 0) {
      this.input.setAttribute("aria-activedescendant", `choice-${this.chosen}`);
      this.list.children[this.chosen]?.scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  private close(): void {
    this.asked++;
    this.choices = [];
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }

  private take(at: number): void {
    const choice = this.choices[at];
    // Written on meanwhile: what is offered belongs to another text.
    if (!choice || this.completed !== this.input.value) return;
    const before = this.input.value.slice(0, this.replaced[0]) + choice.text;
    this.input.value = before + this.input.value.slice(this.replaced[1]);
    this.input.setSelectionRange(before.length, before.length);
    this.close();
    this.input.focus();
    void this.complete();
  }

  private key(event: KeyboardEvent): void {
    const isOpen = this.choices.length > 0;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isOpen) {
        void this.complete();
      } else {
        const step = event.key === "ArrowDown" ? 1 : -1;
        this.chosen = (this.chosen + step + this.choices.length + (this.chosen < 0 && step < 0 ? 1 : 0)) % this.choices.length;
        this.show();
      }
    } else if (event.key === "Tab" && isOpen) {
      if (this.completed === this.input.value) this.take(Math.max(0, this.chosen));
      else void this.complete().then(() => this.take(0));
    }
    else if (event.key === "Enter") {
      if (isOpen && this.chosen >= 0) this.take(this.chosen);
      else {
        this.close();
        this.options.apply(this.input.value.trim());
      }
    } else if (event.key === "Escape") {
      if (isOpen || !this.list.hidden) this.close();
      else this.input.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
