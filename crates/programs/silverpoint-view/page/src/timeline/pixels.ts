// A picture as an array of pixels. A timeline has tens of thousands of rectangles: written into memory they take a tenth
// of the time that as many calls of a canvas take, with a graphics card or without.

export class Pixels {
  private image: ImageData | undefined;
  private words = new Uint32Array(0);
  private wide = 0;
  private high = 0;

  /** Begins a picture of one colour. */
  begin(context: CanvasRenderingContext2D, colour: number): void {
    const { width, height } = context.canvas;
    if (!this.image || this.wide !== width || this.high !== height) {
      this.image = context.createImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
      [this.wide, this.high] = [width, height];
    }
    this.words.fill(colour);
  }

  /** From and to in pixels of the screen; what lies outside is left out. */
  fill(left: number, top: number, right: number, bottom: number, colour: number): void {
    const from = left < 0 ? 0 : left;
    const to = right > this.wide ? this.wide : right;
    const last = bottom > this.high ? this.high : bottom;
    if (to <= from) return;
    for (let y = top < 0 ? 0 : top; y < last; y++) this.words.fill(colour, y * this.wide + from, y * this.wide + to);
  }

  end(context: CanvasRenderingContext2D): void {
    if (this.image) context.putImageData(this.image, 0, 0);
  }
}

const mixers = new Map<string, (colour: string) => number>();
let brush: OffscreenCanvasRenderingContext2D | undefined;

/** Colours of a style sheet as pixels, laid over another colour. */
export function mixer(over: string, alpha = 1): (colour: string) => number {
  const key = `${over} ${alpha}`;
  let mix = mixers.get(key);
  if (!mix) {
    const made = new Map<string, number>();
    mix = (colour) => {
      let word = made.get(colour);
      if (word === undefined) made.set(colour, (word = laid(colour, over, alpha)));
      return word;
    };
    mixers.set(key, mix);
  }
  return mix;
}

function laid(colour: string, over: string, alpha: number): number {
  brush ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })!;
  brush.globalAlpha = 1;
  brush.fillStyle = over;
  brush.fillRect(0, 0, 1, 1);
  brush.globalAlpha = alpha;
  brush.fillStyle = colour;
  brush.fillRect(0, 0, 1, 1);
  return new Uint32Array(brush.getImageData(0, 0, 1, 1).data.buffer)[0]!;
}
