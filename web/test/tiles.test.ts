import { test } from "node:test";
import assert from "node:assert/strict";
import { decodeTiles, entryAt, entryOf, firstEndingAfter, levelOf, tilesIn, tileSpan } from "../src/tiles";

interface Bucket { column: number; color: number; cover: number; count: number; place: number; name: number }
interface Exact { from: number; length: number; place: number; name: number; color: number }

// As src/view/tiles.h describes it.
function encode(lanes: { row?: number; lane?: number; buckets?: Bucket[]; slices?: Exact[] }[]): ArrayBuffer {
  const sizes = lanes.map((lane) => (lane.buckets ? lane.buckets.length * 16 : (lane.slices ?? []).length * 32));
  const head = 8 + 24 * lanes.length;
  const buffer = new ArrayBuffer(head + sizes.reduce((sum, size) => sum + size, 0));
  const view = new DataView(buffer);
  view.setUint32(0, 0x656c6974, true);
  view.setUint16(4, 2, true);
  view.setUint16(6, lanes.length, true);
  let offset = head;
  lanes.forEach((lane, i) => {
    const at = 8 + 24 * i;
    view.setUint32(at, lane.row ?? 0, true);
    view.setUint32(at + 4, lane.lane ?? 0, true);
    view.setUint8(at + 8, lane.buckets ? 0 : 1);
    view.setUint32(at + 16, (lane.buckets ?? lane.slices ?? []).length, true);
    view.setUint32(at + 20, offset, true);
    for (const bucket of lane.buckets ?? []) {
      view.setUint16(offset, bucket.column, true);
      view.setUint8(offset + 2, bucket.color);
      view.setUint8(offset + 3, bucket.cover);
      view.setUint32(offset + 4, bucket.count, true);
      view.setUint32(offset + 8, bucket.place, true);
      view.setUint32(offset + 12, bucket.name, true);
      offset += 16;
    }
    for (const slice of lane.slices ?? []) {
      view.setFloat64(offset, slice.from, true);
      view.setFloat64(offset + 8, slice.length, true);
      view.setUint32(offset + 16, slice.place, true);
      view.setUint32(offset + 20, slice.name, true);
      view.setUint8(offset + 24, slice.color);
      offset += 32;
    }
  });
  return buffer;
}

const kExact = { from: -5, length: 12, place: 3, name: 9, color: 2 };
const kBucket = { column: 4, color: 7, cover: 51, count: 12, place: 100, name: 5 };

test("both modes come back as they were sent", () => {
  const rows = decodeTiles(encode([{ row: 100_000, lane: 1, slices: [kExact] }, { row: 100_000, buckets: [kBucket] }, { row: 8, slices: [] }]), 1000, 64);
  assert.deepEqual([...rows.keys()].sort((a, b) => a - b), [8, 100_000]);
  const [exact, buckets] = rows.get(100_000) ?? [];
  assert(exact && buckets);
  assert.equal(exact.lane, 1);
  assert.deepEqual(entryOf(exact, 0), { from: 995, to: 1007, color: 2, coverage: 1, count: 1, place: 3, name: 9 });
  assert.deepEqual(entryOf(buckets, 0), { from: 1256, to: 1320, color: 7, coverage: 0.2, count: 12, place: 100, name: 5 });
  assert.equal(rows.get(8)?.[0]?.entries, 0);
});

test("what is not a tile is refused", () => {
  const good = encode([{ slices: [kExact] }]);
  assert.throws(() => decodeTiles(new ArrayBuffer(4), 0, 1), /not a tile/);
  assert.throws(() => decodeTiles(new ArrayBuffer(64), 0, 1), /not a tile/);
  assert.throws(() => decodeTiles(good.slice(0, 40), 0, 1), /cut short/);
  new DataView(good).setUint16(4, 3, true);
  assert.throws(() => decodeTiles(good, 0, 1), /another version/);
});

test("the entry under the pointer is the one that covers it, else the nearest within reach", () => {
  const slices = [0, 100, 200, 300].map((from, i) => ({ from, length: i === 3 ? 0 : 50, place: i, name: i, color: 0 }));
  const tile = decodeTiles(encode([{ slices }]), 0, 1).get(0)?.[0];
  assert(tile);
  assert.equal(entryAt(tile, 120, 0)?.place, 1);
  assert.equal(entryAt(tile, 155, 10)?.place, 1);
  assert.equal(entryAt(tile, 195, 10)?.place, 2);
  assert.equal(entryAt(tile, 175, 10), null);
  assert.equal(entryAt(tile, 302, 10)?.place, 3);
  for (let t = -10; t < 320; ++t) {
    let slow = 0;
    while (slow < 4 && entryOf(tile, slow).to <= t) ++slow;
    assert.equal(firstEndingAfter(tile, t), slow);
  }
});

test("a level's columns are at most a pixel wide, and tiles cover the window", () => {
  for (const nsPerPixel of [0.01, 1, 1.5, 1000, 12345.6, 1e9]) {
    const level = levelOf(nsPerPixel);
    assert(2 ** level <= Math.max(1, nsPerPixel) && 2 ** (level + 1) > nsPerPixel);
    for (const from of [-1e9 - 7, 0, 123456789]) {
      const window = { from, to: from + 1600 * nsPerPixel };
      const { first, last } = tilesIn(window, level);
      assert(first * tileSpan(level) <= window.from && (last + 1) * tileSpan(level) >= window.to && last - first <= 4);
    }
  }
});
