import { test } from "node:test";
import assert from "node:assert/strict";
import { keyOfRow, layOut, rowAt } from "../src/timeline/layout";
import type { Rank, Row } from "../src/types";

function row(kind: Row["kind"], group: Row["group"], label: string, lanes = 1): Row {
  return { kind, group, label, owner: "GPU 0", palette: "work", lanes, slices: lanes };
}
function rank(label: string): Rank {
  return {
    path: label, label, state: "read", names: 0, slices: 9,
    rows: [row("steps", "computed", ""), row("idle", "computed", "0"), row("stream", "streams", "7", 2), row("stream", "streams", "8"), row("thread", "launching", "1", 40), row("thread", "other", "2"), row("thread", "other", "3")],
  };
}

test("rows lie below each other without overlap, and a height finds its row", () => {
  for (const ranks of [[rank("a")], [rank("a"), rank("b"), rank("c")]])
    for (const order of ["ranks", "rows"] as const) {
      const { rows, height } = layOut(ranks, new Set(), order, 500);
      assert.equal(new Set(rows.map((laid) => laid.key)).size, rows.length);
      rows.forEach((laid, i) => {
        const next = rows[i + 1];
        assert((next?.top ?? height) >= laid.top + laid.height);
        assert.equal(rowAt({ rows, height }, laid.top)?.key, laid.key);
        assert.equal(rowAt({ rows, height }, laid.top + laid.height - 1)?.key, laid.key);
      });
      assert.equal(rowAt({ rows, height }, height + 100), null);
    }
});

test("one rank shows all but other threads, several only the first", () => {
  const one = layOut([rank("a")], new Set(), "ranks").rows;
  assert.deepEqual(one.filter((laid) => laid.kind === "row").map((laid) => laid.row), [0, 1, 2, 3, 4]);
  assert.equal(one.find((laid) => laid.kind === "heading" && laid.open === false)?.label, "Other threads");
  const three = layOut([rank("a"), rank("b"), rank("c")], new Set(), "ranks").rows;
  assert.deepEqual(three.filter((laid) => laid.key.startsWith("rank/") && !laid.key.includes("/", 5)).map((laid) => laid.open), [true, false, false]);
  const opened = layOut([rank("a"), rank("b")], new Set(["rank/1"]), "ranks").rows;
  assert(opened.some((laid) => laid.kind === "row" && laid.rank === 1));
});

test("the same row of all ranks lies under each other", () => {
  const rows = layOut([rank("a"), rank("b")], new Set(), "rows").rows;
  const idle = rows.filter((laid) => laid.kind === "row" && laid.row === 1);
  assert.deepEqual(idle.map((laid) => [laid.rank, laid.label]), [[0, "a"], [1, "b"]]);
});

test("deep rows show what there is room for, and all when asked", () => {
  const lanes = (room: number, toggled: string[] = []) => layOut([rank("a")], new Set(toggled), "ranks", room).rows.find((laid) => laid.row === 4)?.lanes;
  assert.equal(lanes(0), 6);
  assert.equal(lanes(2000), 40);
  const thread = rank("a").rows[4];
  assert(thread);
  assert.equal(lanes(0, [`0/${keyOfRow(thread)}`]), 40);
});

test("a pinned row lies above all others, once", () => {
  const thread = rank("a").rows[4];
  assert(thread);
  for (const order of ["ranks", "rows"] as const) {
    const { rows } = layOut([rank("a"), rank("b")], new Set(), order, 0, new Set([`1/${keyOfRow(thread)}`]));
    assert.deepEqual([rows[0]?.rank, rows[0]?.row], [1, 4]);
    assert.equal(rows.filter((laid) => laid.kind === "row" && laid.rank === 1 && laid.row === 4).length, 1);
  }
});

test("a rank that failed or is still being read says so", () => {
  const failed: Rank = { ...rank("a"), state: "failed", why: "cut short", rows: [] };
  assert.equal(layOut([failed], new Set(), "ranks").rows[0]?.detail, "failed: cut short");
  assert.equal(layOut([{ ...failed, state: "reading" }], new Set(), "ranks").rows[0]?.detail, "reading");
});
