// The requests of the load: what the time of each went to, and of one of them every token with the step that made it.
import { useMemo, useState } from "preact/hooks";
import { partColor } from "../colors";
import { chunk, inStep, kParts, listed, openRequest, request, showStepOf, stepOfChunk, type ListedRequest } from "../requests";
import { analysis, meta, theme } from "../state";
import { stepName } from "../steps";
import { DataTable, Name, Swatch, type Column } from "../table";
import type { RequestChunk, RequestDetail, RequestParts } from "../types";
import { count, duration, inUnit, percentFigure, pointInTime, unitOf } from "../units";
import { Filter } from "./kernels";

const kRoles = { reads: "reads its prompt", "reads-and-makes": "reads its prompt, first token", makes: "makes a token" };

export function Requests() {
  const [filter, setFilter] = useState("");
  const of = analysis.value?.requests;
  const text = filter.toLowerCase();
  const rows = listed.value.filter((row) => [row.id, row.worker, row.scenario].some((part) => part?.toLowerCase().includes(text)));
  if (!of || of.list.length === 0) return <div class="page"><p class="dim">{analysis.value ? "No requests: they are in a run folder of tacho record, which sends a load and keeps the times of each token." : "Requests are shown once all traces are read."}</p></div>;
  return (
    <div class="page whole-page requests">
      <Filter label="requests" value={filter} onInput={setFilter} shown={rows.length} />
      <p class="legend">
        {kParts.filter((part) => of.list.some((row) => row.parts[part])).map((part) => <span key={part} class="named"><Swatch color={partColor(theme.value, part)} />{part}</span>)}
        {inStep.value && (
          <span>in {stepName(inStep.value.step)} of {meta.value?.ranks[inStep.value.step.rank]?.label}: <button type="button" class="link" onClick={() => (inStep.value = null)}>show all requests</button></span>
        )}
        {of.tied_share !== undefined && <span class="dim" title="the others fit several steps, or were made outside of the recording">{percentFigure(of.tied_share)} % of tokens tied to one step</span>}
      </p>
      <div class={request.value ? "request-body with-one" : "request-body"}>
        <List rows={rows} />
        {request.value && <One of={request.value} />}
      </div>
    </div>
  );
}

function List({ rows }: { rows: readonly ListedRequest[] }) {
  const longest = rows.reduce((most, row) => Math.max(most, row.e2e_ns), 1);
  const unit = unitOf(longest);
  const some = (has: (row: ListedRequest) => unknown) => rows.some((row) => has(row) !== undefined);
  const columns: Column<ListedRequest>[] = [
    { id: "id", head: "request", kind: "name", sort: (row) => row.id, cell: (row) => <Name name={row.id} onPick={() => void openRequest(row.list, inStep.value?.step.number)} /> },
    { id: "role", head: "in this step", kind: "label", cell: (row) => (row.role ? kRoles[row.role] : "") },
    { id: "worker", head: "engine", kind: "label", sort: (row) => row.worker ?? "", cell: (row) => row.worker ?? "" },
    { id: "scenario", head: "scenario", kind: "label", sort: (row) => row.scenario ?? "", cell: (row) => row.scenario ?? "" },
    { id: "prompt", head: "prompt", title: "tokens", kind: "figure", sort: (row) => row.prompt_tokens ?? -1, cell: (row) => (row.prompt_tokens === undefined ? "" : count(row.prompt_tokens)) },
    { id: "tokens", head: "answer", title: "tokens", kind: "figure", sort: (row) => row.tokens, cell: (row) => count(row.tokens) },
    { id: "ttft", head: `TTFT ${unit}`, kind: "figure", sort: (row) => row.ttft_ns ?? -1, cell: (row) => (row.ttft_ns === undefined ? "" : inUnit(row.ttft_ns, unit)) },
    { id: "e2e", head: `E2E ${unit}`, title: "from when it was due to its last token", kind: "figure", sort: (row) => row.e2e_ns, cell: (row) => inUnit(row.e2e_ns, unit) },
    { id: "bar", head: "", kind: "bar", cell: (row) => <PartsBar parts={row.parts} whole={longest} /> },
  ];
  const shown = columns.filter(({ id }) => (id !== "role" || inStep.value) && (id !== "scenario" || some((row) => row.scenario)) && (id !== "worker" || some((row) => row.worker)));
  return <DataTable label="Requests" scrolls sortBy="e2e" columns={shown} rows={rows} empty="no request has this in its id, engine or scenario" keyOf={(row) => `${row.list}`} />;
}

