// The values of a counter, as a staircase.

import type { Colours } from "../theme.ts";
import { shortCount } from "../time.ts";
import type { Placed } from "./layout.ts";
import type { Points } from "./model.ts";
import { FONT, type Scene } from "./scene.ts";

export function plot(context: CanvasRenderingContext2D, scene: Scene, theme: Colours, placed: Placed, points: Points, y: number): void {
  if (!points.length) return;
  const { scale } = scene;
  let [low, high] = [0, -Infinity];
  for (let at = 0; at < points.length; at++) {
    low = Math.min(low, points.min[at]!);
    high = Math.max(high, points.max[at]!);
  }
  if (high <= low) high = low + 1;
  const tall = placed.height - 8;
  const up = (value: number) => y + 4 + tall * (1 - (value - low) / (high - low));
  const colour = theme.accent;
  // A staircase: a value holds until the next.
  context.beginPath();
  context.moveTo(scale.x(points.at[0]!), up(Math.max(low, 0)));
  for (let at = 0; at < points.length; at++) {
    const x = scale.x(points.at[at]!);
    if (at) context.lineTo(x, up(points.last[at - 1]!));
    context.lineTo(x, up(points.max[at]!));
    if (points.min[at] !== points.max[at]) context.lineTo(x, up(points.min[at]!));
    context.lineTo(x, up(points.last[at]!));
  }
  const end = Math.min(scale.left + scale.width, scale.x(Math.min(scene.whole[1], scene.unreadFrom(placed.track.id) ?? Infinity)));
  context.lineTo(end, up(points.last[points.length - 1]!));
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
  context.lineTo(end, up(Math.max(low, 0)));
  context.globalAlpha = 0.16;
  context.fillStyle = colour;
  context.fill();
  context.globalAlpha = 1;
  context.font = FONT;
  context.fillStyle = theme.dim;
  context.fillText(shortCount(high), scale.left + 4, y + 9);
  if (low < 0) context.fillText(shortCount(low), scale.left + 4, y + placed.height - 8);
}
