// All kernels, copies and memsets: of the selection (figures.ts, which the server sums for it), else of the whole run (totals.ts,
// from its analysis).
import { useMemo, useState } from "preact/hooks";
import { colorOf } from "../colors";
import { scopeFigures } from "../figures";
import { analysis, selection, theme } from "../state";
import { DataTable, Name, Bar, type Column } from "../table";
import { computesOnCpu, kernelRows, type KernelRow } from "../totals";
import type { NameRow } from "../types";
import { count, inMicroseconds, inUnit, percentFigure } from "../units";
import { notShownOr } from "../untold";
import { categoryColor, findSlice } from "./links";
import { show } from "../panel";

export function Kernels() {
  const [filter, setFilter] = useState("");
  const chosen = selection.value !== null || !analysis.value;
  const all = useMemo(() => (analysis.value ? kernelRows(analysis.value) : []), [analysis.value]);
  const text = filter.toLowerCase();
  const onCpu = analysis.value !== null && computesOnCpu(analysis.value);
  const rows = all.filter((row) => `${row.name} ${row.short} ${row.category}`.toLowerCase().includes(text));
  const sum = all.reduce((total, row) => total + row.total, 0);
  const selected = (scopeFigures.value?.of?.names ?? []).filter((row) => row.palette === "work" && row.name.toLowerCase().includes(text));
  const why = scopeFigures.value?.why ?? "";
  return (
    <div class="page whole-page">
      <Filter label={onCpu && !chosen ? "working operators" : "kernels"} value={filter} onInput={setFilter} shown={chosen ? selected.length : rows.length} />
      {chosen ? (
        <NamesTable label="Kernels of the selection" rows={selected} empty={why || (!scopeFigures.value ? "…" : onCpu ? "a CPU engine has no kernels: see Operators" : notShownOr("no device work was recorded here"))} />
      ) : (
        <DataTable
          label="Kernels" scrolls sortBy="total" rows={rows} empty={all.length ? "no kernel has this in its name" : notShownOr("no kernel in this run")} keyOf={(row) => row.name}
          columns={[...kernelColumns(sum, all.some((row) => row.median === undefined), onCpu), ...more]}
        />
      )}
    </div>
  );
}
const more: Column<KernelRow>[] = [
  { id: "longest", head: "longest us", kind: "figure", sort: (row) => row.longest, cell: (row) => inMicroseconds(row.longest) },
  { id: "category", head: "category", sort: (row) => row.category, cell: (row) => row.category },
];

export function kernelColumns(sum: number, several: boolean, onCpu: boolean): Column<KernelRow>[] {
  const columns: Column<KernelRow>[] = [
    { id: "name", head: onCpu ? "operator" : "kernel", kind: "name", sort: (row) => row.name, cell: (row) => <Name name={row.short} whole={row.name} color={categoryColor(row.category)} onPick={() => void findSlice(row.name)} /> },
    { id: "total", head: "total us", kind: "figure", sort: (row) => row.total, cell: (row) => inUnit(row.total, "us") },
    { id: "share", head: "%", title: onCpu ? "of the time of all operators" : "of the time of all kernels", kind: "figure", cell: (row) => <span class="dim">{percentFigure(row.total / Math.max(1, sum))}</span> },
    { id: "count", head: "count", kind: "figure", sort: (row) => row.count, cell: (row) => count(row.count) },
  ];
  const us = (value: number | undefined) => (value === undefined ? "" : inUnit(value, "us"));
  if (several) columns.push({ id: "mean", head: "mean us", kind: "figure", sort: (row) => row.total / row.count, cell: (row) => us(row.total / row.count) });
  else {
    columns.push({ id: "median", head: "median us", kind: "figure", sort: (row) => row.median ?? 0, cell: (row) => us(row.median) });
    columns.push({ id: "p99", head: "p99 us", kind: "figure", sort: (row) => row.p99 ?? 0, cell: (row) => us(row.p99) });
  }
  return columns;
}

export function Filter({ label, value, onInput, shown }: { label: string; value: string; onInput: (value: string) => void; shown: number }) {
  return (
    <div class="filter">
      <input type="search" placeholder={`Filter ${label}`} aria-label={`Filter ${label}`} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
      <span class="dim" aria-live="polite">{count(shown)} {label}</span>
    </div>
  );
}

export function NamesTable({ label, rows, empty }: { label: string; rows: readonly NameRow[]; empty: string }) {
  const sum = rows.reduce((total, row) => total + row.total_ns, 0);
  const most = rows.reduce((largest, row) => Math.max(largest, row.total_ns), 1);
  const color = (row: NameRow) => colorOf(theme.value, row.palette, row.color);
  const columns: Column<NameRow>[] = [
    { id: "name", head: "name", kind: "name", sort: (row) => row.name, cell: (row) => <Name name={row.short_name || row.name} whole={row.name} color={color(row)} onPick={row.kind === "others" ? undefined : () => (row.longest_at ? void show(row) : void findSlice(row.name))} /> },
    { id: "total", head: "total us", kind: "figure", sort: (row) => row.total_ns, cell: (row) => inMicroseconds(row.total_ns) },
    { id: "share", head: "%", title: "of the sum of this table", kind: "figure", cell: (row) => <span class="dim">{percentFigure(row.total_ns / Math.max(1, sum))}</span> },
    { id: "bar", head: "", kind: "bar", cell: (row) => <Bar share={row.total_ns / most} color={color(row)} /> },
    { id: "count", head: "count", kind: "figure", sort: (row) => row.count, cell: (row) => count(row.count) },
    { id: "mean", head: "mean us", kind: "figure", sort: (row) => row.total_ns / row.count, cell: (row) => inMicroseconds(row.total_ns / Math.max(1, row.count)) },
    { id: "longest", head: "longest slice us", title: "also outside the selection", kind: "figure", sort: (row) => row.longest_ns, cell: (row) => inMicroseconds(row.longest_ns) },
  ];
  return <DataTable label={label} columns={columns} rows={rows} scrolls sortBy="total" empty={empty} keyOf={(row) => `${row.palette}${row.kind}${row.name}`} />;
}
