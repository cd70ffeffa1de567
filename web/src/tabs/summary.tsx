// The first screen: one sentence, one bar that adds up, fifteen answers, and the tables that say why.
import { useMemo } from "preact/hooks";
import { causeColor, colorOf, inkOn } from "../colors";
import { kIdleOrUnrecorded, whyOf } from "../labels";
import { MemorySection } from "../memory";
import { StepsChart } from "../steps_chart";
import { analysis, goTo, meta, showInTimeline, span, summary, theme } from "../state";
import { Bar, DataTable, Swatch, type Column } from "../table";
import { computesOnCpu, kernelRows, timedTraces } from "../totals";
import type { Analysis, Answer, Gap, RunTotals, Total } from "../types";
import { count, duration, inUnit, percent, percentFigure, pointInTime, stepOfTicks, unitOf } from "../units";
import { notShownOr, whyNo } from "../untold";
import { kernelColumns } from "./kernels";
import { categoryColor } from "./links";
import { RankTable } from "./ranks";

export function SummaryTab() {
  const of = summary.value;
  const figures = analysis.value;
  if (!of || !figures) return <Waiting />;
  return (
    <div class="summary page">
      <Verdict text={of.verdict} trust={of.trust} caveat={of.caveat} idle={figures} />
      <WholeBar totals={of.totals} />
      <Answers answers={of.answers} />
      {figures.traces.some((trace) => trace.devices.length + trace.kernels.length > 0) && <Tables figures={figures} totals={of.totals} />}
      {figures.traces.some((trace) => (trace.steps?.list.length ?? 0) > 1) && <StepsChart />}
      <MemorySection figures={figures} />
      {figures.ranks && figures.ranks.table.length > 1 && <RankTable ranks={figures.ranks} />}
      <Notes figures={figures} />
    </div>
  );
}

