// Brings a slice into sight: opens what hides its row, scrolls to it, moves or zooms the window.
import { around, order, ranks, setView, toggle, toggled, view } from "../state";
import type { At } from "../types";
import { layOut } from "./layout";
import { controller } from "./timeline";

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
  openHeading(`rank/${of.rank}`);
  openHeading(`rank/${of.rank}/${ranks.value[of.rank]?.rows[of.row]?.group ?? ""}`);
  requestAnimationFrame(() => controller?.showRow(of.rank, of.row));
}
// Where there is such a heading and it is closed.
export function openHeading(key: string): void {
  const heading = layOut(ranks.value, toggled.value, order.value).rows.find((row) => row.key === key);
  if (heading?.kind === "heading" && heading.open === false) toggle(key);
}
