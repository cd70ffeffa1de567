// Draws bars into a buffer of pixels: what it costs is pixels, not slices. A lane's slices are added up by pixel first, so that a pixel that
// holds a thousand of them is as high, or as deep in colour, as they are long.
import { firstEndingAfter, type LaneTile } from "../tiles";
import { mix, rgbOf, wordOf, type Rgb } from "../colors";
import type { Window } from "../types";

const kShades = 16;
const kLeastShade = 0.3;
const kBoxPixels = 1; // from this width on a slice is a box of its own

// The words of a palette by coverage: [color * (kShades + 1) + shade].
export function shadesOf(palette: readonly string[], ground: string): Uint32Array {
  const under = rgbOf(ground);
  const words = new Uint32Array(palette.length * (kShades + 1));
  palette.forEach((hex, color) => {
    for (let shade = 0; shade <= kShades; ++shade)
      words[color * (kShades + 1) + shade] = wordOf(mix(rgbOf(hex), under, kLeastShade + ((1 - kLeastShade) * shade) / kShades));
  });
  return words;
}

export interface Box {
  x: number;
  width: number;
  color: number;
  name: number;
  place: number;
  length: number; // ns of the whole slice, also outside the window; 0 where only buckets tell of it
}

export class Raster {
  image: ImageData;
  private pixels: Uint32Array;
  private cover: Float32Array;
  private most: Float32Array; // of the colour that a pixel has
  private color: Uint8Array;
  private edge: Uint8Array; // 1: a box begins at this pixel
  private word: Uint32Array; // what endLane draws: 0 is nothing
  private faint: Uint32Array;
  private split: Int32Array;

  constructor(readonly width: number, readonly height: number) {
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.cover = new Float32Array(width);
    this.most = new Float32Array(width);
    this.color = new Uint8Array(width);
    this.edge = new Uint8Array(width);
    this.word = new Uint32Array(width);
    this.faint = new Uint32Array(width);
    this.split = new Int32Array(width);
  }

  clear(ground: Rgb): void {
    this.pixels.fill(wordOf(ground));
  }
  column(x: number, color: Rgb): void {
    if (x < 0 || x >= this.width) return;
    const word = wordOf(color);
    for (let at = x; at < this.pixels.length; at += this.width) this.pixels[at] = word;
  }

