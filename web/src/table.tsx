// A real table: sorted by a click on a head, of which only the rows in sight exist.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

export interface Column<Row> {
  id: string;
  head: string;
  title?: string;
  kind?: "name" | "label" | "figure" | "bar"; // a name gives way where there is no room, a label does not
  sort?: (row: Row) => number | string; // without it the column cannot be sorted by
  cell: (row: Row) => ComponentChildren;
}
interface Props<Row> {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  sortBy?: string;
  empty: string; // what stands in place of no row
  scrolls?: boolean; // in its own box, else as long as it is
  keyOf: (row: Row, index: number) => string;
}

const kRowPixels = 24;
const kAround = 12; // rows drawn beside those in sight

export function DataTable<Row>({ label, columns, rows, sortBy, empty, scrolls, keyOf }: Props<Row>) {
  const [order, setOrder] = useState<{ by: string; down: boolean } | null>(sortBy ? { by: sortBy, down: true } : null);
  const sorted = useMemo(() => {
    const value = columns.find((column) => column.id === order?.by)?.sort;
    if (!order || !value) return rows;
    const sign = order.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }, [rows, order, columns]);
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, last: 60 });
  const look = () => {
    const at = box.current;
    if (!at || !scrolls) return;
    const first = Math.max(0, Math.floor(at.scrollTop / kRowPixels) - kAround);
    setSeen({ first, last: first + Math.ceil(at.clientHeight / kRowPixels) + 2 * kAround });
  };
  useEffect(() => {
    if (!scrolls || !box.current) return;
    const watch = new ResizeObserver(look);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [scrolls]);
  const first = scrolls ? Math.min(seen.first, Math.max(0, sorted.length - 1)) : 0;
  const last = scrolls ? seen.last : sorted.length;

  return (
    <div class={scrolls ? "table-box scrolls" : "table-box"} ref={box} onScroll={look} {...(scrolls ? { tabIndex: 0, role: "region", "aria-label": label } : {})}>
      <table aria-label={label} aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            {(sorted.length > 0 ? columns : columns.slice(0, 1)).map((column) => (
              <th
                key={column.id}
                scope="col"
                class={column.kind ?? "text"}
                title={column.title}
                aria-sort={order?.by === column.id ? (order.down ? "descending" : "ascending") : undefined}
              >
                {column.sort ? (
                  <button type="button" aria-label={sortLabel(column, order)} title={[column.title, sortLabel(column, order)].filter(Boolean).join("; ")} onClick={() => setOrder({ by: column.id, down: order?.by === column.id ? !order.down : column.kind !== "name" })}>
                    {order?.by === column.id && <span class="sort" aria-hidden="true">{order.down ? "↓" : "↑"}</span>}
                    {column.head}
                  </button>
                ) : (
                  column.head
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * kRowPixels}px` }} />}
          {sorted.slice(first, last).map((row, i) => (
            <tr key={keyOf(row, first + i)} aria-rowindex={first + i + 2}>
              {columns.map((column) => (
                <td key={column.id} class={column.kind ?? "text"}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {last < sorted.length && <tr aria-hidden="true" style={{ height: `${(sorted.length - last) * kRowPixels}px` }} />}
          {sorted.length === 0 && (
            <tr>
              <td class="empty" colSpan={columns.length}>{empty}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

// What a click sorts by, and what it is sorted by now.
function sortLabel<Row>(column: Column<Row>, order: { by: string; down: boolean } | null): string {
  const sorted = order?.by === column.id ? (order.down ? ", sorted from the largest" : ", sorted from the smallest") : "";
  return `${column.head}${sorted}: sort by ${column.head}`;
}

export function Swatch({ color }: { color: string }) {
  return <span class="swatch" aria-hidden="true" style={{ background: color }} />;
}
// A bar of 0..1 of the cell.
export function Bar({ share, color }: { share: number; color: string }) {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: share > 0 ? `max(1px, ${Math.min(1, share) * 100}%)` : "0", background: color }} />
    </span>
  );
}
// A name that takes what room there is; its middle gives way, so both ends stay. `whole`: what it is short for.
export function Name({ name, whole = name, onPick, color }: { name: string; whole?: string; onPick?: (() => void) | undefined; color?: string | undefined }) {
  const tail = name.length > 24 ? name.slice(-Math.min(16, Math.floor(name.length / 3))) : "";
  const text = (
    <span class="middle-cut" title={whole.length > 2000 ? `${whole.slice(0, 2000)}…` : whole}>
      <span class="head">{tail ? name.slice(0, name.length - tail.length) : name}</span>
      {tail && <span class="tail">{tail}</span>}
    </span>
  );
  return (
    <span class="named">
      {color && <Swatch color={color} />}
      {onPick ? (
        <button type="button" class="link mono" onClick={onPick}>{text}</button>
      ) : (
        <span class="mono">{text}</span>
      )}
    </span>
  );
}
