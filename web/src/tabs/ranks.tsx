// The ranks beside each other: what each one's window went to.
import { causeColor, colorOf } from "../colors";
import { clockSentences, residualOf } from "../clocks";
import { analysis, meta, showInTimeline, theme } from "../state";
import { whyOf } from "../labels";
import { DataTable, Name, Swatch, type Column } from "../table";
import { busyShare } from "../totals";
import type { Analysis, Meta, Rank, RankTotals } from "../types";
import { count, duration, inUnit, percentFigure, unitOf } from "../units";

export function Ranks() {
  const of = analysis.value?.ranks;
  const ranks = meta.value?.ranks ?? [];
  const clocks = clockColumns(meta.value);
  return (
    <div class="page">
      {of && of.table.length > 0 ? <RankTable ranks={of} /> : <p class="dim">{analysis.value ? "One trace: there is no other rank to compare it with." : "Ranks are compared once all are read."}</p>}
      <section class="traces">
        <h2>Traces</h2>
        {meta.value && clockSentences(meta.value).map((sentence) => <p key={sentence} class="bad">{sentence}</p>)}
        <DataTable
          label="Traces" rows={ranks} empty="none" keyOf={(row, i) => `${i}${row.path}`}
          columns={[
            { id: "label", head: "rank", kind: "label", cell: (row) => row.label },
            { id: "state", head: "state", cell: (row) => (row.state === "failed" ? <span class="bad">{`failed: ${whyOf(row)}`}</span> : row.incomplete ? <span class="bad">read, incomplete</span> : row.state) },
            { id: "slices", head: "slices", kind: "figure", cell: (row) => (row.state === "read" ? count(row.slices) : "") },
            { id: "span", head: "from first to last event", kind: "figure", cell: (row) => (row.span ? duration(row.span.to_ns - row.span.from_ns) : "") },
            ...clocks,
            { id: "path", head: "path", kind: "name", cell: (row) => <Name name={row.path} /> },
          ]}
        />
      </section>
    </div>
  );
}

// Absent where no collective of several ranks was found.
function clockColumns(of: Meta | null): Column<Rank>[] {
  if (!of?.clock.residuals?.length) return [];
  const unit = unitOf(of.clock.residuals.reduce((most, { ns }) => Math.max(most, Math.abs(ns)), 0));
  const measured = (row: Rank) => residualOf(of, of.ranks.indexOf(row));
  return [
    {
      id: "clock", head: `clock off by ${unit}`, kind: "figure",
      title: "how much later than on the reference rank the collectives of both end, the median: positive where its rows lie too late",
      cell: (row) => {
        const residual = measured(row);
        if (residual === "reference") return <span class="dim">reference</span>;
        if (!residual) return row.state === "read" ? <span class="dim">cannot tell</span> : "";
        return <span title={`against ${of.ranks[residual.against]?.label ?? residual.against}; half of them within ${inUnit(residual.spread_ns, unit)} ${unit}`}>{inUnit(residual.ns, unit)}</span>;
      },
    },
    {
      id: "collectives", head: "by collectives", kind: "figure",
      cell: (row) => {
        const residual = measured(row);
        return residual && residual !== "reference" ? count(residual.collectives) : "";
      },
    },
  ];
}

export function RankTable({ ranks }: { ranks: NonNullable<Analysis["ranks"]> }) {
  const unit = unitOf(ranks.table.reduce((most, row) => Math.max(most, row.window_ns ?? 0), 0));
  const work = (color: number) => colorOf(theme.value, "work", color);
  const idleColor = causeColor(theme.value, "host-late", meta.value?.palettes.idle);
  const parts: { id: string; head: string; color: string; of: (row: RankTotals) => number | undefined }[] = [
    { id: "compute", head: "compute", color: work(0), of: (row) => row.compute_ns },
    { id: "comm", head: "exposed comm", color: work(3), of: (row) => row.exposed_comm_ns },
    { id: "copy", head: "exposed copies", color: work(9), of: (row) => row.exposed_copy_ns },
    { id: "idle", head: "idle", color: idleColor, of: (row) => row.idle_ns },
  ];
  const figure = (ns: number | undefined) => (ns === undefined ? "" : inUnit(ns, unit));
  const rankOf = (row: RankTotals) => meta.value?.ranks.find((rank) => rank.path === row.path);
  const widest = ranks.table.reduce((most, row) => Math.max(most, row.window_ns ?? 0), 1);
  const open = (row: RankTotals) => {
    const rank = rankOf(row);
    if (!rank?.span) return;
    showInTimeline({ from: rank.span.from_ns, to: rank.span.to_ns }, 0.02, { rank: meta.value?.ranks.indexOf(rank) ?? 0 });
  };
  const columns: Column<RankTotals>[] = [
    {
      id: "name", head: "rank", kind: "label", sort: (row) => row.rank ?? row.path,
      cell: (row) => (
        <>
          <button type="button" class="link" title={row.path} onClick={() => open(row)}>{row.identity?.name ?? row.path}</button>
          {rankOf(row)?.incomplete && <span class="bad"> incomplete</span>}
        </>
      ),
    },
    { id: "window", head: `window ${unit}`, kind: "figure", sort: (row) => row.window_ns ?? -1, cell: (row) => figure(row.window_ns) },
    { id: "busy", head: ranks.table.some((row) => rankOf(row)?.busy_is_least) ? "busy %, at least" : "busy %", kind: "figure", sort: (row) => busyShare(row) ?? -1, cell: (row) => { const busy = busyShare(row); return busy === undefined ? "" : percentFigure(busy); } },
    ...parts.map((part): Column<RankTotals> => ({
      id: part.id, head: `${part.head} ${unit}`, kind: "figure", sort: (row) => part.of(row) ?? -1, cell: (row) => figure(part.of(row)),
    })),
    { id: "steps", head: "steps", kind: "figure", sort: (row) => row.steps, cell: (row) => count(row.steps) },
    {
      id: "bar", head: "", kind: "bar",
      cell: (row) => (
        <span class="stack-bar" aria-hidden="true">
          {parts.map((part) => <span key={part.id} style={{ width: `${(100 * (part.of(row) ?? 0)) / widest}%`, background: part.color }} />)}
        </span>
      ),
    },
  ];
  const slowest = ranks.slowest === undefined ? undefined : ranks.table[ranks.slowest];
  return (
    <section class="rank-table">
      <h2>Ranks</h2>
      <p class="legend">
        {parts.map((part) => <span key={part.id} class="named"><Swatch color={part.color} />{part.head}</span>)}
        {slowest && <span class="dim">longest compute: {slowest.identity?.name ?? slowest.path}</span>}
        {ranks.missing.length > 0 && <span class="bad">missing: {ranks.missing.slice(0, 20).join(", ")}</span>}
      </p>
      <DataTable label="Ranks" columns={columns} rows={ranks.table} empty="none" keyOf={(row, i) => `${i}${row.path}`} />
    </section>
  );
}
