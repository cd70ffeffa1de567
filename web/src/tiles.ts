// The tiles that the server sends (src/view/tiles.h), read where they lie, and which of them a window needs.
import type { Window } from "./types";

const kMagic = 0x656c6974;
const kVersion = 2;
const kHead = 24; // bytes of a lane's head
export const kTileColumns = 1024;

// The slices of one lane in one tile. Entries are read by index through the accessors below.
export interface LaneTile {
  lane: number;
  from: number; // of the tile, ns on the run's clock
  width: number; // of a column, ns
  exact: boolean; // every slice, rather than one bucket a column
  entries: number;
  offset: number; // bytes
  u8: Uint8Array;
  u16: Uint16Array;
  u32: Uint32Array;
  f64: Float64Array;
}

// The lanes of each row in an answer; throws where the bytes are not tiles.
export function decodeTiles(buffer: ArrayBuffer, from: number, width: number): Map<number, LaneTile[]> {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== kMagic) throw new Error("the server's answer is not a tile");
  if (view.getUint16(4, true) !== kVersion) throw new Error("the server is of another version: reload the page");
  const lanes = view.getUint16(6, true);
  const whole = buffer.slice(0, buffer.byteLength & ~7); // typed arrays want multiples of 8
  const [u8, u16, u32, f64] = [new Uint8Array(whole), new Uint16Array(whole), new Uint32Array(whole), new Float64Array(whole)];
  const rows = new Map<number, LaneTile[]>();
  for (let i = 0; i < lanes; ++i) {
    const at = 8 + kHead * i;
    const row = view.getUint32(at, true);
    const lane = view.getUint32(at + 4, true);
    const exact = view.getUint8(at + 8) === 1;
    const entries = view.getUint32(at + 16, true);
    const offset = view.getUint32(at + 20, true);
    if (offset + entries * (exact ? 32 : 16) > buffer.byteLength) throw new Error("a tile is cut short");
    const tile: LaneTile = { lane, from, width, exact, entries, offset, u8, u16, u32, f64 };
    const of = rows.get(row);
    if (of) of.push(tile);
    else rows.set(row, [tile]);
  }
  return rows;
}

// One entry, whichever its mode.
export interface Entry {
  from: number; // ns on the run's clock; of a bucket its column's
  to: number;
  color: number;
  coverage: number; // 0..1 of from..to
  count: number;
  place: number; // of the slice, or the longest of the bucket
  name: number;
}
export function entryOf(tile: LaneTile, index: number): Entry {
  if (tile.exact) {
    const at = tile.offset + 32 * index;
    const from = tile.from + (tile.f64[at >> 3] ?? 0);
    return {
      from,
      to: from + (tile.f64[(at >> 3) + 1] ?? 0),
      color: tile.u8[at + 24] ?? 0,
      coverage: 1,
      count: 1,
      place: tile.u32[(at >> 2) + 4] ?? 0,
      name: tile.u32[(at >> 2) + 5] ?? 0,
    };
  }
  const at = tile.offset + 16 * index;
  const from = tile.from + (tile.u16[at >> 1] ?? 0) * tile.width;
  return {
    from,
    to: from + tile.width,
    color: tile.u8[at + 2] ?? 0,
    coverage: (tile.u8[at + 3] ?? 0) / 255,
    count: tile.u32[(at >> 2) + 1] ?? 0,
    place: tile.u32[(at >> 2) + 2] ?? 0,
    name: tile.u32[(at >> 2) + 3] ?? 0,
  };
}

// The first entry that ends after `t`: entries are in the order of time. Cost: O(log n).
export function firstEndingAfter(tile: LaneTile, t: number): number {
  let low = 0;
  let high = tile.entries;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entryOf(tile, middle).to > t) high = middle;
    else low = middle + 1;
  }
  return low;
}
// The entry that covers `t`, else the nearest one within `reach` ns.
export function entryAt(tile: LaneTile, t: number, reach: number): Entry | null {
  const index = firstEndingAfter(tile, t);
  let best: Entry | null = null;
  let nearest = reach;
  for (const i of [index - 1, index]) {
    if (i < 0 || i >= tile.entries) continue;
    const entry = entryOf(tile, i);
    const away = t < entry.from ? entry.from - t : t >= entry.to ? t - entry.to : 0;
    if (away > nearest || (best && away === nearest)) continue;
    best = entry;
    nearest = away;
  }
  return best;
}

// The level whose columns are a pixel wide or half of one: columns are 2^level ns.
export function levelOf(nsPerPixel: number): number {
  return Math.max(0, Math.min(50, Math.floor(Math.log2(Math.max(nsPerPixel, 1)))));
}
export function tileSpan(level: number): number {
  return kTileColumns * 2 ** level;
}
// The first and last tile of a level that a window touches.
export function tilesIn(window: Window, level: number): { first: number; last: number } {
  const span = tileSpan(level);
  return { first: Math.floor(window.from / span), last: Math.max(Math.floor(window.from / span), Math.ceil(window.to / span) - 1) };
}
