import { test } from "node:test";
import assert from "node:assert/strict";
import { blockRows, layerRows, roofOfPhase, timeOfPhase } from "../src/model";
import type { PhaseLayers, TraceAnalysis } from "../src/types";

const block = (id: string, device_ns: number, gap_ns = 0, count = 10) => ({ id, device_ns, gap_ns, count });
const kDecode: PhaseLayers = {
  phase: "decode", steps: 10,
  list: [
    { index: 0, kind: "attention, mlp", device_ns: 300, gap_ns: 20, blocks: [block("attention", 100, 20), block("mlp-up", 200)] },
    { index: 1, kind: "attention, mlp", device_ns: 500, gap_ns: 0, blocks: [block("attention", 100), block("mlp-up", 300), block("all-reduce", 100)] },
  ],
  outside: [block("lm-head", 200, 30)],
};
const roof = { steps: 5, ns: 400, roof_ns: 100, flops: 1, bytes: 1, mfu: 0.1, mbu: 0.25 };
const kTrace = {
  roofline: {
    phases: [{ phase: "decode", ...roof }],
    blocks: [{ phase: "decode", id: "mlp-up", ...roof }, { phase: "prefill", id: "attention", ...roof }, { phase: "decode", id: "all-reduce", ...roof, flops: 0, bytes: 0 }],
  },
} as unknown as TraceAnalysis;

test("blocks add up to the step, first those of the layers", () => {
  const rows = blockRows(kTrace, kDecode);
  assert.deepEqual(rows.map((row) => [row.id, row.outside, row.device, row.gap, row.aLayer]), [
    ["attention", false, 20, 2, 10], ["mlp-up", false, 50, 0, 25], ["all-reduce", false, 10, 0, 10], ["lm-head", true, 20, 3, undefined],
  ]);
  assert.equal(timeOfPhase(kDecode), 1000);
  assert.equal(rows.reduce((sum, row) => sum + row.device, 0) * kDecode.steps, timeOfPhase(kDecode));
  assert(Math.abs(rows.reduce((sum, row) => sum + row.share, 0) - 1) < 1e-9);
});
test("a roof is that of the block in its phase, a step; what only communicates has no MFU", () => {
  const roofs = new Map(blockRows(kTrace, kDecode).map((row) => [row.id, row.roof]));
  assert.deepEqual(roofs.get("mlp-up"), { device: 80, roof: 20, mfu: 0.1, mbu: 0.25 });
  assert.deepEqual(roofs.get("all-reduce"), { device: 80, roof: 20 });
  assert.equal(roofs.get("attention"), undefined);
  assert.deepEqual(roofOfPhase(kTrace, "decode"), { device: 80, roof: 20, mfu: 0.1, mbu: 0.25 });
  assert.equal(roofOfPhase(kTrace, "prefill"), undefined);
  assert(blockRows({} as TraceAnalysis, kDecode).every((row) => row.roof === undefined));
});
test("layers are of a step", () => {
  assert.deepEqual(layerRows(kDecode).map((row) => [row.index, row.device, row.gap, [...row.blocks]]), [
    [0, 30, 2, [["attention", 10], ["mlp-up", 20]]], [1, 50, 0, [["attention", 10], ["mlp-up", 30], ["all-reduce", 10]]],
  ]);
});
