// What a step takes: from its start to that of the next one, as `tacho analyze` counts periods. Pure.
import type { Step, Window } from "./types";

export const kPhases = ["prefill", "decode", "mixed", "empty", "other"]; // the index: its colour

export const stepTime = (step: Step): number => step.until_ns - step.from_ns;
export const stepWindow = (step: Step): Window => ({ from: step.from_ns, to: Math.max(step.until_ns, step.from_ns + 1) });
export const stepName = (step: Step): string => `${step.phase === "other" ? "" : `${step.phase} `}step ${step.number}`;

const bySlowness = (a: Step, b: Step) => stepTime(b) - stepTime(a) || a.from_ns - b.from_ns || a.rank - b.rank;

// The phase that takes most of the host's time, as in the answers; empty steps only where there are no others.
export function mainPhase(steps: readonly Step[]): string {
  const time = (phase: string) => steps.reduce((sum, step) => sum + (step.phase === phase ? step.to_ns - step.from_ns : 0), 0);
  const [most] = kPhases.filter((phase) => phase !== "empty" && time(phase) > 0).sort((a, b) => time(b) - time(a));
  return most ?? "empty";
}
// The slowest step of each phase, the slowest of all first; empty ones only where there are no others.
export function slowestOfPhases(steps: readonly Step[]): Step[] {
  const slowest = new Map<string, Step>();
  for (const step of steps) {
    const of = slowest.get(step.phase);
    if (!of || bySlowness(step, of) < 0) slowest.set(step.phase, step);
  }
  if (slowest.size > 1) slowest.delete("empty");
  return [...slowest.values()].sort(bySlowness);
}
export function medianStep(steps: readonly Step[], phase: string): Step | undefined {
  const sorted = steps.filter((step) => step.phase === phase).sort(bySlowness);
  return sorted[Math.floor(sorted.length / 2)];
}

// Of points, the nearest to (x, y): its index, or -1 without any. All in pixels.
export function nearestPoint(count: number, xOf: (i: number) => number, yOf: (i: number) => number, x: number, y: number): number {
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < count; ++i) {
    const distance = (xOf(i) - x) ** 2 + (yOf(i) - y) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}
