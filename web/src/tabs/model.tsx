// The layers of the model, by their blocks: of a step on average, with what the hardware would need at least where that is known.
import { Fragment } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { getJson, ServerError } from "../api";
import { blockColor } from "../colors";
import { Icicle } from "../icicle";
import { blockRows, layerRows, roofOfPhase, timeOfPhase, type BlockRow, type LayerRow } from "../model";
import { analysis, meta, ranks, span, theme } from "../state";
import { Bar, DataTable, Swatch, type Column } from "../table";
import type { ModelWords, PhaseLayers, Rank, Room, TraceAnalysis } from "../types";
import { count, duration, inUnit, percentFigure, unitOf, type Unit } from "../units";
import { findSlice } from "./links";

export function Model() {
  const of = analysis.value;
  const traces = useMemo(
    () => ranks.value.flatMap((rank, r) => (of?.traces.find((one) => one.path === rank.path && one.devices.length > 0) ? [{ rank, r }] : [])),
    [ranks.value, of],
  );
  const [chosen, setChosen] = useState(0);
  const [phase, setPhase] = useState("");
  const shown = traces[Math.min(chosen, traces.length - 1)];
  const words = useWords(shown?.r, of !== null);
  if (!of) return <Nothing text="The traces are still being read." />;
  if (!shown) return <Nothing text="No layers, because no trace has work of a device." />;
  const trace = of.traces.find((one) => one.path === shown.rank.path) as TraceAnalysis;
  const phases = trace.layers?.phases ?? [];
  const most = phases.reduce<PhaseLayers | undefined>((best, one) => (!best || timeOfPhase(one) > timeOfPhase(best) ? one : best), undefined);
  const picked = phases.find((one) => one.phase === phase) ?? most;
  return (
    <div class="page model">
      <div class="filter">
        {traces.length > 1 && (
          <label>
            <span class="dim">trace </span>
            <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {traces.map(({ rank }, i) => <option key={i} value={i}>{rank.label}</option>)}
            </select>
          </label>
        )}
        {picked && (
          <label>
            <span class="dim">steps </span>
            <select value={picked.phase} onChange={(event) => setPhase(event.currentTarget.value)}>
              {phases.map((one) => <option key={one.phase} value={one.phase}>{`${one.phase}: ${count(one.steps)}`}</option>)}
            </select>
          </label>
        )}
      </div>
      {picked ? <OfPhase trace={trace} of={picked} words={words} rank={shown.rank} number={shown.r} /> : words && <p>{words.no_layers ? `No layers, because ${words.no_layers}.` : "No layers."}</p>}
    </div>
  );
}
function Nothing({ text }: { text: string }) {
  return <div class="page model"><p class="dim">{text}</p></div>;
}
function useWords(rank: number | undefined, ready: boolean): ModelWords | null {
  const [words, setWords] = useState<ModelWords | null>(null);
  useEffect(() => {
    if (rank === undefined || !ready) return;
    const stop = new AbortController();
    getJson<ModelWords>(`api/v1/model?rank=${rank}`, stop.signal)
      .then(setWords)
      .catch((error: unknown) => {
        if (error instanceof ServerError) setWords({ no_layers: error.message, phases: [], room: [] });
      });
    return () => stop.abort();
  }, [rank, ready]);
  return words;
}

interface OfPhaseProps {
  trace: TraceAnalysis;
  of: PhaseLayers;
  words: ModelWords | null;
  rank: Rank;
  number: number;
}
function OfPhase({ trace, of, words, rank, number }: OfPhaseProps) {
  const blocks = useMemo(() => blockRows(trace, of), [trace, of]);
  const layers = useMemo(() => layerRows(of), [of]);
  const step = timeOfPhase(of) / of.steps;
  const roof = roofOfPhase(trace, of.phase);
  const room = words?.room.filter((one) => one.phase === of.phase) ?? [];
  const rows = rank.rows.flatMap((row, i) => (row.kind === "block" && row.slices > 0 ? [{ row, i }] : []));
  return (
    <>
      <p class="dim">{words?.phases.find((one) => one.phase === of.phase)?.layers}</p>
      <h2>{`Blocks of a ${of.phase} step`}</h2>
      <p>
        <b>{duration(step)}</b> of device time
        {roof && <>, <b>{duration(roof.roof)}</b> at the roof, MFU <b>{percentFigure(roof.mfu ?? 0)} %</b>, MBU <b>{percentFigure(roof.mbu ?? 0)} %</b></>}
      </p>
      <Blocks rows={blocks} unit={unitOf(step)} />
      {words && <p class="dim">{words.roofline ? [words.roofline, words.no_roofline].filter(Boolean).join("; ") : `No roofline, because ${words.no_roofline ?? ""}.`}</p>}
      {words?.speculation && of.phase === "decode" && <p>{`${words.speculation[0]?.toUpperCase()}${words.speculation.slice(1)}.`}</p>}
      {room.length > 0 && (
        <>
          <h2>Room to fuse and to overlap</h2>
          <Rooms rows={room} />
          <p class="dim">Ceilings of a step, which do not add up. Gaps: what is saved if only the gaps go.</p>
        </>
      )}
      {rows.map(({ row, i }) => (
        <Fragment key={i}>
          <h2>{`Where the time of all steps goes${rows.length > 1 ? `, device ${row.owner}` : ""}`}</h2>
          <Icicle rank={number} row={i} window={span.value} palette="blocks" of="of device time" top={of.phase} inOrder />
        </Fragment>
      ))}
      <h2>{`Layers of a ${of.phase} step`}</h2>
      <Layers rows={layers} />
    </>
  );
}

