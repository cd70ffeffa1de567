// Below the timeline: the figures of the selection as tables, and the slice that was picked. It is always there, and says in words what the
// canvas shows.
import { useMemo } from "preact/hooks";
import { causeColor, colorOf } from "./colors";
import { shownFigures } from "./figures";
import { kIdleOrUnrecorded } from "./labels";
import { around, goTo, meta, pick, ranks, selected, selectedText, selection, setView, slice, theme } from "./state";
import { Bar, DataTable, Name, Swatch, type Column } from "./table";
import type { IdleRow, NameRow } from "./types";
import { count, duration, inMicroseconds, inUnit, percentFigure, pointInTime, stepOfTicks, unitOf } from "./units";
import { SliceDetail } from "./slice_detail";
import { busyIsLeast, isIdle, kNotTold, notShownOr, overRanks, summedUp, timesOf, whereOf, whyNo, type Times } from "./untold";

const kLoading = "reading the figures …";

export function Panel() {
  const figures = shownFigures.value;
  const of = figures?.of ?? null;
  const chosen = selection.value !== null;
  const window = figures?.window;
  const length = window ? window.to - window.from : 0;
  const step = stepOfTicks(length / 1000);
  const idle = of?.idle ?? [];
  const shown = of && summedUp.value > 0 ? of : null;
  // What shares of device work are of, as "device busy"; 0 where some of that work has no times.
  const whole = ranks.value.some((rank) => rank.no_device_time && !rank.no_figures) ? 0 : timesOf(idle).all;
  const hasDevice = of === null || idle.length > 0 || (shown !== null && whyNo("no_device_time") !== "");
  const work = of?.names.filter((row) => row.palette === "work") ?? [];
  return (
    <section class="panel" aria-label="Figures of the selection">
      <div class="panel-head" aria-live="polite">
        <strong>{chosen ? "Selection" : "In view"}</strong>
        {selected.value && (
          <span class="what">
            {selected.value.cause && <Swatch color={causeColor(theme.value, selected.value.cause, meta.value?.palettes.idle)} />}
            {selectedText()}
          </span>
        )}
        {window ? (
          <>
            <span>{`${pointInTime(window.from, step)} to ${pointInTime(window.to, step)}`}</span>
            <span class="dim">length <b>{duration(length)}</b></span>
          </>
        ) : <span class="dim">{kLoading}</span>}
        {shown && overRanks.value && <span class="dim">figures{overRanks.value.replace(",", "")}:</span>}
        {shown && <span class="dim">steps <b>{count(shown.steps)}</b></span>}
        {work.length > 0 && <span class="dim">kernels and copies <b>{count(work.reduce((sum, row) => sum + row.count, 0))}</b></span>}
        {shown && <DeviceShare idle={idle} />}
        {!chosen && <span class="dim hint">drag over the timeline to select</span>}
        {figures?.why && <span class="bad">{figures.why}</span>}
      </div>
      <div class={slice.value ? "panel-body with-slice" : "panel-body"}>
        {slice.value && <SliceDetail of={slice.value} />}
        <Names rows={of?.names ?? []} whole={whole} empty={of ? notShownOr(nothingIn(idle, "nothing was recorded in this window")) : kLoading} />
        {hasDevice && <Categories colors={of?.colors ?? []} whole={whole} empty={of ? emptyWork(idle) : kLoading} />}
        {hasDevice && <IdleCauses idle={idle} empty={of ? emptyIdle(idle) : kLoading} />}
      </div>
    </section>
  );
}

// What a table says that has no row: where the window lies, or `none` inside the time of a device's work.
function nothingIn(idle: readonly IdleRow[], none: string): string {
  return idle.length > 0 && timesOf(idle).all === 0 ? whereOf(idle) : none;
}
function emptyWork(idle: readonly IdleRow[]): string {
  if (idle.length > 0 && idle.every((row) => row.device === "cpu")) return "a CPU engine has no kernels: see Operators";
  return nothingIn(idle, timesOf(idle).told ? "no device work" : "no device work was recorded here");
}
function emptyIdle(idle: readonly IdleRow[]): string {
  return idle.length === 0 ? `cannot be told: ${whyNo("no_device_time")}` : nothingIn(idle, "not idle");
}

