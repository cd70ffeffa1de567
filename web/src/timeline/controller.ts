// Joins what the user does, what the page knows and what is drawn. One picture a frame at most, and none when nothing changed.
import { effect, untracked } from "@preact/signals";
import { clampWindow, marks, meta, order, pick, pinned, ranks, rowWanted, search, selection, setView, slice, span, theme, toggled, trouble, view } from "../state";
import { entryAt, levelOf } from "../tiles";
import type { At, Window } from "../types";
import { firstBelow, layOut, rowAt, type LaidRow, type Layout } from "./layout";
import { drawMinimap } from "./minimap";
import { openHeadings } from "./reveal";
import { kAxisHeight, Painter } from "./scene";
import { TileStore, type RowRef } from "./store";

export const store = new TileStore();
const kZoomASecond = 6; // times, while W or S is held
const kPanASecond = 1.1; // widths of the window
const kAskAfterMs = 40;
const kHitPixels = 4;
const kLabelsAround = 40;
const kRowsBelow = 110; // pixels: of what comes into sight, room for the rows below it

export interface Hover {
  x: number; // CSS pixels in the stage
  y: number;
  name: string;
  count: number;
  coverage: number;
  from: number;
  to: number;
  exact: boolean;
  row: LaidRow;
}
export interface Seen {
  first: number;
  last: number;
}
export interface Elements {
  stage: HTMLElement;
  area: HTMLElement; // what the canvases fill
  bars: HTMLCanvasElement;
  over: HTMLCanvasElement;
  labels: HTMLElement;
  scroller: HTMLElement;
  minimap: HTMLCanvasElement;
}

export class Controller {
  layout: Layout = { rows: [], height: 0 };
  scroll = 0;
  onLayout: (layout: Layout) => void = () => {};
  onSeen: (seen: Seen) => void = () => {}; // which rows of the layout need a label
  onHover: (hover: Hover | null) => void = () => {};
  private painter: Painter;
  private pending = 0;
  private lastFrame = 0;
  private asking = 0;
  private held = new Set<string>();
  private pointer: { x: number; y: number } | null = null;
  private seen: Seen = { first: 0, last: -1 };
  private shown: unknown[] = []; // what the labels were made of
  private stopping: (() => void)[] = [];

  constructor(private on: Elements) {
    this.painter = new Painter(on.bars, on.over, store);
    store.onTiles = () => this.invalidate();
    store.onTrouble = (what) => (trouble.value = what);
    const resize = new ResizeObserver(() => this.resize());
    resize.observe(on.area);
    resize.observe(on.minimap);
    this.stopping.push(() => resize.disconnect());
    this.stopping.push(effect(() => {
      void [ranks.value, toggled.value, order.value, pinned.value];
      this.layOut();
    }));
    this.stopping.push(effect(() => {
      void [view.value, marks.value, search.value, selection.value, slice.value, theme.value, meta.value];
      this.invalidate();
    }));
    this.stopping.push(effect(() => {
      void view.value;
      this.askSoon();
    }));
    this.resize();
    this.stopping.push(effect(() => {
      const { rank, row } = rowWanted.value ?? {};
      if (rank === undefined || ranks.value[rank]?.state !== "read") return;
      rowWanted.value = null;
      untracked(() => this.showRow(rank, row));
    }));
  }
  dispose(): void {
    for (const stop of this.stopping) stop();
    cancelAnimationFrame(this.pending);
    clearTimeout(this.asking);
    store.onTiles = () => {};
  }

