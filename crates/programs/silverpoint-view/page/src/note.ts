// Short messages at the bottom of the page, which screen readers read out.

import { el } from "./dom.ts";

let shown: HTMLElement | undefined;
let timer = 0;

export function note(text: string, isBad = false): void {
  shown?.remove();
  clearTimeout(timer);
  shown = el("div", { class: isBad ? "note bad" : "note", role: isBad ? "alert" : "status" }, text);
  document.body.append(shown);
  timer = window.setTimeout(() => shown?.remove(), isBad ? 8000 : 2500);
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    note(`${what} copied`);
  } catch {
    note("The browser does not allow this page to copy", true);
  }
}
