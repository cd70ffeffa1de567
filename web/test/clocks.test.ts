import { test } from "node:test";
import assert from "node:assert/strict";
import { clockSentences, clockText, residualOf } from "../src/clocks";
import type { Rank } from "../src/types";

const ranks = ["read", "read", "read", "failed"].map((state, i) => ({ label: `rank ${i}`, state }) as Rank);
const residual = (rank: number, ns: number, against = 0) => ({ rank, against, ns, spread_ns: 100, collectives: 9 });
const run = (...residuals: ReturnType<typeof residual>[]) => ({ clock: { shared: true, residuals }, ranks });

test("a rank has a residual, is the reference, or cannot be told", () => {
  const of = run(residual(1, -400));
  assert.deepEqual([0, 1, 2].map((rank) => residualOf(of, rank)), ["reference", residual(1, -400), undefined]);
});

test("the corner says how good the clock is only where all ranks read were measured against one", () => {
  assert.equal(clockText(run(residual(1, -400), residual(2, 1900))), "one clock, to within 1.90 us");
  assert.equal(clockText(run(residual(1, -400))), "ranks: one clock");
  assert.equal(clockText(run()), "ranks: one clock");
  assert.equal(clockText({ clock: { shared: true }, ranks }), "ranks: one clock");
  assert.equal(clockText({ ...run(residual(1, -400), residual(2, 1900)), clock: { shared: false } }), "ranks: own clocks");
});

test("a clock that is off by more than 50 us is said, the worst first, at most four", () => {
  assert.deepEqual(clockSentences(run(residual(1, 50_000), residual(2, -50_000))), []);
  assert.deepEqual(clockSentences(run(residual(1, 60_000), residual(2, -800_000))), [
    "The rows of rank 2 lie about 800 us too early: its clock differs from that of rank 0, as the ends of 9 collectives show.",
    "The rows of rank 1 lie about 60.0 us too late: its clock differs from that of rank 0, as the ends of 9 collectives show.",
  ]);
  const many = clockSentences(run(...[1, 2, 3, 4, 5, 6].map((rank) => residual(rank, 1e6 * rank))));
  assert.deepEqual([many.length, many.at(-1)], [5, "So do the rows of 2 more; the table says by how much."]);
});