function PartsBar({ parts, whole }: { parts: RequestParts; whole: number }) {
  return (
    <span class="stack-bar" title={kParts.filter((part) => parts[part]).map((part) => `${part} ${duration(parts[part] ?? 0)}`).join("\n")}>
      {kParts.filter((part) => parts[part]).map((part) => <span key={part} style={{ width: `${(100 * (parts[part] ?? 0)) / whole}%`, background: partColor(theme.value, part) }} />)}
    </span>
  );
}

// The part that takes most.
const mainPart = (parts: RequestParts) => kParts.reduce((most, part) => ((parts[part] ?? 0) > (parts[most] ?? 0) ? part : most), kParts[0] as string);

interface NumberedChunk extends RequestChunk {
  at: number;
}
function One({ of }: { of: RequestDetail }) {
  const chunks = useMemo<NumberedChunk[]>(() => (of.chunks ?? []).map((one, at) => ({ ...one, at })), [of]);
  const unit = unitOf(chunks.reduce((most, one) => Math.max(most, one.gap_ns), 0));
  const columns: Column<NumberedChunk>[] = [
    { id: "token", head: "token", kind: "figure", sort: (row) => row.at, cell: (row) => (row.at === chunk.value ? <b class="chosen">{count(row.tokens)}</b> : count(row.tokens)) },
    { id: "when", head: "came at", title: "on the run's clock", kind: "figure", cell: (row) => pointInTime(row.at_ns, 1000) },
    { id: "gap", head: `after ${unit}`, title: "since the token before", kind: "figure", sort: (row) => row.gap_ns, cell: (row) => (row.at === 0 ? "" : inUnit(row.gap_ns, unit)) },
    { id: "part", head: "mostly", kind: "label", cell: (row) => (row.gap_ns > 0 ? <span class="named"><Swatch color={partColor(theme.value, mainPart(row.parts))} />{mainPart(row.parts)}</span> : "") },
    { id: "step", head: "step", kind: "label", cell: (row) => <StepCell of={of} row={row} /> },
  ];
  return (
    <section class="request-one" aria-label={`request ${of.id}`}>
      <h2>{of.id}</h2>
      {of.lacks && <p class="bad">not split: {of.lacks}</p>}
      {of.due_ns !== undefined && (
        <p class="dim">
          {`due at ${pointInTime(of.due_ns, 1000)}`}
          {of.reads && of.reads.length > 0 && `; prompt read in ${of.reads_known ? "" : "at least "}${of.reads.length === 1 ? "step" : "steps"} ${of.reads.slice(0, 8).join(", ")}${of.reads.length > 8 ? " ..." : ""}`}
          {"; T: from a token to its step, and back"}
        </p>
      )}
      <DataTable label="Tokens" scrolls columns={columns} rows={chunks} empty="no token is known" keyOf={(row) => `${row.at}`} />
      {(of.chunks_count ?? 0) > chunks.length && <p class="dim">{count(chunks.length)} of {count(of.chunks_count ?? 0)} chunks</p>}
    </section>
  );
}

function StepCell({ of, row }: { of: RequestDetail; row: NumberedChunk }) {
  const step = stepOfChunk(of, row);
  if (step) return <button type="button" class="link" onClick={() => showStepOf(of, row.at)}>{stepName(step)}</button>;
  return <span class="dim">{row.step === undefined ? "not recorded" : `one of ${row.step} to ${row.step_at_most}`}</span>;
}
