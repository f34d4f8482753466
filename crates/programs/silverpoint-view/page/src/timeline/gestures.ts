// What hands do to the timeline: wheel, drag, pinch and keys become moves of the view. Nothing here knows what is drawn.

export interface Surface {
  /** Zooms by a factor, around a place in pixels. */
  zoom(factor: number, x: number): void;
  /** Moves by pixels, of time and of tracks. */
  pan(dx: number, dy: number): void;
  /** Whether a place is beside the time: names there, or the scale above. */
  part(x: number, y: number): "names" | "scale" | "tracks";
  click(x: number, y: number, event: MouseEvent): void;
  doubleClick(x: number, y: number): void;
  hover(x: number, y: number): void;
  leave(): void;
  /** A range is being selected, from one place to another; `done` at its end. */
  select(from: number, to: number, done: boolean): void;
  /** What was being selected is not meant: what was selected before holds. */
  unselect(): void;
}

/** A drag that is shorter is a click. */
const CLICK_PIXELS = 4;

export function listen(canvas: HTMLCanvasElement, surface: Surface): void {
  const place = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const [x, y] = place(event);
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 18 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 300 : 1;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      if (event.shiftKey) surface.pan(dx || dy, 0);
      else if (surface.part(x, y) === "names" && !event.ctrlKey) surface.pan(0, dy);
      else if (Math.abs(dx) > Math.abs(dy)) surface.pan(dx, 0);
      else surface.zoom(Math.exp(Math.max(-240, Math.min(240, dy)) * (event.ctrlKey ? 0.008 : 0.0022)), x);
    },
    { passive: false },
  );

  // Fingers and buttons that are down, by pointer.
  const down = new Map<number, [number, number]>();
  let start: [number, number] = [0, 0];
  let mode: "idle" | "maybe" | "pan" | "select" = "idle";

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = place(event);
    down.set(event.pointerId, at);
    canvas.setPointerCapture(event.pointerId);
    // With a second finger it is no selection but a pinch.
    if (mode === "select" && down.size > 1) surface.unselect();
    start = at;
    mode = down.size === 1 && (event.shiftKey || surface.part(...at) === "scale") ? "select" : "maybe";
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      surface.hover(...at);
      return;
    }
    down.set(event.pointerId, at);
    if (down.size === 2) {
      pinch(event.pointerId, before, at);
      return;
    }
    if (mode === "select") {
      if (Math.abs(at[0] - start[0]) >= CLICK_PIXELS) surface.select(start[0], at[0], false);
      return;
    }
    if (mode === "maybe" && Math.hypot(at[0] - start[0], at[1] - start[1]) < CLICK_PIXELS) return;
    mode = "pan";
    canvas.classList.add("grabbing");
    surface.pan(before[0] - at[0], before[1] - at[1]);
  });

  const pinch = (moved: number, before: [number, number], at: [number, number]) => {
    mode = "pan";
    const other = [...down].find(([pointer]) => pointer !== moved)?.[1];
    if (!other) return;
    const distance = (one: [number, number]) => Math.max(10, Math.abs(one[0] - other[0]));
    surface.zoom(distance(before) / distance(at), (at[0] + other[0]) / 2);
    // The scale concerns time alone.
    const isOfTime = surface.part(...before) === "scale" && surface.part(...other) === "scale";
    surface.pan((before[0] - at[0]) / 2, isOfTime ? 0 : (before[1] - at[1]) / 2);
  };

  const up = (event: PointerEvent) => {
    if (!down.delete(event.pointerId)) return;
    canvas.classList.remove("grabbing");
    if (down.size) return;
    const at = place(event);
    const isClick = Math.hypot(at[0] - start[0], at[1] - start[1]) < CLICK_PIXELS;
    if (event.type === "pointerup") {
      if (mode === "select" && !isClick) surface.select(start[0], at[0], true);
      else if (mode !== "pan" && isClick) surface.click(...at, event);
    } else if (mode === "select") {
      surface.unselect();
    }
    mode = "idle";
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => surface.leave());
  canvas.addEventListener("dblclick", (event) => surface.doubleClick(...place(event)));
}

/** Whether a key belongs to a text that is being written. */
export function isWriting(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input, textarea, select, dialog[open]");
}

/** W, A, S, D: the view moves as long as they are held. */
export function holdKeys(isActive: () => boolean, surface: Surface, centre: () => number, width: () => number): void {
  const held = new Set<string>();
  let last = 0;
  const step = (now: number) => {
    if (!held.size || !isActive()) {
      held.clear();
      last = 0;
      return;
    }
    const seconds = last ? Math.min(0.05, (now - last) / 1000) : 0.016;
    last = now;
    const zoom = (held.has("s") ? 1 : 0) - (held.has("w") ? 1 : 0);
    const pan = (held.has("d") ? 1 : 0) - (held.has("a") ? 1 : 0);
    if (zoom) surface.zoom(Math.exp(zoom * 3 * seconds), centre());
    if (pan) surface.pan(pan * width() * 1.1 * seconds, 0);
    requestAnimationFrame(step);
  };
  window.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!"wasd".includes(key) || key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!isActive() || isWriting(event)) return;
    event.preventDefault();
    if (!held.size) requestAnimationFrame(step);
    held.add(key);
  });
  window.addEventListener("keyup", (event) => held.delete(event.key.toLowerCase()));
  window.addEventListener("blur", () => held.clear());
}
