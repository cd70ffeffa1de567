// Where the rows of the timeline lie: groups that open and close, rows and their lanes, from the top.
import { whyOf } from "../labels";
import type { Rank, Row, RowGroup } from "../types";

export interface LaidRow {
  kind: "row" | "heading";
  key: string; // what opens and closes, and names the row in links
  rank: number;
  row: number; // into the rank's rows; of a heading the row that it shows while closed, or -1
  top: number;
  height: number;
  laneHeight: number;
  lanes: number; // drawn
  label: string;
  detail: string;
  depth: number; // of its indentation
  open?: boolean; // of a heading, and of a row with more lanes than drawn
  hidden: number; // lanes that are not drawn
}
export interface Layout {
  rows: LaidRow[];
  height: number;
}
export type Order = "ranks" | "rows";

const kGap = 4; // pixels between rows
const kHeading = 22;
const kLanesClosed = [64, 32, 20, 12, 6]; // of a row with more: the deepest of a Python stack are for those who ask
const kGroupNames: Record<RowGroup, string> = { computed: "", streams: "Streams", launching: "Launching threads", other: "Other threads" };

export function keyOfRow(row: Row): string {
  return `${row.kind}/${row.owner}/${row.label}`;
}
function laneHeight(row: Row): number {
  if (row.kind === "steps" || row.kind === "idle" || row.kind === "stream" || row.kind === "layer" || row.kind === "block") return 20;
  if (row.kind === "busy" || row.kind === "communication") return 16;
  return 17;
}
// What the row says beside its label: whose it is.
export function detailOf(row: Row): string {
  if (row.kind === "thread") return row.owner === "" ? "" : `process ${row.owner}`;
  return /^\d+$/.test(row.owner) ? `device ${row.owner}` : row.owner;
}
export function labelOf(row: Row): string {
  if (row.kind === "thread") return /^\d+$/.test(row.label) ? `thread ${row.label}` : row.label.replace(/^(\d+) (?=thread \1\b)/, "");
  return row.label.slice(0, 1).toUpperCase() + row.label.slice(1);
}

