// Brings a slice into sight: opens what hides its row, scrolls to it, moves or zooms the window.
import { around, order, ranks, rowWanted, setView, toggle, toggled, view } from "../state";
import type { At } from "../types";
import { layOut } from "./layout";

export function reveal(of: At): void {
  const { from, to } = view.value;
  const width = to - from;
  const length = of.to_ns - of.from_ns;
  const inside = of.from_ns >= from && of.to_ns <= to;
  const wide = length > width / 400;
  if (!inside || !wide) {
    if (length > width * 0.9 || !wide) setView(around({ from: of.from_ns, to: of.to_ns }, wide ? 0.5 : 8));
    else setView({ from: (of.from_ns + of.to_ns - width) / 2, to: (of.from_ns + of.to_ns + width) / 2 });
  }
  rowWanted.value = { rank: of.rank, row: of.row };
}
// Opens the headings that hide a row.
export function openHeadings(rank: number, row: number | undefined): void {
  const of = row === undefined ? undefined : ranks.peek()[rank]?.rows[row];
  if (order.peek() === "rows") return openHeading(`kind/${of?.kind ?? "steps"}`);
  openHeading(`rank/${rank}`);
  if (of) openHeading(`rank/${rank}/${of.group}`);
}
// Where there is such a heading and it is closed.
function openHeading(key: string): void {
  const heading = layOut(ranks.peek(), toggled.peek(), order.peek()).rows.find((row) => row.key === key);
  if (heading?.kind === "heading" && heading.open === false) toggle(key);
}
