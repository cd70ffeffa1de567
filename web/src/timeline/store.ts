// The tiles and names that have come, and what is still to be asked for. Drawing never waits: where a tile is missing the finest of its
// parents stands for it.
import { getBytes, getJson, ServerError } from "../api";
import { decodeTiles, levelOf, tilesIn, tileSpan, kTileColumns, type LaneTile } from "../tiles";
import type { Window } from "../types";
import { AnswerCache } from "./answer_cache";

const kMostTileBytes = 256 * 2 ** 20;
const kMostLanes = 512; // of a request: the server's bound
const kAtOnce = 3; // the server works on four; one is left for the rest of the page
const kMostNames = 400_000;

export interface RowRef {
  rank: number;
  row: number;
  lanes: number;
}
export interface Part {
  lanes: LaneTile[]; // by lane
  part: Window;
}
interface Request {
  rank: number;
  rows: RowRef[];
  level: number;
  index: number;
}

export class TileStore {
  private tiles = new AnswerCache<LaneTile[]>(kMostTileBytes);
  private queue: Request[] = [];
  private running = 0;
  private asked = new Set<string>();
  private names = new Map<number, string[]>();
  private namesAsked = new Set<number>();
  wholeTiles = 0; // how often some of the whole run came: what the minimap is drawn of
  private wholeLevel = -1;
  onTiles: () => void = () => {};
  onTrouble: (what: string) => void = () => {};

  private static key(rank: number, row: number, level: number, index: number): string {
    return `${rank}/${row}/${level}/${index}`;
  }
  private tile(rank: number, row: number, level: number, index: number): LaneTile[] | undefined {
    return this.tiles.get(TileStore.key(rank, row, level, index));
  }

  // The tiles that show `window` of a row now: those of `level`, else coarser ones, or finer ones where all of them are there.
  partsOf(rank: number, row: number, window: Window, level: number): Part[] {
    const parts: Part[] = [];
    const span = tileSpan(level);
    const { first, last } = tilesIn(window, level);
    for (let index = first; index <= last; ++index) {
      const part = { from: index * span, to: (index + 1) * span };
      const own = this.tile(rank, row, level, index);
      if (own) parts.push({ lanes: own, part });
      else if (!this.finer(rank, row, level, index, parts)) this.coarser(rank, row, level, index, part, parts);
    }
    return parts;
  }
  private finer(rank: number, row: number, level: number, index: number, parts: Part[]): boolean {
    for (const down of [1, 2]) {
      if (level < down) return false;
      const pieces: Part[] = [];
      const span = tileSpan(level - down);
      for (let i = index * 2 ** down; i < (index + 1) * 2 ** down; ++i) {
        const lanes = this.tile(rank, row, level - down, i);
        if (lanes) pieces.push({ lanes, part: { from: i * span, to: (i + 1) * span } });
      }
      if (pieces.length === 2 ** down) {
        parts.push(...pieces);
        return true;
      }
    }
    return false;
  }
  private coarser(rank: number, row: number, level: number, index: number, part: Window, parts: Part[]): void {
    for (let up = 1; up <= 24; ++up) {
      const lanes = this.tile(rank, row, level + up, Math.floor(index / 2 ** up));
      if (!lanes) continue;
      parts.push({ lanes, part });
      return;
    }
  }

  // Asks for what these rows lack: the whole run first, coarsely, then the window, then what lies beside it.
  want(rows: readonly RowRef[], window: Window, nsPerPixel: number, whole: Window): void {
    this.queue = [];
    const width = window.to - window.from;
    const level = levelOf(nsPerPixel);
    this.wantLevel(rows, whole, levelOf((whole.to - whole.from) / kTileColumns));
    this.wantLevel(rows, window, level);
    this.wantLevel(rows, { from: window.from - width / 2, to: window.to + width / 2 }, level);
    this.pump();
  }
  // The whole run alone, of rows that only the minimap shows.
  wantWhole(rows: readonly RowRef[], whole: Window): void {
    this.wholeLevel = levelOf((whole.to - whole.from) / kTileColumns);
    this.wantLevel(rows, whole, this.wholeLevel);
    this.pump();
  }
  private wantLevel(rows: readonly RowRef[], window: Window, level: number): void {
    const { first, last } = tilesIn(window, level);
    for (let index = first; index <= last; ++index) {
      let request: Request | null = null;
      let lanes = 0;
      for (const of of rows) {
        const key = TileStore.key(of.rank, of.row, level, index);
        if (of.lanes === 0 || this.tiles.has(key) || this.asked.has(key)) continue;
        if (!request || request.rank !== of.rank || lanes + of.lanes > kMostLanes) {
          request = { rank: of.rank, rows: [], level, index };
          lanes = 0;
          this.queue.push(request);
        }
        if (request.rows.includes(of)) continue;
        request.rows.push(of);
        lanes += of.lanes;
      }
    }
  }
  private pump(): void {
    while (this.running < kAtOnce) {
      const next = this.queue.shift();
      if (!next) return;
      const rows = next.rows.filter((of) => !this.asked.has(TileStore.key(of.rank, of.row, next.level, next.index)));
      if (rows.length === 0) continue;
      void this.fetch({ ...next, rows });
    }
  }
  private async fetch({ rank, rows, level, index }: Request): Promise<void> {
    const keys = rows.map((of) => TileStore.key(rank, of.row, level, index));
    for (const key of keys) this.asked.add(key);
    ++this.running;
    const width = 2 ** level;
    const from = index * kTileColumns * width;
    try {
      const list = rows.map((of) => of.row).join(",");
      const path = `api/v1/tiles?rank=${rank}&rows=${list}&from=${from}&width=${width}&columns=${kTileColumns}`;
      const bytes = await getBytes(path);
      const decoded = decodeTiles(bytes, from, width);
      const parts = rows.map((of, i) => {
        const lanes: LaneTile[] = [];
        for (const tile of decoded.get(of.row) ?? []) lanes[tile.lane] = tile;
        return [keys[i] as string, lanes] as const;
      });
      this.tiles.add(parts, bytes.byteLength);
      if (level === this.wholeLevel) ++this.wholeTiles;
      this.onTiles();
    } catch (error) {
      // Asked for again when the window moves; a server that is gone is said once, by the page's head.
      if (error instanceof ServerError && error.status !== 0) this.onTrouble(error.message);
      else if (!(error instanceof ServerError)) this.onTrouble(String(error));
    } finally {
      for (const key of keys) this.asked.delete(key);
      --this.running;
      this.pump();
    }
  }
  get busy(): boolean {
    return this.running > 0 || this.queue.length > 0;
  }

  // The text of a name; "" while it is still to come.
  name(rank: number, id: number): string {
    return this.names.get(rank)?.[id] ?? "";
  }
  async loadNames(rank: number): Promise<void> {
    if (this.namesAsked.has(rank)) return;
    this.namesAsked.add(rank);
    const names: string[] = [];
    this.names.set(rank, names);
    try {
      while (names.length < kMostNames) {
        const page = await getJson<{ first: number; names: string[] }>(`api/v1/names?rank=${rank}&from=${names.length}`);
        if (page.names.length === 0) break;
        for (const name of page.names) names.push(name);
        this.onTiles();
      }
    } catch (error) {
      if (error instanceof ServerError && error.status === 0) this.namesAsked.delete(rank);
    }
  }
}
