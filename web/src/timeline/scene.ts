// One picture of the timeline: bars into the raster, then axis, labels, selection and flows above it.
import { colorOf, inkOn, kPalettes, rgbOf, type Theme } from "../colors";
import { layerLabels } from "../flame_layout";
import { levelOf } from "../tiles";
import type { At, Mark, PaletteName, Rank, RowKind, Slice, Window } from "../types";
import { coreName, duration, middleCut, ticks } from "../units";
import { firstBelow, type LaidRow, type Layout } from "./layout";
import { Raster, shadesOf, type Box } from "./raster";
import type { TileStore } from "./store";

export const kAxisHeight = 24;
const kTickPixels = 90;
const kLabelPixels = 30; // four letters
const kBars: ReadonlySet<RowKind> = new Set(["busy", "idle", "stream", "communication", "marks"]);

export interface Inks {
  ground: string;
  ink: string;
  dim: string;
  line: string;
  grid: string;
  accent: string;
}
export const kInks: Record<Theme, Inks> = {
  light: { ground: "#ffffff", ink: "#1b1d20", dim: "#5c636b", line: "#e3e5e8", grid: "#f0f1f3", accent: "#0b62c4" },
  dark: { ground: "#181b1e", ink: "#e6e8ea", dim: "#9aa3ab", line: "#2a2f34", grid: "#20242a", accent: "#6cb2ff" },
};

export interface Scene {
  theme: Theme;
  window: Window;
  layout: Layout;
  scroll: number;
  ranks: readonly Rank[];
  selection: Window | null;
  slice: Slice | null;
  hover: { x: number; y: number } | null;
  marks: readonly Mark[];
  flows: readonly { from: At; to: At }[];
  match: string; // lower case: other names fade
}

export class Painter {
  private raster: Raster | null = null;
  private shades = new Map<string, Uint32Array>();
  private cuts = new Map<string, string>();
  private ratio = 1;

  constructor(private bars: HTMLCanvasElement, private over: HTMLCanvasElement, private store: TileStore) {}