  beginLane(): void {
    this.cover.fill(0);
    this.most.fill(0);
    this.edge.fill(0);
  }
  // Adds what `tile` has of `window`, of which only `part` is drawn. `boxes` gets the slices that are wide enough for a label.
  add(tile: LaneTile, window: Window, part: Window, boxes: Box[] | null): void {
    const scale = this.width / (window.to - window.from);
    const [left, right] = [Math.max(part.from, window.from), Math.min(part.to, window.to)];
    const first = firstEndingAfter(tile, left);
    if (tile.exact) this.addSlices(tile, first, window.from, left, right, scale, boxes);
    else this.addBuckets(tile, first, window.from, left, right, scale, boxes);
  }
  // The two loops read the tile in place: an object for each entry would be most of a frame's time.
  private addSlices(tile: LaneTile, first: number, zero: number, left: number, right: number, scale: number, boxes: Box[] | null): void {
    const { f64, u32, u8 } = tile;
    for (let i = first; i < tile.entries; ++i) {
      const at = tile.offset + 32 * i;
      const from = tile.from + (f64[at >> 3] as number);
      if (from >= right) break;
      const to = from + (f64[(at >> 3) + 1] as number);
      const x0 = (Math.max(from, left) - zero) * scale;
      const x1 = (Math.min(to, right) - zero) * scale;
      const color = u8[at + 24] as number;
      if ((to - from) * scale >= kBoxPixels) {
        this.box(x0, x1, color, from >= left, u32[(at >> 2) + 5] as number, u32[(at >> 2) + 4] as number, to - from, boxes);
      } else {
        // What lasts less than a pixel still takes part of one, so that it is not overlooked.
        this.spread(x0, Math.max(x1, x0 + 0.02), 1, color);
      }
    }
  }
  private addBuckets(tile: LaneTile, first: number, zero: number, left: number, right: number, scale: number, boxes: Box[] | null): void {
    const { u16, u8, u32 } = tile;
    let [runFrom, runTo, runPlace, runName, runColor] = [0, -1, -1, 0, 0]; // columns of one slice that follow each other
    const endRun = () => {
      if (runTo - runFrom >= kBoxPixels) this.box(runFrom, runTo, runColor, true, runName, runPlace, 0, boxes);
      runTo = -1;
    };
    for (let i = first; i < tile.entries; ++i) {
      const at = tile.offset + 16 * i;
      const from = tile.from + (u16[at >> 1] as number) * tile.width;
      if (from >= right) break;
      const x0 = (Math.max(from, left) - zero) * scale;
      const x1 = (Math.min(from + tile.width, right) - zero) * scale;
      const color = u8[at + 2] as number;
      const whole = u8[at + 3] === 255 && u32[(at >> 2) + 1] === 1;
      const place = u32[(at >> 2) + 2] as number;
      this.spread(x0, x1, (u8[at + 3] as number) / 255, color);
      if (whole && place === runPlace && Math.abs(runTo - x0) < 0.01) {
        runTo = x1;
        continue;
      }
      endRun();
      if (whole) [runFrom, runTo, runPlace, runName, runColor] = [x0, x1, place, u32[(at >> 2) + 3] as number, color];
      else runPlace = -1;
    }
    endRun();
  }
  private box(x0: number, x1: number, color: number, starts: boolean, name: number, place: number, length: number, boxes: Box[] | null): void {
    const from = Math.max(0, Math.round(x0));
    const to = Math.min(this.width, Math.max(from + 1, Math.round(x1)));
    for (let x = from; x < to; ++x) {
      this.cover[x] = 1;
      this.most[x] = 2;
      this.color[x] = color;
      this.edge[x] = 0;
    }
    if (starts && from < this.width && to - from > 3 && !(boxes?.length && boxes[boxes.length - 1]?.place === place)) this.edge[from] = 1;
    if (!boxes) return;
    const last = boxes[boxes.length - 1];
    if (last && last.place === place && last.x + last.width >= from - 1) last.width = to - last.x; // goes on from the tile before
    else boxes.push({ x: from, width: to - from, color, name, place, length });
  }
  private spread(x0: number, x1: number, coverage: number, color: number): void {
    const last = Math.min(this.width, Math.ceil(x1));
    for (let x = Math.max(0, Math.floor(x0)); x < last; ++x) {
      const part = (Math.min(x1, x + 1) - Math.max(x0, x)) * coverage;
      if (!(part > 0)) continue;
      this.cover[x] = Math.min(1, (this.cover[x] ?? 0) + part);
      if (part > (this.most[x] ?? 0)) {
        this.most[x] = part;
        this.color[x] = color;
      }
    }
  }

  // Draws the lane, nothing of it above the line `least`. `bars`: busy time is the height of the bar on a faint ground, rather than the depth of its colour.
  endLane(y: number, height: number, shades: Uint32Array, bars: boolean, least: number): void {
    const [top, bottom] = [Math.max(least, y), Math.min(this.height, y + height)];
    if (bottom <= top) return;
    const { width, pixels, word, faint, split } = this;
    for (let x = 0; x < width; ++x) {
      const cover = this.cover[x] as number;
      const base = (this.color[x] as number) * (kShades + 1);
      // The ground shows where one box ends and the next begins.
      const drawn = cover > 0 && this.edge[x] === 0;
      word[x] = !drawn ? 0 : (shades[base + (bars ? kShades : Math.round(cover * kShades))] as number);
      faint[x] = !drawn ? 0 : (shades[base] as number);
      split[x] = !bars || cover > 0.97 ? y : y + height - Math.max(2, Math.round(cover * height));
    }
    for (let line = top; line < bottom; ++line) {
      const at = line * width;
      for (let x = 0; x < width; ++x) if (word[x] !== 0) pixels[at + x] = (line >= (split[x] as number) ? word[x] : faint[x]) as number;
    }
  }
}
