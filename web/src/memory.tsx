// What the allocators of the devices held over time, and what their peaks are made of. Only of traces that recorded it.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { drawChart } from "./chart";
import { colorOf } from "./colors";
import { meta, showInTimeline, theme } from "./state";
import { DataTable, Name, type Column } from "./table";
import { tracesOfRanks } from "./totals";
import type { Analysis, DeviceMemory } from "./types";
import { bytes, count, percentFigure, pointInTime, stepOfTicks } from "./units";

const kSteps = 500; // of the axis of time, told apart by their digits

interface Shown {
  memory: DeviceMemory;
  label: string;
  rank: number;
  offset: number; // a time of the trace + offset is one of the run
}
export function shownMemory(figures: Analysis): Shown[] {
  const of = meta.value?.ranks ?? [];
  return tracesOfRanks(figures).flatMap((trace) => {
    const rank = of.findIndex((one) => one.path === trace.path);
    const label = of.length > 1 ? `${of[rank]?.label ?? trace.path}, ` : "";
    return (trace.memory?.devices ?? []).map((memory) => ({ memory, label: label + memory.device, rank, offset: of[rank]?.offset_ns ?? 0 }));
  });
}

export function MemorySection({ figures }: { figures: Analysis }) {
  const all = shownMemory(figures);
  const [chosen, choose] = useState(0);
  const of = all[chosen] ?? all[0];
  if (!of) return null;
  return (
    <section class="steps memory">
      <h2>Memory over time</h2>
      <Levels of={of}>
        {all.length > 1 && (
          <label class="dim">device <select value={chosen} onChange={(event) => choose(Number(event.currentTarget.value))}>{all.map((one, i) => <option key={one.label} value={i}>{one.label}</option>)}</select></label>
        )}
      </Levels>
      <Chart of={of} />
      <Peak memory={of.memory} />
    </section>
  );
}

// The levels in words: they are there without the drawing too.
function Levels({ of, children }: { of: Shown; children: preact.ComponentChildren }) {
  const { peak, reserved_peak, growth, series } = of.memory;
  const time = (ns: number) => pointInTime(ns + of.offset, stepOfTicks(((series?.step_ns ?? 1) * kSteps) / 2000));
  const from = of.memory.start_allocated_bytes, to = of.memory.end_allocated_bytes;
  const at = (ns: number) => showInTimeline({ from: ns + of.offset, to: ns + of.offset + 1 }, 100_000, { rank: of.rank });
  const most = peak ? { what: "peak", at: peak.at_ns, bytes: peak.allocated_bytes } : growth && { what: "most above the start", at: growth.most_at_ns, bytes: growth.most_bytes };
  return (
    <p class="legend">
      {lines(of.memory).map(({ name, color }) => <span key={name} class="named"><span class="swatch" style={{ background: colorOf(theme.value, "work", color) }} />{name}</span>)}
      {most && <button type="button" class="rest" title="Show when" onClick={() => at(most.at)}>{most.what} <b>{bytes(most.bytes)}</b> at {time(most.at)}</button>}
      {peak?.reserved_bytes !== undefined && <span class="dim">reserved then <b>{bytes(peak.reserved_bytes)}</b></span>}
      {reserved_peak && <span class="dim">most reserved <b>{bytes(reserved_peak.bytes)}</b></span>}
      {from !== undefined && to !== undefined && <span class="dim">from start to end <b>{bytes(from)}</b> to <b>{bytes(to)}</b></span>}
      <span class="dim">{count(of.memory.allocations)} allocations, {count(of.memory.frees)} frees</span>
      {children}
    </p>
  );
}

function lines({ series }: DeviceMemory): { name: string; color: number; values: number[] }[] {
  return [
    { name: "reserved", color: 3, values: series?.reserved_bytes ?? [] },
    { name: "allocated", color: 0, values: series?.allocated_bytes ?? [] },
    { name: "allocated since the start", color: 0, values: series?.grown_bytes ?? [] },
  ].filter(({ values }) => values.length > 0);
}

