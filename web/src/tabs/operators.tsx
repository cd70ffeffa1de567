// Host operators: of the whole run with the device time that they caused, of a selection with what ran inside it.
import { useMemo, useState } from "preact/hooks";
import { scopeFigures } from "../figures";
import { analysis, selection } from "../state";
import { Bar, DataTable, Name, type Column } from "../table";
import { operatorRows, type OperatorRow } from "../totals";
import { count, inUnit, percentFigure, unitOf } from "../units";
import { notShownOr } from "../untold";
import { Filter, NamesTable } from "./kernels";
import { findSlice } from "./links";

export function Operators() {
  const [filter, setFilter] = useState("");
  const text = filter.toLowerCase();
  const chosen = selection.value !== null || !analysis.value;
  const all = useMemo(() => (analysis.value ? operatorRows(analysis.value) : []), [analysis.value]);
  const rows = all.filter((row) => row.name.toLowerCase().includes(text));
  const selected = (scopeFigures.value?.of?.names ?? []).filter((row) => row.palette === "host" && row.name.toLowerCase().includes(text));
  const sum = all.reduce((total, row) => total + row.self, 0);
  const unit = unitOf(all[0]?.self ?? 0);
  const columns: Column<OperatorRow>[] = [
    { id: "name", head: "operator", kind: "name", sort: (row) => row.name, cell: (row) => <Name name={row.name} onPick={() => void findSlice(row.name)} /> },
    { id: "self", head: `self ${unit}`, kind: "figure", sort: (row) => row.self, cell: (row) => inUnit(row.self, unit) },
    { id: "share", head: "self %", kind: "figure", cell: (row) => <span class="dim">{percentFigure(row.self / Math.max(1, sum))}</span> },
    { id: "bar", head: "", kind: "bar", cell: (row) => <Bar share={row.self / (all[0]?.self ?? 1)} color="var(--dim)" /> },
    { id: "total", head: `total ${unit}`, kind: "figure", sort: (row) => row.total, cell: (row) => inUnit(row.total, unit) },
    { id: "device", head: `device ${unit}`, title: "of the device work that it launched, with its children's", kind: "figure", sort: (row) => row.device, cell: (row) => inUnit(row.device, unit) },
    { id: "count", head: "count", kind: "figure", sort: (row) => row.count, cell: (row) => count(row.count) },
  ];
  return (
    <div class="page whole-page operators">
      <Filter label="operators" value={filter} onInput={setFilter} shown={chosen ? selected.length : rows.length} />
      {chosen ? (
        <NamesTable label="Host slices of the selection" rows={selected} empty={scopeFigures.value?.why || (scopeFigures.value ? notShownOr("nothing of the host here") : "…")} />
      ) : (
        <DataTable
          label="Operators" scrolls sortBy="self" columns={columns} rows={rows} keyOf={(row) => row.name}
          empty={all.length ? "no operator has this in its name" : notShownOr("no host operator: the profiler recorded none")}
        />
      )}
    </div>
  );
}