  private layOut(): void {
    const before = this.layout;
    this.layout = layOut(ranks.peek(), toggled.peek(), order.peek(), this.on.area.clientHeight - kAxisHeight, pinned.peek());
    const shown = [ranks.peek(), toggled.peek(), order.peek(), pinned.peek()];
    if (this.layout.height !== before.height || this.layout.rows.length !== before.rows.length || shown.some((of, i) => of !== this.shown[i])) this.onLayout(this.layout);
    this.shown = shown;
    this.scrollTo(this.scroll);
  }
  private resize(): void {
    const { clientWidth, clientHeight } = this.on.area;
    if (clientWidth === 0) return;
    this.painter.resize(clientWidth, clientHeight, devicePixelRatio || 1);
    this.layOut();
    // At once: a canvas that changes its size is empty until it is drawn.
    this.drawNow();
  }
  invalidate(): void {
    if (!this.pending) this.pending = requestAnimationFrame((now) => this.frame(now));
  }
  private frame(now: number): void {
    this.pending = 0;
    this.move(Math.min(50, now - this.lastFrame));
    this.lastFrame = now;
    this.drawNow();
    if (this.held.size) this.invalidate();
  }
  private drawNow(): void {
    this.on.labels.style.transform = `translateY(${-this.scroll}px)`;
    this.look();
    this.painter.draw({
      theme: theme.peek(),
      window: view.peek(),
      layout: this.layout,
      scroll: this.scroll,
      ranks: ranks.peek(),
      selection: selection.peek(),
      slice: slice.peek(),
      hover: this.pointer,
      marks: marks.peek(),
      flows: this.flows(),
      match: search.peek().toLowerCase(),
    });
    drawMinimap(this.on.minimap, store, theme.peek(), ranks.peek(), meta.peek()?.steps ?? [], span.peek(), view.peek(), selection.peek());
  }
  // Rows beyond those in sight have labels too, so that few scrolls ask for others.
  private look(): void {
    const first = firstBelow(this.layout, this.scroll);
    const last = firstBelow(this.layout, this.scroll + this.painter.height);
    if (first >= this.seen.first && last <= this.seen.last) return;
    this.seen = { first: Math.max(0, first - kLabelsAround), last: last + kLabelsAround };
    this.onSeen(this.seen);
  }
  private flows(): { from: At; to: At }[] {
    const of = slice.peek();
    if (!of) return [];
    const others = (of.launched?.map(({ at }) => at) ?? of.collective?.at ?? []).slice(0, 200);
    return [...(of.launch ? [{ from: of.launch.at, to: of }] : []), ...others.map((at) => ({ from: of, to: at }))];
  }

  // Requests follow the picture, never the other way round.
  private askSoon(): void {
    if (this.asking) return;
    this.asking = setTimeout(() => {
      this.asking = 0;
      this.ask();
    }, kAskAfterMs);
  }
  private ask(): void {
    if (!meta.peek()) return;
    const whole = span.peek();
    const shown = view.peek();
    const rows: RowRef[] = [];
    const others: RowRef[] = [];
    const seen = new Set<string>();
    const add = (to: RowRef[], rank: number, row: number) => {
      const of = ranks.peek()[rank];
      const known = of?.rows[row];
      if (!of || of.state !== "read" || !known || known.slices === 0 || seen.has(`${rank}/${row}`)) return;
      seen.add(`${rank}/${row}`);
      to.push({ rank, row, lanes: known.lanes });
      void store.loadNames(rank);
    };
    const bottom = this.scroll + this.painter.height;
    for (const laid of this.layout.rows) {
      const visible = laid.top + laid.height >= this.scroll - 100 && laid.top <= bottom + 100;
      if (laid.row >= 0 && visible) add(rows, laid.rank, laid.row);
    }
    ranks.peek().forEach((rank, r) => add(others, r, rank.rows.findIndex((row) => row.kind === "busy" && row.slices > 0)));
    store.want(rows, shown, (shown.to - shown.from) / this.on.bars.width, whole);
    store.wantWhole(others, whole);
  }

  scrollTo(y: number): void {
    const most = Math.max(0, this.layout.height + 8 - (this.painter.height - kAxisHeight));
    this.scroll = Math.max(0, Math.min(most, y));
    (this.on.scroller.firstElementChild as HTMLElement).style.height = `${this.on.scroller.clientHeight + most}px`;
    if (Math.abs(this.on.scroller.scrollTop - this.scroll) >= 1) this.on.scroller.scrollTop = this.scroll;
    this.askSoon();
    this.invalidate();
  }
  // Opens what hides it. Without a row: the first of the rank.
  private showRow(rank: number, row: number | undefined): void {
    openHeadings(rank, row);
    this.layOut();
    const laid = this.layout.rows.find((of) => of.kind === "row" && of.rank === rank && (row === undefined || of.row === row));
    if (!laid) return;
    const room = this.painter.height - kAxisHeight;
    const heading = this.layout.rows.find((of) => of.key === `rank/${rank}`)?.top ?? laid.top;
    const bottom = laid.top + Math.min(laid.height, room);
    // With the name of its rank and some rows below it, as far as there is room.
    const [from, to] = bottom - heading + kRowsBelow <= room ? [heading, bottom + kRowsBelow] : [laid.top - 30, bottom + 20];
    if (from < this.scroll || to > this.scroll + room) this.scrollTo(from < this.scroll || heading === from ? from : to - room);
  }