type Share = Times & { least: boolean };
const busyText = (of: Share) => `${of.least ? "at least " : ""}${percentFigure(of.busy / of.all)} %`;
const idleText = (of: Share) => (of.told ? `${of.least ? "at most " : ""}${duration(of.all - of.busy)}` : "cannot be told");
// Of all devices together, and how much the ranks differ.
function DeviceShare({ idle }: { idle: IdleRow[] }) {
  const byRank = [...new Set(idle.map((row) => row.rank))]
    .map((rank) => ({ rank, least: busyIsLeast(ranks.value[rank]?.path), ...timesOf(idle.filter((row) => row.rank === rank)) })).filter((of) => of.all > 0);
  const of: Share = { ...timesOf(idle), least: byRank.some(({ least }) => least) };
  const why = whyNo("no_device_time");
  if (of.all === 0) return idle.length === 0 && why ? <span class="dim" title={why}>device busy <b>cannot be told</b></span> : null;
  const shares = byRank.map((of) => of.busy / of.all);
  const untold = byRank.filter(({ told }) => !told).length;
  const title = byRank.length > 1 ? byRank.map((of) => `${ranks.value[of.rank]?.label ?? of.rank}: busy ${busyText(of)}, idle ${idleText(of)}`).join("\n") : "";
  return (
    <>
      <span class="dim" title={["from the first to the last work inside the window, over all devices", title].filter(Boolean).join("\n")}>
        device busy <b>{busyText(of)}</b>
        {` of ${duration(of.all)}`}
        {byRank.length < summedUp.value && `, ${byRank.length} of ${summedUp.value} traces`}
        {byRank.length > 1 && ` (${percentFigure(Math.min(...shares))} to ${percentFigure(Math.max(...shares))} % by rank)`}
      </span>
      <span class="dim">idle <b>{idleText(of)}</b>{untold > 0 && untold < byRank.length && ` of ${untold} of ${byRank.length} traces`}</span>
    </>
  );
}

// The head of a column of shares, which says of what they are.
const kOfWork = "of the time from the first to the last work inside the window, over all devices, as \"device busy\"";

function Names({ rows, whole, empty }: { rows: readonly NameRow[]; whole: number; empty: string }) {
  // Device work is what most come for; what the host did follows it.
  const ordered = useMemo(() => [...rows.filter((row) => row.palette === "work"), ...rows.filter((row) => row.palette === "host")], [rows]);
  const unit = unitOf(ordered[0]?.total_ns ?? 0);
  const most = ordered.reduce((largest, row) => Math.max(largest, row.palette === "work" ? row.total_ns : 0), 1);
  const device = ordered[0]?.palette === "work";
  const columns: Column<NameRow>[] = [
    {
      id: "name", head: "slice", kind: "name", sort: (row) => row.name,
      cell: (row) => (
        <Name name={row.short_name || row.name} whole={row.name} color={colorOf(theme.value, row.palette, row.color)} onPick={row.longest_at ? () => void show(row) : undefined} />
      ),
    },
    { id: "total", head: `total ${unit}`, title: overRanks.value.replace(", ", ""), kind: "figure", sort: (row) => row.total_ns, cell: (row) => inUnit(row.total_ns, unit) },
    { id: "share", head: `% of ${duration(whole)}`, title: kOfWork, kind: "figure", cell: (row) => <span class="dim">{row.palette === "work" ? percentFigure(row.total_ns / whole) : ""}</span> },
    { id: "bar", head: "", kind: "bar", cell: (row) => <Bar share={row.palette === "work" ? row.total_ns / most : 0} color={colorOf(theme.value, row.palette, row.color)} /> },
    { id: "count", head: "count", kind: "figure", sort: (row) => row.count, cell: (row) => count(row.count) },
    { id: "mean", head: "mean us", title: "of the parts inside the window", kind: "figure", sort: (row) => row.total_ns / row.count, cell: (row) => inMicroseconds(row.total_ns / Math.max(1, row.count)) },
    { id: "longest", head: "longest slice us", title: "also outside the window", kind: "figure", sort: (row) => row.longest_ns, cell: (row) => inMicroseconds(row.longest_ns) },
  ];
  return <DataTable label="Slices of the window by name" columns={columns.filter(({ id }) => (id !== "share" || (device && whole > 0)) && (id !== "bar" || device))} rows={ordered} empty={empty} scrolls keyOf={(row) => `${row.palette}${row.kind}${row.name}`} />;
}
export async function show(row: { longest_at?: NameRow["longest_at"] }): Promise<void> {
  if (!row.longest_at) return;
  goTo("timeline");
  const found = await pick(row.longest_at);
  if (found) setView(around({ from: found.from_ns, to: found.to_ns }, 2));
}

