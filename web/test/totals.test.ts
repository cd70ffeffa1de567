import { test } from "node:test";
import assert from "node:assert/strict";
import { kernelRows, operatorRows, tracesOfRanks } from "../src/totals";
import type { Analysis, TraceAnalysis } from "../src/types";

const kernel = { name: "k", short_name: "k", category: "gemm", device: "0", count: 2, total_ns: 40, min_ns: 10, max_ns: 30, p50_ns: 10, p99_ns: 30 };
const op = { name: "aten::mm", count: 1, cpu_total_ns: 9, cpu_self_ns: 7, device_total_ns: 40, device_self_ns: 40 };
const trace = (path: string, role = "worker"): TraceAnalysis => ({
  path, notes: [], facts: { role, cannot_tell: [], devices: [] }, devices: [], kernels: [kernel], categories: [], copies: [], memsets: [], ops: [op],
});
const one: Analysis = { verdict: { text: "" }, traces: [trace("a")], skipped: [] };
const two: Analysis = { ...one, traces: [trace("a"), trace("b")] };

test("figures of several ranks are added, but not medians", () => {
  assert.equal(kernelRows(one)[0]?.median, 10);
  const [both] = kernelRows(two);
  assert(both);
  assert.equal(both.count, 4);
  assert.equal(both.total, 80);
  assert.equal(both.median, undefined);
});
test("a merged file and a front-end's trace add nothing to the ranks' figures", () => {
  const run: Analysis = { ...one, traces: [...two.traces, trace("merged", "merged"), trace("front", "frontend")] };
  assert.deepEqual(kernelRows(run), kernelRows(two));
  assert.deepEqual(operatorRows(run), operatorRows(two));
});
test("a merged file without its ranks counts, and so does a front end alone", () => {
  for (const roles of [["merged", "frontend"], ["frontend"]]) {
    const run: Analysis = { ...one, traces: roles.map((role) => trace(role, role)) };
    assert.deepEqual(tracesOfRanks(run).map((of) => of.path), roles.slice(0, 1));
  }
});