  // CSS pixels of the drawing area, axis included.
  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    for (const canvas of [this.bars, this.over]) {
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(height * ratio));
    }
    this.raster = new Raster(this.bars.width, this.bars.height);
  }
  get width(): number {
    return this.over.width / this.ratio;
  }
  get height(): number {
    return this.over.height / this.ratio;
  }

  draw(scene: Scene): void {
    const raster = this.raster;
    const flat = this.bars.getContext("2d", { alpha: false });
    const over = this.over.getContext("2d");
    if (!raster || !flat || !over) return;
    const inks = kInks[scene.theme];
    over.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    over.clearRect(0, 0, this.width, this.height);
    over.textBaseline = "middle";
    raster.clear(rgbOf(inks.ground));
    const scale = this.width / (scene.window.to - scene.window.from);
    const marks = ticks(scene.window.from, scene.window.to, kTickPixels / scale);
    for (const tick of marks) raster.column(Math.round((tick.at - scene.window.from) * scale * this.ratio), rgbOf(inks.grid));
    over.save();
    over.beginPath();
    over.rect(0, kAxisHeight, this.width, this.height - kAxisHeight);
    over.clip();
    const { rows } = scene.layout;
    for (let i = firstBelow(scene.layout, scene.scroll); i < rows.length; ++i) {
      const row = rows[i] as LaidRow;
      if (row.top > scene.scroll + this.height) break;
      this.drawRow(scene, row, raster, over, inks);
    }
    flat.putImageData(raster.image, 0, 0);
    this.drawMarks(scene, over, inks, scale);
    this.drawSelection(scene, over, inks, scale);
    this.drawFlows(scene, over, inks, scale);
    over.restore();
    this.drawAxis(scene, over, inks, scale, marks);
  }

  private shadesFor(theme: Theme, palette: PaletteName): Uint32Array {
    const key = `${theme}/${palette}`;
    let found = this.shades.get(key);
    if (!found) this.shades.set(key, (found = shadesOf(kPalettes[theme][palette], kInks[theme].ground)));
    return found;
  }

  private drawRow(scene: Scene, row: LaidRow, raster: Raster, over: CanvasRenderingContext2D, inks: Inks): void {
    const y = kAxisHeight + row.top - scene.scroll;
    if (y > this.height || y + row.height < kAxisHeight || row.row < 0) return;
    const of = scene.ranks[row.rank]?.rows[row.row];
    if (!of) return;
    if (of.slices === 0) {
      if (row.kind === "heading" || !of.lacks) return;
      over.font = "12px Inter, system-ui, sans-serif";
      over.fillStyle = inks.dim;
      over.fillText(this.fit(over, of.lacks, this.width - 16), 8, y + row.laneHeight / 2);
      return;
    }
    const level = levelOf((scene.window.to - scene.window.from) / raster.width);
    const parts = this.store.partsOf(row.rank, row.row, scene.window, level);
    const shades = this.shadesFor(scene.theme, of.palette);
    const bars = kBars.has(of.kind);
    const inset = row.kind === "heading" ? 3 : 0;
    for (let lane = 0; lane < row.lanes; ++lane) {
      const top = y + inset + lane * row.laneHeight;
      if (top > this.height || top + row.laneHeight < kAxisHeight) continue;
      raster.beginLane();
      const boxes: Box[] = [];
      for (const { lanes, part } of parts) {
        const tile = lanes[lane];
        if (tile) raster.add(tile, scene.window, part, row.kind === "row" ? boxes : null);
      }
      const from = Math.round(top * this.ratio);
      const height = Math.round((row.laneHeight - (row.kind === "row" ? 1 : 0)) * this.ratio);
      raster.endLane(from, height, shades, bars, Math.round(kAxisHeight * this.ratio));
      if (boxes.length) this.drawLabels(scene, row.rank, of.palette, of.kind, boxes, top, row.laneHeight, over);
    }
  }

  private drawLabels(scene: Scene, rank: number, palette: PaletteName, kind: RowKind, boxes: Box[], top: number, height: number, over: CanvasRenderingContext2D): void {
    over.font = "11.5px Inter, system-ui, sans-serif";
    for (const box of boxes) {
      const [x, width] = [box.x / this.ratio, box.width / this.ratio];
      if (width < kLabelPixels) continue;
      const name = this.store.name(rank, box.name);
      if (name === "") continue;
      const fades = scene.match !== "" && !name.toLowerCase().includes(scene.match);
      const ground = colorOf(scene.theme, palette, box.color);
      if (fades) {
        over.fillStyle = kInks[scene.theme].ground;
        over.globalAlpha = 0.65;
        over.fillRect(x, top, width, height - 1);
        over.globalAlpha = 1;
        continue;
      }
      over.fillStyle = inkOn(ground);
      const length = box.length > 0 ? duration(box.length) : "";
      const fitted = kind === "idle" ? this.firstFit(over, [`${length}  ${name}`.trimStart(), length], width - 8)
        : kind === "layer" ? this.firstFit(over, layerLabels(name), width - 8)
        : this.fit(over, kind === "steps" ? name : coreName(name), width - 8);
      if (fitted.length >= 3 || kind === "layer") over.fillText(fitted, x + 5, top + (height - 1) / 2 + 0.5);
    }
  }

  // The first of the texts that `width` pixels hold whole; "" where there is none.
  private firstFit(over: CanvasRenderingContext2D, texts: readonly string[], width: number): string {
    return texts.find((text) => this.fit(over, text, width) === text) ?? "";
  }
  // As much of `text` as `width` pixels hold; "" where less than three letters do.
  private fit(over: CanvasRenderingContext2D, text: string, width: number): string {
    const key = `${Math.floor(width / 4)}|${text}`;
    const known = this.cuts.get(key);
    if (known !== undefined) return known;
    if (this.cuts.size > 20_000) this.cuts.clear();
    let cut = text.length > 200 ? middleCut(text, 200) : text;
    while (cut !== "" && over.measureText(cut).width > Math.floor(width / 4) * 4) {
      const fewer = Math.min(cut.length - 1, Math.floor((cut.length * width) / over.measureText(cut).width));
      cut = fewer < 3 ? "" : `${text.slice(0, fewer - 1).trimEnd()}…`;
    }
    this.cuts.set(key, cut);
    return cut;
  }

  private drawAxis(scene: Scene, over: CanvasRenderingContext2D, inks: Inks, scale: number, marks: { at: number; text: string }[]): void {
    over.fillStyle = inks.ground;
    over.fillRect(0, 0, this.width, kAxisHeight);
    over.font = "11px Inter, system-ui, sans-serif";
    over.fillStyle = inks.dim;
    for (const tick of marks) {
      const x = (tick.at - scene.window.from) * scale;
      if (x + 4 + over.measureText(tick.text).width < this.width) over.fillText(tick.text, x + 4, kAxisHeight / 2);
    }
    over.fillStyle = inks.line;
    for (const tick of marks) over.fillRect(Math.round((tick.at - scene.window.from) * scale), 6, 1, kAxisHeight - 6);
    over.fillRect(0, kAxisHeight - 1, this.width, 1);
    if (scene.hover && scene.hover.x >= 0) {
      over.fillStyle = inks.dim;
      over.globalAlpha = 0.5;
      over.fillRect(Math.round(scene.hover.x), 0, 1, this.height);
      over.globalAlpha = 1;
    }
  }

  private drawSelection(scene: Scene, over: CanvasRenderingContext2D, inks: Inks, scale: number): void {
    const of = scene.selection;
    if (of) {
      const x0 = (of.from - scene.window.from) * scale;
      const x1 = Math.max(x0 + 1, (of.to - scene.window.from) * scale);
      over.fillStyle = inks.accent;
      over.globalAlpha = scene.theme === "dark" ? 0.14 : 0.09;
      over.fillRect(x0, 0, x1 - x0, this.height);
      over.globalAlpha = 0.75;
      over.fillRect(Math.round(x0) - 1, 0, 1.5, this.height);
      over.fillRect(Math.round(x1), 0, 1.5, this.height);
      over.globalAlpha = 1;
      over.font = "500 11.5px Inter, system-ui, sans-serif";
      const text = `selected ${duration(of.to - of.from)}`;
      const width = over.measureText(text).width + 12;
      const [left, right] = [Math.max(0, x0), Math.min(this.width, x1)];
      if (right > 0 && left < this.width) {
        const x = right - left >= width ? (left + right - width) / 2 : Math.min(this.width - width, Math.max(0, right + 4));
        over.fillStyle = inks.ground;
        over.fillRect(x, this.height - 25, width, 20);
        over.fillStyle = inks.accent;
        over.fillText(text, x + 6, this.height - 15);
      }
    }
    const slice = scene.slice;
    const place = slice ? this.placeOf(scene, slice) : null;
    if (slice && place) {
      const x0 = Math.max(-2, (slice.from_ns - scene.window.from) * scale);
      const x1 = Math.min(this.width + 2, (slice.to_ns - scene.window.from) * scale);
      over.strokeStyle = inks.ink;
      over.lineWidth = 2;
      over.strokeRect(x0, place.y, Math.max(3, x1 - x0), place.height - 1);
    }
  }
  // Where a slice's lane lies now; of a closed group its heading.
  private placeOf(scene: Scene, at: At): { y: number; height: number } | null {
    const row = scene.layout.rows.find((laid) => laid.kind === "row" && laid.rank === at.rank && laid.row === at.row);
    if (!row) return null;
    const lane = Math.min(at.lane ?? 0, row.lanes - 1);
    return { y: kAxisHeight + row.top - scene.scroll + lane * row.laneHeight, height: row.laneHeight };
  }

  private drawMarks(scene: Scene, over: CanvasRenderingContext2D, inks: Inks, scale: number): void {
    over.font = "500 11px Inter, system-ui, sans-serif";
    for (const mark of scene.marks) {
      const x0 = (mark.from_ns - scene.window.from) * scale;
      const x1 = (mark.to_ns - scene.window.from) * scale;
      if (x1 < 0 || x0 > this.width) continue;
      over.strokeStyle = inks.dim;
      over.setLineDash([3, 3]);
      over.lineWidth = 1;
      over.strokeRect(Math.round(x0) + 0.5, kAxisHeight + 0.5, Math.max(1, Math.round(x1 - x0)), this.height);
      over.setLineDash([]);
      if (mark.note === "") continue;
      const text = this.fit(over, mark.note, 240);
      const width = over.measureText(text).width + 10;
      over.fillStyle = inks.dim;
      over.fillRect(Math.max(0, x0), kAxisHeight + 1, width, 17);
      over.fillStyle = inks.ground;
      over.fillText(text, Math.max(0, x0) + 5, kAxisHeight + 10);
    }
  }

  private drawFlows(scene: Scene, over: CanvasRenderingContext2D, inks: Inks, scale: number): void {
    over.strokeStyle = inks.ink;
    over.fillStyle = inks.ink;
    over.lineWidth = 1.25;
    for (const { from, to } of scene.flows) {
      const [a, b] = [this.placeOf(scene, from), this.placeOf(scene, to)];
      if (!a || !b) continue;
      const x0 = (from.from_ns - scene.window.from) * scale;
      const x1 = (to.from_ns - scene.window.from) * scale;
      if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > this.width + 50) continue;
      const [y0, y1] = [a.y + a.height / 2, b.y + b.height / 2];
      const bend = Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
      over.globalAlpha = scene.flows.length > 20 ? 0.35 : 0.8;
      over.beginPath();
      over.moveTo(x0, y0);
      over.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 3, y1);
      over.stroke();
      over.beginPath();
      over.moveTo(x1, y1);
      over.lineTo(x1 - 6, y1 - 3);
      over.lineTo(x1 - 6, y1 + 3);
      over.fill();
      over.globalAlpha = 1;
    }
  }
}
