// Typed values with their parts, as a tree that opens on a click. Parts are made when they are opened.

import type { Value } from "./api.ts";
import { button, el } from "./dom.ts";

/** More parts than these are behind a button. */
const FIRST_PARTS = 200;
/** Opened from the beginning, if it has few parts. */
const OPEN_DEPTH = 2;
const OPEN_PARTS = 24;

export interface TreeOptions {
  /** Offered beside a value: a condition for the filter, and a column of the table. */
  onFilter?: (path: string, value: Value) => void;
  onColumn?: (path: string) => void;
}

export function tree(values: readonly Value[], options: TreeOptions = {}, path = "", depth = 0): HTMLElement {
  const holder = el("div", { class: depth ? "" : "tree" });
  let shown = 0;
  const more = () => {
    const end = Math.min(values.length, shown + FIRST_PARTS);
    for (; shown < end; shown++) holder.append(node(values[shown]!, shown, options, path, depth));
    if (shown < values.length) {
      const rest = button(`${values.length - shown} more`, "Show more parts", () => {
        rest.remove();
        more();
      }, "button link");
      holder.append(rest);
    }
  };
  more();
  return holder;
}

/** How filters and columns name a part. */
export function step(path: string, value: Value, position: number): string {
  if (!path) return value.name || `arg${position}`;
  return value.name ? `${path}.${value.name}` : `${path}[${position}]`;
}

function node(value: Value, position: number, options: TreeOptions, above: string, depth: number): HTMLElement {
  const path = step(above, value, position);
  const key = [el("span", { class: "key" }, value.name || String(position)), ": "];
  const type = value.type ? el("span", { class: "dim" }, `${value.type} `) : null;
  if (!value.children) {
    const cut = value.cut ? el("span", { class: "dim" }, ` … ${value.cut} bytes more`) : null;
    return el(
      "div",
      { class: "leaf", title: value.kind },
      key,
      type,
      el("span", { class: styleOf(value) }, value.text),
      value.unit && el("span", { class: "dim" }, ` ${value.unit}`),
      cut,
      options.onFilter && button("=", `Show only records with this ${path}`, () => options.onFilter!(path, value), "button plain small act"),
      options.onColumn && button("+", `Make ${path} a column`, () => options.onColumn!(path), "button plain small act"),
    );
  }
  const { children } = value;
  let body: HTMLElement = el("div");
  let isMade = false;
  const details = el("details", {}, el("summary", { title: value.kind }, key, type, el("span", {}, shorten(value.text)), el("span", { class: "dim" }, ` ${children.length + value.missing}`)), body);
  const make = () => {
    if (isMade || !details.open) return;
    isMade = true;
    const made = tree(children, options, path, depth + 1);
    if (value.missing) made.append(el("div", { class: "leaf dim" }, `${value.missing} more are not shown`));
    body.replaceWith(made);
    body = made;
  };
  details.addEventListener("toggle", make);
  details.open = depth < OPEN_DEPTH && children.length <= OPEN_PARTS;
  make();
  return details;
}

function styleOf({ kind }: Value): string {
  if (kind === "text" || kind === "char" || kind === "bytes") return "text";
  return ["uint", "int", "big", "float", "pointer", "time", "duration"].includes(kind) ? "figure" : "word";
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** The part at a path, as text. */
export function textAt(values: readonly Value[], path: string): string | undefined {
  const names = path.split(/[.[\]]+/).filter((name) => name);
  let list: readonly Value[] | undefined = values;
  let found: Value | undefined;
  for (const name of names) {
    found = list?.find((value) => value.name === name) ?? list?.[Number(/^(?:arg)?(\d+)$/.exec(name)?.[1] ?? -1)];
    if (!found) return undefined;
    list = found.children;
  }
  return found?.text;
}

/** As JSON: numbers stay numbers where no bit is lost. */
export function toJson(values: readonly Value[]): unknown {
  const names = values.map(({ name }) => name);
  if (names.every((name) => name) && new Set(names).size === names.length) {
    return Object.fromEntries(values.map((value) => [value.name, one(value)]));
  }
  return values.map(one);
}

function one(value: Value): unknown {
  if (value.children) return ["list", "set", "tuple"].includes(value.kind) ? value.children.map(one) : toJson(value.children);
  const exact = value.value ?? value.text;
  if (value.kind === "null") return null;
  if (value.kind === "bool") return exact === "true";
  if (value.kind === "int" || value.kind === "uint" || value.kind === "float") {
    const number = Number(exact);
    return Number.isFinite(number) && (value.kind === "float" || Number.isSafeInteger(number)) ? number : exact;
  }
  return value.text;
}
