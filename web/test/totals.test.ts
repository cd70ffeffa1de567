import { test } from "node:test";
import assert from "node:assert/strict";
import { deviceTime, idleCauses, kernelRows, workByCategory } from "../src/totals";
import type { Analysis, DeviceTotals, TraceAnalysis } from "../src/types";

const device: DeviceTotals = {
  device: "0", window_start_ns: 0, window_ns: 100, busy_ns: 60, idle_ns: 40, compute_ns: 40, exposed_comm_ns: 15, exposed_copy_ns: 5, kernel_sum_ns: 70,
};
const kernel = { name: "k", short_name: "k", category: "gemm", device: "0", count: 2, total_ns: 40, min_ns: 10, max_ns: 30, p50_ns: 10, p99_ns: 30 };
const trace = (path: string): TraceAnalysis => ({
  path, notes: [], facts: { cannot_tell: [], devices: [] }, devices: [device], kernels: [kernel], categories: [{ category: "gemm", count: 2, total_ns: 40 }],
  copies: [{ kind: "HtoD", count: 1, total_ns: 5 }], memsets: [], ops: [], idle: { window_ns: 100, busy_ns: 60, causes: [{ id: "host-late", ns: 40, count: 3 }], gaps: [] },
});
const one: Analysis = { verdict: { text: "" }, traces: [trace("a")], skipped: [] };
const two: Analysis = { ...one, traces: [trace("a"), trace("b")] };

test("the parts of the window add up, of one rank and of two", () => {
  for (const analysis of [one, two]) {
    const time = deviceTime(analysis.traces.flatMap((of) => of.devices));
    assert.equal(time.compute + time.comm + time.copy + time.idle, time.window);
    assert.equal(idleCauses(analysis).reduce((sum, cause) => sum + cause.ns, 0), time.idle);
  }
});
test("figures of several ranks are added, but not medians", () => {
  assert.equal(kernelRows(one)[0]?.median, 10);
  const [both] = kernelRows(two);
  assert(both);
  assert.equal(both.count, 4);
  assert.equal(both.total, 80);
  assert.equal(both.median, undefined);
  assert.deepEqual(workByCategory(two).map((row) => [row.id, row.ns]), [["gemm", 80], ["copies", 10]]);
});