// `toggled`: keys that are not as they are at first. At first a run of one rank shows all but threads that launch nothing while others do; of several ranks the first is
// open, with its computed rows. Rows with many lanes show as many as `room` pixels hold, at least the six from the top.
// `pinned`: keys of rows that lie above all others rather than in their places.
export function layOut(ranks: readonly Rank[], toggled: ReadonlySet<string>, order: Order, room = 0, pinned: ReadonlySet<string> = new Set()): Layout {
  let layout: Layout = { rows: [], height: 0 };
  for (const lanesClosed of kLanesClosed) {
    layout = layOutWith(ranks, toggled, order, lanesClosed, pinned);
    if (layout.height <= room) break;
  }
  return layout;
}
function layOutWith(ranks: readonly Rank[], toggled: ReadonlySet<string>, order: Order, lanesClosed: number, pinned: ReadonlySet<string>): Layout {
  const laid: LaidRow[] = [];
  let top = 0;
  const isOpen = (key: string, atFirst: boolean) => toggled.has(key) !== atFirst;
  const add = (row: Omit<LaidRow, "top">, after = kGap) => {
    laid.push({ ...row, top });
    top += row.height + after;
  };
  const heading = (key: string, rank: number, row: number, label: string, detail: string, depth: number, open: boolean) =>
    add({ kind: "heading", key, rank, row: open ? -1 : row, height: kHeading, laneHeight: kHeading - 6, lanes: 1, label, detail, depth, open, hidden: 0 }, 2);
  const rowOf = (rank: number, index: number, row: Row, depth: number, label = labelOf(row), detail = detailOf(row)) => {
    const key = `${rank}/${keyOfRow(row)}`;
    const open = isOpen(key, false);
    const lanes = Math.max(1, open ? row.lanes : Math.min(row.lanes, lanesClosed));
    const height = laneHeight(row);
    const more = row.lanes > lanesClosed;
    add({
      kind: "row", key, rank, row: index, height: lanes * height, laneHeight: height, lanes, label, detail, depth,
      ...(more ? { open } : {}), hidden: Math.max(0, row.lanes - lanes),
    });
  };

  const keyIn = (rank: number, row: Row) => `${rank}/${keyOfRow(row)}`;
  if (pinned.size > 0) {
    ranks.forEach((rank, r) => rank.rows.forEach((row, i) => {
      if (pinned.has(keyIn(r, row))) rowOf(r, i, row, 0, labelOf(row), ranks.length > 1 ? rank.label : detailOf(row));
    }));
    top += 2 * kGap;
  }
  if (order === "rows" && ranks.length > 1) {
    for (const [kind, name] of [["steps", "Steps"], ["idle", "Idle by cause"], ["busy", "Busy"], ["communication", "Communication"], ["layer", "Layer"], ["block", "Block"], ["stream", "Streams"]] as const) {
      const key = `kind/${kind}`;
      const open = isOpen(key, kind !== "stream" && kind !== "layer" && kind !== "block");
      const members = ranks.flatMap((rank, r) => rank.rows.map((row, i) => ({ r, i, row, rank }))).filter(({ r, row }) => row.kind === kind && !pinned.has(keyIn(r, row)));
      if (members.length === 0) continue;
      heading(key, members[0]?.r ?? 0, members[0]?.i ?? -1, name, `${ranks.length} ranks`, 0, open);
      if (open) for (const { r, i, row, rank } of members) rowOf(r, i, row, 1, rank.label, labelOf(row) === name ? detailOf(row) : labelOf(row));
      top += kGap;
    }
    return { rows: laid, height: top };
  }

  const first = ranks.findIndex((rank) => rank.state === "read" && rank.rows.some((row) => row.slices > 0));
  ranks.forEach((rank, r) => {
    const several = ranks.length > 1;
    const depth = several ? 1 : 0;
    const shown = ["idle", "busy", "stream", "thread"].map((kind) => rank.rows.findIndex((row) => row.kind === kind && row.slices > 0)).find((i) => i >= 0) ?? -1;
    if (several || rank.state !== "read") {
      const state = rank.state === "failed" ? `failed: ${whyOf(rank)}` : rank.state === "read" ? "" : rank.state;
      const open = rank.state === "read" && isOpen(`rank/${r}`, r === first);
      heading(`rank/${r}`, r, shown, rank.label, state, 0, open);
      if (!open) return;
    }
    for (const group of ["computed", "streams", "launching", "other"] as const) {
      const members = rank.rows.map((row, i) => ({ row, i })).filter(({ row }) => row.group === group && !pinned.has(keyIn(r, row)));
      if (members.length === 0) continue;
      if (kGroupNames[group] !== "" && (members.length > 1 || group === "other")) {
        const key = `rank/${r}/${group}`;
        const alone = group !== "other" || !rank.rows.some((row) => row.group === "launching" && row.slices > 0);
        const open = isOpen(key, !several && alone);
        heading(key, r, members[0]?.i ?? -1, alone && group === "other" ? "Threads" : kGroupNames[group], String(members.length), depth, open);
        if (!open) continue;
        for (const { row, i } of members) rowOf(r, i, row, depth + 1);
      } else {
        for (const { row, i } of members) rowOf(r, i, row, depth);
      }
    }
    if (several) top += kGap * 2;
  });
  return { rows: laid, height: top };
}

// The first row that ends below a height, by halving: an index, rows.length where none does.
export function firstBelow({ rows }: Layout, y: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle] as LaidRow;
    if (row.top + row.height > y) high = middle;
    else low = middle + 1;
  }
  return low;
}
export function rowAt(layout: Layout, y: number): LaidRow | null {
  const row = layout.rows[firstBelow(layout, y)];
  return row && y >= row.top ? row : null;
}
