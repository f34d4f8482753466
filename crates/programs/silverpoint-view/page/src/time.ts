// Times as text. A time is a number of nanoseconds since the beginning of the trace, which a double holds exactly for 104 days.

export type Zone = "relative" | "local" | "utc";

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** `1.234 ms`, `2 min 3.0 s`. */
export function duration(nanoseconds: number, digits = 3): string {
  const sign = nanoseconds < 0 ? "−" : "";
  const value = Math.abs(nanoseconds);
  if (value >= 3600e9) {
    const minutes = Math.floor(value / 60e9);
    return `${sign}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  if (value >= 60e9) return `${sign}${Math.floor(value / 60e9)} min ${((value % 60e9) / 1e9).toFixed(1)} s`;
  for (const [unit, name] of UNITS) {
    if (value >= unit) {
      const scaled = value / unit;
      const places = unit === 1 ? 0 : Math.max(0, digits - Math.floor(Math.log10(scaled)) - 1);
      return `${sign}${scaled.toFixed(places)} ${name}`;
    }
  }
  return "0 ns";
}

/** How many digits after the point of a second a step of a scale needs. */
export function digitsOf(step: number): number {
  for (let digits = 0; digits < 9; digits++) if (step >= 10 ** (9 - digits) * 0.999) return digits;
  return 9;
}

function pad(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}

/** Times of one trace, which begins at some nanosecond of Unix time. */
export class Clock {
  zone: Zone = "local";

  constructor(private beginNs: bigint) {}

  /** Nanoseconds of Unix time. */
  wall(at: number): bigint {
    return this.beginNs + BigInt(Math.round(at));
  }

  /** Nanoseconds since the beginning of the trace. */
  relative(wall: bigint): number {
    return Number(wall - this.beginNs);
  }

  /** A time of day, or a time since the beginning. */
  text(at: number, digits = 9): string {
    if (this.zone === "relative") return this.since(at, digits);
    const [date, fraction] = this.parts(at);
    const [hours, minutes, seconds] =
      this.zone === "utc"
        ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
        : [date.getHours(), date.getMinutes(), date.getSeconds()];
    return `${pad(hours)}:${pad(minutes)}:${pad(seconds)}${digits ? `.${fraction.slice(0, digits)}` : ""}`;
  }

  /** Date, time and zone. */
  full(at: number): string {
    const [date] = this.parts(at);
    const utc = this.zone === "utc";
    const day = utc
      ? `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`
      : `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
    if (this.zone === "relative") return `${this.since(at, 9)} since the beginning`;
    return `${day} ${this.text(at)} ${utc ? "UTC" : this.offset(date)}`;
  }

  private offset(date: Date): string {
    const minutes = -date.getTimezoneOffset();
    return `${minutes < 0 ? "−" : "+"}${pad(Math.floor(Math.abs(minutes) / 60))}:${pad(Math.abs(minutes) % 60)}`;
  }

  private parts(at: number): [Date, string] {
    const wall = this.wall(at);
    const rest = ((wall % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
    return [new Date(Number((wall - rest) / 1_000_000n)), pad(Number(rest), 9)];
  }

  private since(at: number, digits: number): string {
    const sign = at < 0 ? "−" : "";
    const value = Math.abs(Math.round(at));
    const seconds = Math.floor(value / 1e9);
    const fraction = digits ? `.${pad(value % 1e9, 9).slice(0, digits)}` : "";
    if (seconds < 60) return `${sign}${seconds}${fraction}`;
    if (seconds < 3600) return `${sign}${Math.floor(seconds / 60)}:${pad(seconds % 60)}${fraction}`;
    return `${sign}${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}${fraction}`;
  }
}

/** A round step of a scale, so that marks are at least `least` apart. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  if (power >= 1e10) {
    // Minutes and hours, not tens of seconds.
    for (const seconds of [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400]) {
      if (seconds * 1e9 >= least) return seconds * 1e9;
    }
  }
  for (const factor of [1, 2, 5]) if (power * factor >= least) return power * factor;
  return power * 10;
}

/** 1,234,567. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}

/** 1.2 M. */
export function shortCount(value: number): string {
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (value >= unit) return `${(value / unit).toFixed(value >= 100 * unit ? 0 : 1)} ${name}`;
  }
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

/** 1.5 MiB. */
export function bytes(value: number): string {
  for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const) {
    if (value >= unit) return `${(value / unit).toFixed(1)} ${name}`;
  }
  return `${value} B`;
}
