// Draws the timeline: the ruler, names, rectangles, values and marks. It asks for nothing and keeps nothing.

import { colours, type Colours } from "../theme.ts";
import { digitsOf, duration } from "../time.ts";
import { NAMES, ROW, SCALE, type Placed } from "./layout.ts";
import { mixer, Pixels } from "./pixels.ts";
import { plot } from "./plot.ts";
import { fillTrack, fillUnread, frameTrack, writeTrack } from "./rectangles.ts";
import { BOLD, CHARACTER, cut, FONT, type Scene } from "./scene.ts";

const pixels = new Pixels();

export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  const theme = colours();
  const { scale, height } = scene;
  const right = scale.left + scale.width;
  const ratio = context.canvas.width / Math.max(1, context.canvas.clientWidth);
  const marks = scale.marks(110);
  const seen = visible(scene);
  // First the rectangles of all tracks, as one picture.
  const mix = mixer(theme.back);
  pixels.begin(context, mix(theme.back));
  ground(scene, theme, marks.times, ratio);
  const noted = seen.map((placed) => {
    const spans = scene.spans(placed.track.id);
    fillUnread(pixels, scene, theme, placed, ratio);
    return spans ? fillTrack(pixels, scene, theme, placed, spans, ratio) : [];
  });
  pixels.end(context);

  context.textBaseline = "middle";
  context.save();
  context.beginPath();
  context.rect(0, SCALE, right, height - SCALE);
  context.clip();
  seen.forEach((placed, at) => track(context, scene, theme, placed, noted[at]!));
  overlay(context, scene, theme);
  context.restore();

  ruler(context, scene, theme, marks);
  context.fillStyle = theme.line;
  context.fillRect(NAMES - 1, 0, 1, height);
}

function visible({ layout, scroll, height }: Scene): Placed[] {
  return layout.placed.filter(({ top, height: high }) => top + high >= scroll && top <= scroll + height - SCALE);
}

/** The lines of the scale, and what lies before the trace and after it. */
function ground({ scale, whole, height }: Scene, theme: Colours, times: number[], ratio: number): void {
  const [top, bottom] = [0, Math.round(height * ratio)];
  const line = mixer(theme.back, 0.6)(theme.line);
  for (const at of times) {
    const x = Math.round(scale.x(at) * ratio);
    pixels.fill(x, top, x + Math.max(1, Math.round(ratio)), bottom, line);
  }
  const panel = mixer(theme.back)(theme.panel);
  const [left, right] = [Math.round(scale.left * ratio), Math.round((scale.left + scale.width) * ratio)];
  const begin = Math.min(right, Math.round(scale.x(whole[0]) * ratio));
  const end = Math.max(left, Math.round(scale.x(whole[1]) * ratio));
  pixels.fill(left, top, begin, bottom, panel);
  pixels.fill(end, top, right, bottom, panel);
}

function ruler(context: CanvasRenderingContext2D, scene: Scene, theme: Colours, marks: { times: number[]; step: number }): void {
  const { scale, clock } = scene;
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, scale.left + scale.width, SCALE);
  context.fillStyle = theme.line;
  context.fillRect(0, SCALE - 1, scale.left + scale.width, 1);
  context.font = FONT;
  context.fillStyle = theme.dim;
  const digits = digitsOf(marks.step);
  context.save();
  context.beginPath();
  context.rect(scale.left, 0, scale.width, SCALE);
  context.clip();
  for (const at of marks.times) {
    const x = Math.round(scale.x(at));
    context.fillRect(x, SCALE - 7, 1, 6);
    context.fillText(clock.text(at, digits), x + 4, SCALE / 2 - 1);
  }
  if (scene.range) {
    const [from, to] = [scale.x(scene.range[0]), scale.x(scene.range[1])];
    context.fillStyle = theme.accent;
    context.fillRect(from, SCALE - 3, Math.max(1, to - from), 3);
    const text = duration(scene.range[1] - scene.range[0]);
    const wide = context.measureText(text).width + 10;
    const x = Math.max(scale.left + 2, Math.min((from + to - wide) / 2, scale.left + scale.width - wide - 2));
    context.fillRect(x, 3, wide, SCALE - 8);
    context.fillStyle = theme.back;
    context.fillText(text, x + 5, SCALE / 2 - 1);
  }
  context.restore();
  context.fillStyle = theme.dim;
  context.fillText(`${duration(scale.view[1] - scale.view[0])} shown`, 10, SCALE / 2);
}