function Chart({ of }: { of: Shown }) {
  const box = useRef<HTMLDivElement>(null);
  const { series } = of.memory;
  const drawn = lines(of.memory);
  useEffect(() => {
    const to = box.current;
    const parts = drawn[0]?.values.length ?? 0;
    if (!to || !series || parts === 0) return;
    const start = series.start_ns + of.offset;
    const times = Array.from({ length: parts + 1 }, (_, i) => start + i * series.step_ns);
    return drawChart(to, {
      scales: { x: { time: false }, y: { range: (_, least, most) => [Math.min(0, least), most * 1.08 || 1] } },
      x: { values: (_, values) => values.map((value, i) => pointInTime(value, stepOfTicks(Math.abs((values[i + 1] ?? values[0] ?? 0) - value) / 2))) },
      y: { size: 64, values: (_, values) => values.map((value) => (value < 0 ? `-${bytes(-value)}` : bytes(value))) },
      series: drawn.map(({ name, color }) => ({ label: name, stroke: colorOf(theme.value, "work", color), width: 1.5, paths: uPlot.paths.stepped?.({ align: 1 }), points: { show: false } }) as uPlot.Series),
      data: [times, ...drawn.map(({ values }) => [...values, values[values.length - 1]])] as uPlot.AlignedData,
      onClick: (chart) => {
        const at = chart.posToVal(chart.cursor.left ?? 0, "x");
        showInTimeline({ from: Math.round(at), to: Math.round(at) + series.step_ns }, 1, { rank: of.rank });
      },
    });
  }, [of.memory, of.offset, theme.value]);
  if (drawn.length === 0) return <p class="dim">no level can be told: events of memory are damaged</p>;
  return <div class="chart" ref={box} role="img" aria-label={`Memory of ${of.label} over time`} />;
}

interface Part {
  name: string;
  inside: string;
  bytes: number;
  blocks?: number;
}
// What was alive: by operator, then what no operator of the recording allocated. The rows add up to the peak.
export function peakParts({ peak }: DeviceMemory): Part[] {
  if (peak?.before_bytes === undefined) return [];
  const rest: Part[] = [
    { name: "[before the recording]", inside: "", bytes: peak.before_bytes },
    { name: (peak.untold_bytes ?? 0) > 0 ? "[not recorded]" : "[release not recorded]", inside: "", bytes: peak.untold_bytes ?? 0 },
  ];
  return [
    ...(peak.operators ?? []).map((of) => ({ name: of.name ?? "[no operator]", inside: of.inside ?? "", bytes: of.bytes, blocks: of.blocks })),
    ...rest.filter((of) => of.bytes !== 0),
  ];
}
function Peak({ memory }: { memory: DeviceMemory }) {
  const whole = memory.peak?.allocated_bytes ?? 0;
  const rows = peakParts(memory);
  if (rows.length === 0) return null;
  const columns: Column<Part>[] = [
    { id: "name", head: "alive at the peak", kind: "name", sort: (row) => row.name, cell: (row) => <Name name={row.name} /> },
    { id: "inside", head: "inside", title: "the outermost operator around it", kind: "label", sort: (row) => row.inside, cell: (row) => <Name name={row.inside} /> },
    { id: "bytes", head: "bytes", kind: "figure", sort: (row) => row.bytes, cell: (row) => (row.bytes < 0 ? `-${bytes(-row.bytes)}` : bytes(row.bytes)) },
    { id: "share", head: "% of the peak", kind: "figure", cell: (row) => <span class="dim">{percentFigure(row.bytes / Math.max(1, whole))}</span> },
    { id: "blocks", head: "blocks", kind: "figure", sort: (row) => row.blocks ?? 0, cell: (row) => (row.blocks === undefined ? "" : count(row.blocks)) },
  ];
  return <DataTable label="Alive at the peak" columns={columns} rows={rows} empty="nothing" keyOf={(row) => `${row.name}\n${row.inside}`} />;
}
