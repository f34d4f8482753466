// Elements from plain data. Text becomes text nodes: nothing of a trace is ever parsed as HTML.

export type Child = Node | string | number | null | undefined | false | Child[];

export interface Props {
  class?: string;
  /** Handlers, by the name of the event. */
  on?: { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void };
  /** Attributes; `false` and `undefined` leave one out. */
  [attribute: string]: unknown;
}

export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false || value === null) continue;
    if (name === "class") element.className = String(value);
    else if (name === "on") {
      for (const [event, handler] of Object.entries(value as object)) element.addEventListener(event, handler);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces what an element contains. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

/** A button with a label for screen readers and a tip for others. */
export function button(text: Child, label: string, press: () => void, className = "button"): HTMLButtonElement {
  return el("button", { class: className, type: "button", title: label, "aria-label": label, on: { click: press } }, text);
}

/** Runs a function once in the next frame, however often it is asked for. */
export function oncePerFrame(run: () => void): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      run();
    });
  };
}

/** Runs a function when nobody has asked for it for some milliseconds. */
export function afterQuiet(milliseconds: number, run: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(run, milliseconds);
  };
}

/** A canvas that is as sharp as the screen. Gives its size in units of CSS. */
export function sharpen(canvas: HTMLCanvasElement): { width: number; height: number; context: CanvasRenderingContext2D } {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return { width, height, context };
}

/** Offers bytes as a file to save. */
export function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
