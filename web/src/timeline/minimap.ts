// The whole run in a strip: how busy each device was, the steps by phase below, and where the window is.
import { colorOf, type Theme } from "../colors";
import { kPhases } from "../steps";
import { entryOf, kTileColumns, levelOf } from "../tiles";
import type { Rank, Step, Window } from "../types";
import { kInks, type Inks } from "./scene";
import type { TileStore } from "./store";

const kStepsHeight = 4;

// The run does not change while the window moves: it is drawn once and copied.
const base = document.createElement("canvas");
let drawn = "";

export function drawMinimap(
  canvas: HTMLCanvasElement, store: TileStore, theme: Theme, ranks: readonly Rank[], steps: readonly Step[], whole: Window, view: Window,
  selection: Window | null,
): void {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (width === 0) return;
  for (const of of [canvas, base])
    if (of.width !== Math.round(width * ratio) || of.height !== Math.round(height * ratio)) {
      of.width = Math.round(width * ratio);
      of.height = Math.round(height * ratio);
      drawn = "";
    }
  const over = canvas.getContext("2d");
  const run = base.getContext("2d");
  if (!over || !run) return;
  const scale = width / (whole.to - whole.from);
  const now = `${theme} ${store.wholeTiles} ${ranks.length} ${steps.length} ${whole.from} ${whole.to}`;
  if (now !== drawn) {
    drawn = now;
    run.setTransform(ratio, 0, 0, ratio, 0, 0);
    run.clearRect(0, 0, width, height);
    drawRun(run, store, theme, ranks, steps, whole, width, height);
  }
  over.setTransform(1, 0, 0, 1, 0, 0);
  over.clearRect(0, 0, canvas.width, canvas.height);
  over.drawImage(base, 0, 0);
  over.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawWindow(over, kInks[theme], scale, whole, view, selection, width, height);
}

function drawRun(
  over: CanvasRenderingContext2D, store: TileStore, theme: Theme, ranks: readonly Rank[], steps: readonly Step[], whole: Window, width: number,
  height: number,
): void {
  const scale = width / (whole.to - whole.from);
  const shown = ranks.map((rank, r) => ({ r, row: rank.rows.findIndex((row) => row.kind === "busy" && row.slices > 0) })).filter(({ row }) => row >= 0);
  const room = height - kStepsHeight - 4;
  const each = Math.max(2, Math.floor(room / Math.max(1, shown.length)));
  const level = levelOf((whole.to - whole.from) / kTileColumns);
  const cover = new Float32Array(Math.max(1, Math.ceil(width)));
  over.fillStyle = colorOf(theme, "exposure", 0);
  shown.forEach(({ r, row }, i) => {
    cover.fill(0);
    for (const { lanes, part } of store.partsOf(r, row, whole, level)) {
      const tile = lanes[0];
      for (let e = 0; tile && e < tile.entries; ++e) {
        const entry = entryOf(tile, e);
        if (entry.to <= part.from || entry.from >= part.to) continue;
        const [x0, x1] = [(entry.from - whole.from) * scale, (entry.to - whole.from) * scale];
        for (let x = Math.max(0, Math.floor(x0)); x < Math.min(cover.length, Math.ceil(x1)); ++x)
          cover[x] = (cover[x] ?? 0) + (Math.min(x1, x + 1) - Math.max(x0, x)) * entry.coverage;
      }
    }
    const bottom = Math.min(room, (i + 1) * each);
    for (let x = 0; x < cover.length; ++x) {
      const high = Math.min(1, cover[x] ?? 0) * (each - (shown.length > 1 ? 1 : 0));
      if (high > 0) over.fillRect(x, bottom - Math.max(0.75, high), 1, Math.max(0.75, high));
    }
  });
  const first = steps.length ? Math.min(...new Set(steps.slice(0, 64).map((step) => step.rank))) : 0;
  for (const step of steps) {
    if (step.rank !== first) continue;
    over.fillStyle = colorOf(theme, "phases", Math.max(0, kPhases.indexOf(step.phase)));
    const x = (step.from_ns - whole.from) * scale;
    over.fillRect(x, height - kStepsHeight, Math.max(0.6, (step.to_ns - step.from_ns) * scale - 0.4), kStepsHeight - 1);
  }
}

function drawWindow(
  over: CanvasRenderingContext2D, inks: Inks, scale: number, whole: Window, view: Window, selection: Window | null, width: number, height: number,
): void {
  const left = Math.max(0, (view.from - whole.from) * scale);
  const right = Math.min(width, (view.to - whole.from) * scale);
  if (left > 0.5 || right < width - 0.5) {
    over.fillStyle = inks.ground;
    over.globalAlpha = 0.6;
    over.fillRect(0, 0, left, height);
    over.fillRect(right, 0, width - right, height);
    over.globalAlpha = 1;
    over.fillStyle = inks.accent;
    over.fillRect(Math.max(0, left - 1), 0, 2, height);
    over.fillRect(Math.min(width - 2, Math.max(left + 2, right - 1)), 0, 2, height);
  }
  if (selection) {
    over.fillStyle = inks.accent;
    over.globalAlpha = 0.22;
    over.fillRect((selection.from - whole.from) * scale, 0, Math.max(1, (selection.to - selection.from) * scale), height);
    over.globalAlpha = 1;
  }
}
