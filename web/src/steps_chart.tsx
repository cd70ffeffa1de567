// The time of each step from its start to the next one's, by phase; a click opens it.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { drawChart } from "./chart";
import { colorOf } from "./colors";
import { meta, showInTimeline, theme } from "./state";
import { kPhases, mainPhase, medianStep, nearestPoint, slowestOfPhases, stepTime, stepWindow } from "./steps";
import type { Step } from "./types";
import { count, duration, figure, unitOf } from "./units";

const kNs = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

export function StepsChart() {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<Step | null>(null);
  const ranks = [...new Set((meta.value?.steps ?? []).map((step) => step.rank))];
  const [rank, setRank] = useState<number | null>(null);
  const chosen = rank ?? ranks[0] ?? 0;
  const steps = (meta.value?.steps ?? []).filter((step) => step.rank === chosen);
  const phases = kPhases.map((phase, color) => ({ phase, color: colorOf(theme.value, "phases", color), n: steps.filter((step) => step.phase === phase).length })).filter((one) => one.n > 0);
  const unit = unitOf(steps.reduce((most, step) => Math.max(most, stepTime(step)), 0));

  useEffect(() => {
    const to = box.current;
    if (!to || steps.length === 0) return;
    const open = (step: Step) => showInTimeline(stepWindow(step), 0.15, { rank: step.rank });
    const under = (of: uPlot): Step | null => {
      const { left, top } = of.cursor;
      if (left === undefined || top === undefined || left < 0) return null;
      const x = (i: number) => of.valToPos((steps[i] as Step).number, "x");
      const y = (i: number) => of.valToPos(stepTime(steps[i] as Step) / kNs[unit], "y");
      return steps[nearestPoint(steps.length, x, y, left, top)] ?? null;
    };
    return drawChart(to, {
      scales: { x: { time: false, range: (_, least, most) => [least - Math.max(0.5, (most - least) / 80), most + 0.5] }, y: { range: (_, __, most) => [0, most * 1.08 || 1] } },
      x: { values: (_, values) => values.map((value) => (Number.isInteger(value) ? count(value) : "")) },
      y: { size: 52, values: (_, values) => values.map(figure) },
      series: phases.map(({ phase, color }) => ({
        label: phase, stroke: color, fill: color, width: 0, paths: () => null,
        points: { show: true, size: steps.length > 600 ? 3 : 5, width: 0, fill: color, stroke: color },
      })),
      data: [steps.map((step) => step.number), ...phases.map(({ phase }) => steps.map((step) => (step.phase === phase ? stepTime(step) / kNs[unit] : null)))] as uPlot.AlignedData,
      hooks: { setCursor: [(of: uPlot) => setAt(under(of))] },
      onClick: (chart) => {
        const step = under(chart);
        if (step) open(step);
      },
    });
  }, [steps.length, theme.value, chosen]);

  const main = mainPhase(steps);
  const slowest = slowestOfPhases(steps);
  const link = (what: string, step: Step | undefined) =>
    step && <button key={what} type="button" class="rest" title={`step ${step.number}`} onClick={() => showInTimeline(stepWindow(step), 0.15, { rank: step.rank })}>{what} <b>{duration(stepTime(step))}</b></button>;
  return (
    <section class="steps">
      <h2>Steps, {unit} from the start of each to the start of the next</h2>
      <p class="legend">
        {phases.map(({ phase, color, n }) => <span key={phase} class="named"><span class="swatch" style={{ background: color }} />{phase} {count(n)}</span>)}
        {link(`median ${main}`, medianStep(steps, main))}
        {slowest.map((step) => link(`slowest ${step.phase}`, step))}
        {ranks.length > 1 && (
          <label class="dim">rank <select value={chosen} onChange={(event) => setRank(Number(event.currentTarget.value))}>{ranks.map((one) => <option key={one} value={one}>{meta.value?.ranks[one]?.label ?? one}</option>)}</select></label>
        )}
        <span class="dim at">{at ? `step ${at.number}: ${at.phase}, ${duration(stepTime(at))}, on the host ${duration(at.to_ns - at.from_ns)}${at.context_tokens ? `, ${count(at.context_tokens)} context tokens` : ""}${at.generation_tokens ? `, ${count(at.generation_tokens)} generated` : ""}` : "click a step to open it"}</span>
      </p>
      <div class="chart" ref={box} role="img" aria-label={`The time of ${steps.length} steps, from the start of each to the start of the next`} />
    </section>
  );
}