function track(context: CanvasRenderingContext2D, scene: Scene, theme: Colours, placed: Placed, noted: readonly number[]): void {
  const { scale } = scene;
  const y = Math.round(SCALE + placed.top - scene.scroll);
  const { track } = placed;
  const right = scale.left + scale.width;
  if (track.kind === "process") {
    context.fillStyle = theme.panel;
    context.fillRect(0, y, right, placed.height);
    context.fillStyle = theme.line;
    context.fillRect(0, y, right, 1);
  } else {
    context.save();
    context.beginPath();
    context.rect(scale.left, y, scale.width, placed.height);
    context.clip();
    if (track.kind === "counter") {
      const points = scene.points(track.id);
      if (points) plot(context, scene, theme, placed, points, y);
    } else {
      const spans = scene.spans(track.id);
      if (spans) {
        writeTrack(context, scene, theme, placed, spans, noted);
        frameTrack(context, scene, theme, placed, spans);
      }
    }
    context.restore();
  }
  names(context, theme, placed, y);
}

function names(context: CanvasRenderingContext2D, theme: Colours, placed: Placed, y: number): void {
  const { track } = placed;
  const isProcess = track.kind === "process";
  context.fillStyle = isProcess ? theme.panel : theme.back;
  context.fillRect(0, y + (isProcess ? 1 : 0), NAMES, placed.height);
  if (isProcess) {
    // Open or folded.
    context.fillStyle = theme.dim;
    context.beginPath();
    const [x, middle] = [11, y + placed.height / 2];
    if (placed.isFolded) {
      context.moveTo(x - 2, middle - 4);
      context.lineTo(x + 3, middle);
      context.lineTo(x - 2, middle + 4);
    } else {
      context.moveTo(x - 4, middle - 2);
      context.lineTo(x, middle + 3);
      context.lineTo(x + 4, middle - 2);
    }
    context.fill();
  }
  context.save();
  context.beginPath();
  context.rect(0, y, NAMES - 4, placed.height);
  context.clip();
  if (track.lost) {
    context.fillStyle = theme.loss;
    context.fillRect(0, y, 3, placed.height);
  }
  context.font = isProcess ? BOLD : FONT;
  const middle = y + (isProcess ? placed.height / 2 : Math.min(placed.height, ROW) / 2 + 2);
  const left = 22;
  const note = track.note;
  const noteWidth = note ? note.length * CHARACTER + 8 : 0;
  const name = cut(track.name, NAMES - left - 8 - (track.name.length * CHARACTER + noteWidth < NAMES - left ? noteWidth : 0));
  context.fillStyle = theme.text;
  context.fillText(name, left, middle);
  const end = left + context.measureText(name).width + 6;
  if (note && end + noteWidth < NAMES) {
    context.font = FONT;
    context.fillStyle = theme.dim;
    context.fillText(note, end, middle);
  }
  if (track.kind === "async") {
    context.fillStyle = theme.dim;
    context.fillText("⤳", 8, middle);
  }
  context.restore();
}

function overlay(context: CanvasRenderingContext2D, scene: Scene, theme: Colours): void {
  const { scale, height, range, hover, at } = scene;
  context.save();
  context.beginPath();
  context.rect(scale.left, SCALE, scale.width, height);
  context.clip();
  if (range) {
    const [from, to] = [scale.x(range[0]), scale.x(range[1])];
    context.fillStyle = theme.shade;
    context.fillRect(from, SCALE, to - from, height);
    context.fillStyle = theme.accent;
    context.fillRect(from, SCALE, 1, height);
    context.fillRect(to - 1, SCALE, 1, height);
  }
  if (at !== undefined) {
    context.fillStyle = theme.accent;
    context.fillRect(Math.round(scale.x(at)), SCALE, 1, height);
  }
  if (hover && hover.x > scale.left) {
    context.fillStyle = theme.dim;
    context.globalAlpha = 0.5;
    context.fillRect(Math.round(hover.x), SCALE, 1, height);
  }
  context.restore();
}