function Categories({ colors, whole, empty }: { colors: { palette: string; color: number; total_ns: number }[]; whole: number; empty: string }) {
  const work = colors.filter((row) => row.palette === "work" && row.total_ns > 0).sort((a, b) => b.total_ns - a.total_ns);
  const unit = unitOf(work[0]?.total_ns ?? 0);
  const names = meta.value?.palettes.work ?? [];
  type Row = (typeof work)[number];
  const columns: Column<Row>[] = [
    {
      id: "name", head: "category", kind: "label",
      cell: (row) => <span class="named"><Swatch color={colorOf(theme.value, "work", row.color)} />{names.find((named) => named.color === row.color)?.name ?? "other"}</span>,
    },
    { id: "total", head: unit, kind: "figure", cell: (row) => inUnit(row.total_ns, unit) },
    ...(whole > 0 ? [{ id: "share", head: `% of ${duration(whole)}`, title: kOfWork, kind: "figure" as const, cell: (row: Row) => <span class="dim">{percentFigure(row.total_ns / whole)}</span> }] : []),
    { id: "bar", head: "", kind: "bar", cell: (row) => <Bar share={row.total_ns / (work[0]?.total_ns ?? 1)} color={colorOf(theme.value, "work", row.color)} /> },
  ];
  return <DataTable label="Device work of the window by category" columns={columns} rows={work} empty={empty} scrolls keyOf={(row) => String(row.color)} />;
}

function IdleCauses({ idle, empty }: { idle: IdleRow[]; empty: string }) {
  const causes = new Map<string, { cause: string; total_ns: number; count: number }>();
  for (const row of idle) {
    if (!isIdle(row)) continue;
    const of = causes.get(row.cause) ?? { cause: row.cause, total_ns: 0, count: 0 };
    causes.set(row.cause, { cause: row.cause, total_ns: of.total_ns + row.total_ns, count: of.count + row.count });
  }
  const rows = [...causes.values()].filter((row) => row.total_ns > 0).sort((a, b) => Number(a.cause === kNotTold) - Number(b.cause === kNotTold) || b.total_ns - a.total_ns);
  const all = rows.reduce((sum, row) => sum + row.total_ns, 0);
  const unit = unitOf(rows[0]?.total_ns ?? 0);
  const most = rows.reduce((largest, row) => Math.max(largest, row.total_ns), 1);
  const { told } = timesOf(idle);
  const color = (cause: string) => causeColor(theme.value, cause === kNotTold ? "unknown" : cause, meta.value?.palettes.idle);
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    { id: "cause", head: "idle because", kind: "label", cell: (row) => <span class="named"><Swatch color={color(row.cause)} />{row.cause === kNotTold ? kIdleOrUnrecorded : row.cause}</span> },
    { id: "total", head: unit, kind: "figure", cell: (row) => inUnit(row.total_ns, unit) },
    { id: "share", head: told ? "idle %" : "%", title: "of the time in which nothing that was recorded ran", kind: "figure", cell: (row) => <span class="dim">{percentFigure(row.total_ns / Math.max(1, all))}</span> },
    ...(told ? [{ id: "bar", head: "", kind: "bar" as const, cell: (row: Row) => <Bar share={row.total_ns / most} color={color(row.cause)} /> }] : []), // else there is no room
    { id: "count", head: "gaps", kind: "figure", cell: (row) => (row.cause === kNotTold ? "" : count(row.count)) },
  ];
  return <DataTable label="Idle time of the window by cause" columns={columns} rows={rows} empty={empty} scrolls keyOf={(row) => row.cause} />;
}
