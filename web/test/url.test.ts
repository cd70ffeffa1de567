import { test } from "node:test";
import assert from "node:assert/strict";
import { hashOf, linkFrom, type Link } from "../src/url";

const kEmpty: Link = { tab: "summary", window: null, selection: null, slice: null, search: "" };

test("a link opens what it was made of", () => {
  const links: Link[] = [
    kEmpty,
    { ...kEmpty, tab: "timeline", window: { from: -5, to: 12_345_678_901 } },
    { ...kEmpty, tab: "kernels", selection: { from: 0, to: 3 }, search: "a&b=c#d é<img>" },
    { ...kEmpty, tab: "timeline", window: { from: 1, to: 2 }, slice: { rank: 7, row: "stream/GPU 0/7:8&?", lane: 3, at: -99 } },
  ];
  for (const link of links) assert.deepEqual(linkFrom(hashOf(link)), link);
});

test("a link that is damaged opens what is left of it", () => {
  assert.deepEqual(linkFrom(""), kEmpty);
  assert.deepEqual(linkFrom("#nonsense"), kEmpty);
  assert.deepEqual(linkFrom("#/t?w=9..3&sel=a..b&slice=1:2&q=%E0%A4%A&tab=never"), kEmpty);
  assert.equal(linkFrom("#/t?w=1..3").tab, "timeline");
  assert.equal(linkFrom("#/t?w=1..99999999999999999999").window, null);
});
