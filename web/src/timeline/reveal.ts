// Brings a slice into sight: opens what hides its row, scrolls to it, moves or zooms the window.
import { around, order, ranks, setView, toggled, view } from "../state";
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
  for (const key of [`rank/${of.rank}`, `rank/${of.rank}/${ranks.value[of.rank]?.rows[of.row]?.group ?? ""}`]) {
    const heading = layOut(ranks.value, toggled.value, order.value).rows.find((row) => row.key === key);
    if (heading?.kind === "heading" && heading.open === false) {
      const next = new Set(toggled.value);
      if (!next.delete(key)) next.add(key);
      toggled.value = next;
    }
  }
  requestAnimationFrame(() => controller?.showRow(of.rank, of.row));
}