  // Keys that act while they are held.
  hold(key: string): void {
    if (this.held.has(key)) return;
    this.held.add(key);
    this.lastFrame = performance.now();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.move(250);
      this.held.delete(key);
    }
    this.invalidate();
  }
  release(key?: string): void {
    if (key === undefined) this.held.clear();
    else this.held.delete(key);
  }
  private move(ms: number): void {
    if (this.held.size === 0) return;
    const seconds = ms / 1000;
    const zoom = (this.held.has("in") ? -1 : 0) + (this.held.has("out") ? 1 : 0);
    const pan = (this.held.has("right") ? 1 : 0) - (this.held.has("left") ? 1 : 0);
    if (zoom) this.zoom(kZoomASecond ** (zoom * seconds), this.pointer?.x ?? this.painter.width / 2);
    if (pan) this.pan(pan * kPanASecond * seconds * this.painter.width);
    if (this.held.has("up")) this.scrollTo(this.scroll - 600 * seconds);
    if (this.held.has("down")) this.scrollTo(this.scroll + 600 * seconds);
  }
  // `factor` > 1 shows more; the time at `x` stays where it is.
  zoom(factor: number, x: number): void {
    const { from, to } = view.peek();
    const at = this.timeAt(x);
    const width = Math.min(Math.max((to - from) * factor, 20), (span.peek().to - span.peek().from) * 1.5);
    const left = at - (x / this.painter.width) * width;
    setView({ from: left, to: left + width });
  }
  pan(pixels: number): void {
    const { from, to } = view.peek();
    const by = (pixels / this.painter.width) * (to - from);
    view.value = clampWindow({ from: from + by, to: to + by }, span.peek());
  }
  timeAt(x: number): number {
    const { from, to } = view.peek();
    return from + (x / this.painter.width) * (to - from);
  }
  select(window: Window | null): void {
    selection.value = window;
  }

  // What lies under a point of the area.
  hit(x: number, y: number): (Hover & { rank: number; lane: number; place: number }) | null {
    const laid = rowAt(this.layout, y - kAxisHeight + this.scroll);
    if (!laid || laid.row < 0 || y < kAxisHeight) return null;
    const lane = Math.floor((y - kAxisHeight + this.scroll - laid.top) / laid.laneHeight);
    const t = this.timeAt(x);
    const shown = view.peek();
    const reach = (kHitPixels * (shown.to - shown.from)) / this.painter.width;
    for (const { lanes, part } of store.partsOf(laid.rank, laid.row, shown, levelOf((shown.to - shown.from) / this.on.bars.width))) {
      const tile = lanes[laid.kind === "heading" ? 0 : lane];
      if (!tile || t < part.from || t >= part.to) continue;
      const entry = entryAt(tile, t, reach);
      if (!entry) return null;
      return {
        x, y, row: laid, rank: laid.rank, lane: laid.kind === "heading" ? 0 : lane, place: entry.place, count: entry.count,
        coverage: entry.coverage, from: entry.from, to: entry.to, exact: tile.exact, name: store.name(laid.rank, entry.name),
      };
    }
    return null;
  }
  point(at: { x: number; y: number } | null): void {
    this.pointer = at;
    this.onHover(at ? this.hit(at.x, at.y) : null);
    this.invalidate();
  }
  hideHover(): void {
    this.onHover(null);
  }
  async pickAt(x: number, y: number): Promise<void> {
    const found = this.hit(x, y);
    if (!found) {
      slice.value = null;
      selection.value = null;
      return;
    }
    await pick({ rank: found.rank, row: found.row.row, lane: found.lane, place: found.place, from_ns: found.from });
  }
}
