import { test } from "node:test";
import assert from "node:assert/strict";
import { AnswerCache } from "../src/timeline/answer_cache";

test("bytes are bounded, and the answer used longest ago goes first, as a whole", () => {
  const cache = new AnswerCache<number>(10_000);
  cache.add([["a", 1], ["b", 2]], 4000);
  cache.add([["c", 3]], 4000);
  assert.equal(cache.get("b"), 2); // and so "a" is used too
  cache.add([["d", 4]], 4000);
  assert.deepEqual(["a", "b", "c", "d"].map((key) => cache.get(key)), [1, 2, undefined, 4]);
  for (let i = 0; i < 100; ++i) {
    cache.add([[`more ${i}`, i]], 500);
    assert(cache.bytes <= 10_000);
  }
  assert.equal(cache.get("more 99"), 99);
});
test("a key that comes again is that of the later answer, and one answer larger than the bound is kept alone", () => {
  const cache = new AnswerCache<number>(1000);
  cache.add([["a", 1]], 500);
  cache.add([["a", 2]], 500);
  assert.equal(cache.get("a"), 2);
  cache.add([["large", 3]], 5000);
  assert.equal(cache.get("large"), 3);
  assert.equal(cache.has("a"), false);
});