// While traces are read their sizes stand where the figures will.
function Waiting() {
  const ranks = meta.value?.ranks ?? [];
  return (
    <div class="summary page">
      <h1 class="verdict dim">{ranks.length > 0 && ranks.every((rank) => rank.state === "failed") ? "No trace could be read" : `Reading ${count(ranks.length)} ${ranks.length === 1 ? "trace" : "traces"} …`}</h1>
      <p class="brief dim">The timeline shows each as soon as it is read.</p>
      <ul class="reading">
        {ranks.map((rank) => (
          <li key={rank.path}>
            <span class="mono">{rank.label || rank.path}</span>
            <span class={rank.state === "failed" ? "bad" : "dim"}>{rank.state === "failed" ? whyOf(rank) : rank.state === "read" ? `${count(rank.slices)} slices` : rank.state}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Verdict({ text, trust, caveat, idle }: { text: string; trust: string[]; caveat?: string | undefined; idle: Analysis }) {
  // The first share in the sentence is what it is about: red where the device mostly stood still.
  const match = /[<>]?\d[\d.,]* %/.exec(text);
  const still = (idle.verdict.busy_share ?? 1) < 0.5;
  const color = still ? causeColor(theme.value, idle.verdict.idle_cause ?? "host-late", meta.value?.palettes.idle) : undefined;
  return (
    <>
      <h1 class="verdict">
        {match ? (
          <>
            {text.slice(0, match.index)}
            <span class={still ? "" : "accent"} style={color ? { color } : {}}>{match[0]}</span>
            {text.slice(match.index + match[0].length)}
          </>
        ) : (
          text
        )}
      </h1>
      <p class="brief dim">
        {caveat && <span class="caveat">{caveat}. </span>}
        {trust.length > 0 && <span>Trust: {trust.join(" · ")}.</span>}
      </p>
    </>
  );
}

function whyNoWindow(): string {
  const why = whyNo("no_device_time");
  return notShownOr(why ? `device time cannot be told: ${why}` : "no device work was recorded, so there is no window to divide");
}

interface Piece {
  id: string;
  label: string;
  ns: number;
  color: string;
}
function WholeBar({ totals }: { totals: RunTotals }) {
  if (totals.window_ns === 0) return <p class="whole dim">{whyNoWindow()}</p>;
  const work = (color: number) => colorOf(theme.value, "work", color);
  const told = totals.idle_ns !== undefined;
  const accounted = totals.busy_ns + totals.causes.reduce((sum, cause) => sum + cause.ns, 0);
  const pieces: Piece[] = [
    { id: "compute", label: "compute", ns: totals.compute_ns, color: work(0) },
    { id: "comm", label: "exposed communication", ns: totals.exposed_comm_ns ?? 0, color: work(3) },
    { id: "copy", label: "exposed copies", ns: totals.exposed_copy_ns ?? 0, color: work(9) },
    ...totals.causes.map((cause) => ({ id: cause.id, label: `idle: ${cause.id}`, ns: cause.ns, color: causeColor(theme.value, cause.id, meta.value?.palettes.idle) })),
    ...(told ? [] : [{ id: "not-compute", label: "communication and copies", ns: totals.busy_ns - totals.compute_ns, color: work(3) }]),
    { id: "unexplained", label: told ? "idle" : kIdleOrUnrecorded, ns: Math.max(0, totals.window_ns - accounted), color: causeColor(theme.value, "unknown", meta.value?.palettes.idle) },
  ].filter((piece) => piece.ns > 0);
  const share = (piece: Piece) => piece.ns / totals.window_ns;
  const inside = (piece: Piece) => share(piece) * 1200 > 14 + 6.6 * (piece.label.length + 8);
  const below = pieces.filter((piece) => !inside(piece));
  const what = totals.devices > 1 ? `Where ${duration(totals.window_ns)} of ${totals.devices} devices go` : `Where the window of ${duration(totals.window_ns)} goes`;
  return (
    <section class="whole" aria-label={what}>
      <h2>{what}</h2>
      <div class="whole-bar">
        {pieces.map((piece) => (
          <button
            key={piece.id} type="button" title={`${piece.label}: ${duration(piece.ns)}, ${percent(share(piece))}`} aria-label={`${piece.label} ${percent(share(piece))}`}
            style={{ flexGrow: String(piece.ns / totals.window_ns), background: piece.color, color: inkOn(piece.color) }}
            onClick={() => openPiece(piece)}
          >
            {inside(piece) ? <span>{piece.label} {percent(share(piece))}</span> : null}
          </button>
        ))}
      </div>
      <p class="whole-rest">
        {below.map((piece) => (
          <button key={piece.id} type="button" class="rest" onClick={() => openPiece(piece)}>
            <Swatch color={piece.color} />
            {piece.label} <b>{percent(share(piece))}</b>
          </button>
        ))}
      </p>
    </section>
  );
}
// To the longest gap of a cause, else to the timeline.
function openPiece(piece: Piece): void {
  const gap = meta.value?.gaps.find((one) => one.cause === piece.id);
  if (gap) showInTimeline({ from: gap.from_ns, to: gap.to_ns }, 1, gap);
  else goTo("timeline");
}

function Answers({ answers }: { answers: Answer[] }) {
  if (answers.length === 0) return null;
  return (
    <section class="answers" aria-label="Answers">
      {answers.map((answer) => {
        const at = answer.at;
        const body = (
          <>
            <span class="question">{answer.question}</span>
            {answer.cannot_tell ? (
              <span class="cannot"><b>Cannot tell</b>, because {answer.cannot_tell.replace(/^because /, "")}</span>
            ) : (
              <>
                {answer.figure && (
                  <span class="answer-figure">
                    <b>{answer.figure}</b>
                    {answer.of && <span class="dim"> {/^of /.test(answer.of) ? answer.of : `of ${answer.of}`}</span>}
                  </span>
                )}
                {answer.share !== undefined && <Bar share={answer.share} color="var(--dim)" />}
                <span class="sentence">{answer.sentence}</span>
              </>
            )}
          </>
        );
        return at ? (
          <button key={answer.id} type="button" class="answer" title="Show where" onClick={() => showInTimeline({ from: at.from_ns, to: Math.max(at.to_ns, at.from_ns + 1) }, 0.6, at)}>{body}</button>
        ) : (
          <div key={answer.id} class="answer">{body}</div>
        );
      })}
    </section>
  );
}

function Tables({ figures, totals }: { figures: Analysis; totals: RunTotals }) {
  const kernels = useMemo(() => kernelRows(figures).slice(0, 12), [figures]);
  const kernelSum = timedTraces(figures).reduce((sum, trace) => sum + trace.categories.reduce((all, row) => all + row.total_ns, 0), 0);
  const several = kernels.some((row) => row.median === undefined);
  const onCpu = computesOnCpu(figures);
  return (
    <div class="tables">
      {totals.window_ns > 0 && <section>
        <h2>{onCpu ? "Operator time by category" : "Device time by category"}</h2>
        <Totals rows={totals.work.slice(0, 12)} head="category" share="window %" whole={totals.window_ns} color={categoryColor} />
      </section>}
      {totals.window_ns > 0 && <section>
        <h2>Idle time by cause</h2>
        <Totals rows={totals.causes} head="cause" share="idle %" whole={totals.idle_ns ?? 0} color={(id) => causeColor(theme.value, id, meta.value?.palettes.idle)} empty={totals.idle_ns === undefined ? `cannot be told: ${whyNo("no_idle_time")}` : "none"} />
        <Gaps gaps={meta.value?.gaps.slice(0, 5) ?? []} />
      </section>}
      <section class="wide">
        <h2>{onCpu ? "Working operators" : "Kernels"}</h2>
        <DataTable label="Kernels with most time" columns={kernelColumns(kernelSum, several, onCpu)} rows={kernels} empty="no kernel in this run" keyOf={(row) => row.name} />
        <p class="more"><button type="button" class="quiet" onClick={() => goTo("kernels")}>{onCpu ? "all working operators" : "all kernels"}</button></p>
      </section>
    </div>
  );
}

function Totals({ rows, head, share, whole, color, empty = "none" }: { rows: readonly Total[]; head: string; share: string; whole: number; color: (id: string) => string; empty?: string }) {
  const unit = unitOf(rows[0]?.ns ?? 0);
  const most = rows[0]?.ns ?? 1;
  const columns: Column<Total>[] = [
    { id: "name", head, kind: "label", cell: (row) => <span class="named"><Swatch color={color(row.id)} />{row.id}</span> },
    { id: "ns", head: unit, kind: "figure", cell: (row) => inUnit(row.ns, unit) },
    { id: "share", head: share, kind: "figure", cell: (row) => <span class="dim">{percentFigure(row.ns / Math.max(1, whole))}</span> },
    { id: "bar", head: "", kind: "bar", cell: (row) => <Bar share={row.ns / most} color={color(row.id)} /> },
  ];
  return <DataTable label={`Time by ${head}`} columns={columns} rows={rows} empty={empty} keyOf={(row) => row.id} />;
}

function Gaps({ gaps }: { gaps: readonly Gap[] }) {
  if (gaps.length === 0) return null;
  const step = stepOfTicks((span.value.to - span.value.from) / 2000);
  const ranks = new Set(gaps.map((gap) => gap.rank)).size > 1;
  const columns: Column<Gap>[] = [
    { id: "length", head: "longest gaps", kind: "label", cell: (row) => <button type="button" class="link" onClick={() => showInTimeline({ from: row.from_ns, to: row.to_ns }, 1, row)}>{duration(row.to_ns - row.from_ns)}</button> },
    { id: "at", head: "at", kind: "figure", cell: (row) => pointInTime(row.from_ns, step) },
    ...(ranks ? [{ id: "rank", head: "rank", kind: "figure" as const, cell: (row: Gap) => String(meta.value?.ranks[row.rank]?.label ?? row.rank) }] : []),
    { id: "cause", head: "cause", cell: (row) => <span class="named"><Swatch color={causeColor(theme.value, row.cause, meta.value?.palettes.idle)} />{row.cause}</span> },
  ];
  return <div class="gaps"><DataTable label="Longest gaps" columns={columns} rows={gaps} empty="none" keyOf={(row) => `${row.rank}${row.device}${row.from_ns}`} /></div>;
}

function Notes({ figures }: { figures: Analysis }) {
  const several = figures.traces.length > 1;
  const said = figures.traces.flatMap((trace) => [
    ...trace.notes.map((note) => ({ text: note.text, remedy: note.remedy, severity: note.severity as string, trace })),
    ...trace.facts.cannot_tell.map((text) => ({ text: `cannot tell ${text}`, remedy: "", severity: "info", trace })),
  ]);
  const texts = new Map<string, { remedy: string; severity: string; where: string[] }>();
  for (const note of said) {
    const of = texts.get(note.text) ?? { remedy: note.remedy, severity: note.severity, where: [] };
    of.where.push(note.trace.identity?.name ?? note.trace.path);
    texts.set(note.text, of);
  }
  const warnings = [...(figures.ranks?.warnings ?? []), ...figures.skipped.map((path) => `not read: ${path}`)];
  if (texts.size + warnings.length === 0) return null;
  return (
    <section class="notes">
      <h2>Notes</h2>
      <ul>
        {[...texts].map(([text, of]) => (
          <li key={text}>
            <span class={`dot ${of.severity === "data-loss" ? "bad" : of.severity === "notice" ? "fair" : "none"}`} aria-label={of.severity} />
            <span>{text}{of.remedy && <span class="dim">; {of.remedy}</span>}{several && <span class="dim"> ({of.where.length === figures.traces.length ? "all ranks" : of.where.slice(0, 4).join(", ")})</span>}</span>
          </li>
        ))}
        {warnings.map((text) => <li key={text}><span class="dot fair" /><span>{text}</span></li>)}
      </ul>
    </section>
  );
}
