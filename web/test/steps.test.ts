import { test } from "node:test";
import assert from "node:assert/strict";
import { mainPhase, medianStep, nearestPoint, slowestOfPhases, stepTime, stepWindow } from "../src/steps";
import { selectedIn } from "../src/selected";
import type { Gap, Step } from "../src/types";

const step = (number: number, phase: string, from: number, host: number, period: number, rank = 0): Step => ({ rank, number, phase, from_ns: from, to_ns: from + host, until_ns: from + period });
const steps = [step(1, "prefill", 0, 50, 60), step(2, "decode", 60, 5, 20), step(3, "decode", 80, 6, 30), step(4, "empty", 110, 1, 900), step(5, "mixed", 1010, 9, 9), step(1, "decode", 60, 5, 30, 1)];

test("a step takes the time until the next one starts", () => {
  assert.equal(stepTime(steps[1] as Step), 20);
  assert.deepEqual(stepWindow(step(1, "decode", 7, 0, 0)), { from: 7, to: 8 });
});
test("the slowest of each phase, the slowest first, of equals the earlier; empty steps are left out", () => {
  assert.deepEqual(slowestOfPhases(steps).map((one) => [one.rank, one.number]), [[0, 1], [1, 1], [0, 5]]);
  assert.deepEqual(slowestOfPhases([steps[3] as Step]).map((one) => one.number), [4]);
  assert.deepEqual(slowestOfPhases([]), []);
  assert.equal(mainPhase(steps), "prefill");
  assert.equal(medianStep(steps, "decode")?.number, 3);
  assert.equal(medianStep(steps, "other"), undefined);
});
test("the nearest point counts distance in both directions", () => {
  const points = [[0, 0], [10, 100], [12, 5]] as const;
  const nearest = (x: number, y: number) => nearestPoint(points.length, (i) => points[i]?.[0] ?? 0, (i) => points[i]?.[1] ?? 0, x, y);
  assert.equal(nearest(10, 10), 2, "not the one at the same x, far above");
  assert.equal(nearest(10, 90), 1);
  assert.equal(nearest(-5, 0), 0);
  assert.equal(nearestPoint(0, () => 0, () => 0, 1, 1), -1);
});

const gap = (from: number, to: number, rank = 0): Gap => ({ rank, device: "0", from_ns: from, to_ns: to, cause: "host-late" });
test("a selected gap has its number, a selected step its name, on the rank that was jumped to", () => {
  const meta = { gaps: [gap(0, 100), gap(5, 60), gap(5, 60, 1)], steps };
  const of = (from: number, to: number, rank: number | null = null, inside: Parameters<typeof selectedIn>[2] = null) => selectedIn({ from, to }, meta, inside, rank);
  assert.equal(of(0, 100)?.text, "gap 1 of the run");
  assert.deepEqual([of(5, 60)?.rank, of(5, 60)?.text], [0, "gap 2 of the run"]);
  assert.deepEqual([of(5, 60, 1)?.rank, of(5, 60, 1)?.text], [1, "gap 3 of the run"]);
  assert.equal(of(0, 60)?.text, "prefill step 1, 60 ns from start to start");
  assert.equal(of(0, 50)?.text, "prefill step 1, 50 ns on the host");
  assert.equal(of(60, 90)?.rank, 1);
  assert.equal(of(1, 2), null);
  const inside = { of: "decode step 3", count: 9, gaps: [{ ...gap(0, 100), inside_ns: 30 }, { ...gap(85, 86), inside_ns: 1 }] };
  assert.equal(of(0, 100, null, inside)?.text, "gap 1 of 9 in decode step 3, 30 ns of it inside (gap 1 of the run)");
  assert.equal(of(85, 86, null, inside)?.text, "gap 2 of 9 in decode step 3");
  assert.equal(of(85, 86, null, inside)?.cause, "host-late");
});
