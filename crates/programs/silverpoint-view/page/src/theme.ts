// Dark and light: as the system says, or as the reader has chosen. Canvases ask here for their colours.

export interface Colours {
  back: string;
  panel: string;
  line: string;
  strong: string;
  text: string;
  dim: string;
  accent: string;
  shade: string;
  /** By number of the level, trace to fatal. */
  levels: readonly string[];
  /** Of spans, by site. */
  spans: readonly string[];
  spanText: string;
  loss: string;
  stall: string;
}

export const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

const listeners: (() => void)[] = [];
let current: Colours | undefined;

const KEY = "silverpoint-theme";

/** A page from the disk may have none. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function startTheme(): void {
  const kept = storage()?.getItem(KEY);
  if (kept === "dark" || kept === "light") document.documentElement.dataset["theme"] = kept;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

export function switchTheme(): void {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset["theme"] = theme;
  storage()?.setItem(KEY, theme);
  changed();
}

export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

function changed(): void {
  current = undefined;
  for (const listener of listeners) listener();
}

/** The colours of the style sheet, and those of spans. */
export function colours(): Colours {
  if (current) return current;
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const dark = isDark();
  current = {
    back: read("back"),
    panel: read("panel"),
    line: read("line"),
    strong: read("strong"),
    text: read("text"),
    dim: read("dim"),
    accent: read("accent"),
    shade: read("shade"),
    levels: LEVELS.map((level) => read(level)),
    spans: HUES.map(([hue, chroma]) => (dark ? `hsl(${hue} ${chroma}% 38%)` : `hsl(${hue} ${chroma + 14}% 74%)`)),
    spanText: dark ? "#f2f4f7" : "#15181d",
    loss: read("error"),
    stall: read("warn"),
  };
  return current;
}

/** Hues that differ from their neighbours, none of them the red of errors. */
const HUES: readonly [number, number][] = [
  [212, 40], [160, 32], [268, 30], [38, 42], [190, 38], [320, 26], [96, 28], [232, 36],
  [24, 40], [174, 34], [290, 26], [62, 34], [202, 30], [142, 28], [250, 34], [340, 26],
];
