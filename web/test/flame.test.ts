import { test } from "node:test";
import assert from "node:assert/strict";
import { flameBoxes } from "../src/flame_layout";
import type { FlameRow } from "../src/types";

const kNodes: FlameRow[] = [
  ["", 0, 0, 0, 100, 0], ["a", 0, 0, 1, 60, 10], ["b", 0, 0, 1, 40, 40], ["c", 0, 1, 2, 50, 49], ["d", 0, 3, 9, 1, 1],
];

test("children lie inside their parents, longest first, and narrow ones are left out", () => {
  const boxes = flameBoxes(kNodes, 0, 1000, 20);
  assert.deepEqual(boxes.map((box) => [box.node, box.depth, box.x, box.width]).sort(), [[0, 0, 0, 1000], [1, 1, 0, 600], [2, 1, 600, 400], [3, 2, 0, 500]]);
});
test("or in their order", () => {
  assert.deepEqual(flameBoxes([["", 0, 0, 0, 100, 0], ["first", 0, 0, 1, 40, 40], ["longer", 0, 0, 1, 60, 60]], 0, 100, 1, true).map((box) => [box.node, box.x]), [[0, 0], [1, 0], [2, 40]]);
});
test("the chosen box takes the whole width, with those around it above", () => {
  const boxes = flameBoxes(kNodes, 1, 1000, 1);
  assert.deepEqual(boxes.slice(0, 2).map((box) => [box.node, box.depth, box.width]), [[0, 0, 1000], [1, 1, 1000]]);
  assert(boxes.some((box) => box.node === 4 && box.depth === 3));
  assert.deepEqual(flameBoxes([], 0, 1000, 1), []);
});