function Blocks({ rows, unit }: { rows: readonly BlockRow[]; unit: Unit }) {
  const most = rows.reduce((largest, row) => Math.max(largest, row.device), 1);
  const color = (id: string) => blockColor(theme.value, id, meta.value?.blocks);
  const gapUnit = unitOf(rows.reduce((largest, row) => Math.max(largest, row.gap), 0));
  const us = (value: number | undefined, of: Unit = unit) => (value === undefined ? "" : inUnit(value, of));
  const columns: Column<BlockRow>[] = [
    { id: "block", head: "block", kind: "label", cell: (row) => <span class="named"><Swatch color={color(row.id)} /><button type="button" class={row.outside ? "link dim" : "link"} title={row.outside ? "outside of layers" : "in the layers"} onClick={() => void findSlice(row.id)}>{row.id}</button></span> },
    { id: "device", head: `a step ${unit}`, title: "device time", kind: "figure", sort: (row) => row.device, cell: (row) => us(row.device) },
    { id: "share", head: "%", title: "of the device time of the step", kind: "figure", cell: (row) => <span class="dim">{percentFigure(row.share)}</span> },
    { id: "bar", head: "", kind: "bar", cell: (row) => <Bar share={row.device / most} color={color(row.id)} /> },
    { id: "gap", head: `gaps ${gapUnit}`, title: "before its work, while nothing of the step ran", kind: "figure", sort: (row) => row.gap, cell: (row) => us(row.gap, gapUnit) },
    { id: "layer", head: "a layer us", title: "device time in one layer that has it", kind: "figure", sort: (row) => row.aLayer ?? 0, cell: (row) => us(row.aLayer, "us") },
  ];
  if (rows.some((row) => row.roof)) {
    columns.push(
      { id: "roof", head: `at the roof ${unit}`, title: "the least that its work takes at the peaks of the accelerator", kind: "figure", sort: (row) => row.roof?.roof ?? 0, cell: (row) => us(row.roof?.roof) },
      { id: "above", head: `above it ${unit}`, kind: "figure", sort: (row) => (row.roof ? row.roof.device - row.roof.roof : 0), cell: (row) => us(row.roof && row.roof.device - row.roof.roof) },
      { id: "mfu", head: "MFU %", kind: "figure", cell: (row) => (row.roof?.mfu === undefined ? "" : percentFigure(row.roof.mfu)) },
      { id: "mbu", head: "MBU %", kind: "figure", cell: (row) => (row.roof?.mbu === undefined ? "" : percentFigure(row.roof.mbu)) },
    );
  }
  return <DataTable label="Blocks of the model" columns={columns} rows={rows} empty="no block" keyOf={(row) => `${row.outside}${row.id}`} />;
}

function Rooms({ rows }: { rows: readonly Room[] }) {
  const unit = unitOf(rows.reduce((largest, row) => Math.max(largest, row.most_ns), 0));
  const columns: Column<Room>[] = [
    { id: "kind", head: "could be", cell: (row) => (row.kind === "fuse" ? "one kernel" : "hidden") },
    { id: "what", head: "what", cell: (row) => row.what },
    { id: "layers", head: "layers", kind: "figure", sort: (row) => row.layers, cell: (row) => count(row.layers) },
    { id: "most", head: `at most ${unit}`, title: "the most that a step would save", kind: "figure", sort: (row) => row.most_ns, cell: (row) => inUnit(row.most_ns, unit) },
    { id: "gap", head: `gaps ${unit}`, title: "the part in which nothing ran on the device", kind: "figure", sort: (row) => row.gap_ns, cell: (row) => (row.kind === "fuse" ? inUnit(row.gap_ns, unit) : "") },
    { id: "share", head: "%", title: "of the time of the layers", kind: "figure", cell: (row) => percentFigure(row.share) },
  ];
  return <DataTable label="Room to fuse and to overlap" columns={columns} rows={rows} empty="none" keyOf={(row) => row.kind + row.what} />;
}

function Layers({ rows }: { rows: readonly LayerRow[] }) {
  const most = rows.reduce((largest, row) => Math.max(largest, row.device), 1);
  const blocks = [...new Set(rows.flatMap((row) => [...row.blocks.keys()]))];
  const color = (id: string) => blockColor(theme.value, id, meta.value?.blocks);
  const columns: Column<LayerRow>[] = [
    { id: "layer", head: "layer", sort: (row) => row.index, cell: (row) => <button type="button" class="link" onClick={() => void findSlice(`layer ${row.index}`)}>{row.index}</button> },
    { id: "kind", head: "kind", sort: (row) => row.kind, cell: (row) => row.kind },
    { id: "device", head: "a step us", title: "device time", kind: "figure", sort: (row) => row.device, cell: (row) => inUnit(row.device, "us") },
    { id: "gap", head: "gaps us", title: "before its work, while nothing of the step ran", kind: "figure", sort: (row) => row.gap, cell: (row) => inUnit(row.gap, "us") },
    {
      id: "bar", head: "", kind: "bar", cell: (row) => (
        <span class="stack-bar" aria-hidden="true">
          {blocks.map((id) => <span key={id} title={id} style={{ width: `${(100 * (row.blocks.get(id) ?? 0)) / most}%`, background: color(id) }} />)}
        </span>
      ),
    },
    ...blocks.map((id): Column<LayerRow> => ({ id, head: id, kind: "figure", sort: (row) => row.blocks.get(id) ?? 0, cell: (row) => (row.blocks.has(id) ? inUnit(row.blocks.get(id) ?? 0, "us") : "") })),
  ];
  return <DataTable label="Layers of the model" columns={columns} rows={rows} empty="no layer" keyOf={(row) => String(row.index)} />;
}
