import { test } from "node:test";
import assert from "node:assert/strict";
import { coreName, count, duration, figure, middleCut, percent, pointInTime, stepOfTicks, ticks, unitOf, inMicroseconds } from "../src/units";

test("figures have three significant digits and no exponent", () => {
  for (const [value, text] of [
    [0, "0"], [63.613, "63.6"], [0.1384, "0.138"], [3181.785, "3,182"], [12345678, "12,345,678"], [0.001481, "0.0015"], [9.999, "10.0"], [-7.07, "-7.07"],
  ] as const) assert.equal(figure(value), text);
});

test("a length of time changes its unit where the figure would have four digits", () => {
  for (const [ns, text] of [
    [0, "0 ns"], [999, "999 ns"], [1000, "1.00 us"], [84_487_178, "84.5 ms"], [999_600, "1.00 ms"], [2_638_105, "2.64 ms"], [3.6e12, "3,600 s"],
  ] as const) assert.equal(duration(ns), text);
  assert.equal(unitOf(63_613_365), "ms");
  assert.equal(unitOf(3_181_785), "us");
});

test("a share that is there is never 0.0 %, and one that lacks something never 100.0 %", () => {
  assert.equal(percent(0), "0.0 %");
  assert.equal(percent(0.0000001), "<0.1 %");
  assert.equal(percent(0.99999), ">99.9 %");
  assert.equal(percent(1), "100.0 %");
  assert.equal(count(1234567.4), "1,234,567");
});

test("ticks are at round times, apart as asked, and told apart by their texts", () => {
  for (let seed = 1; seed < 400; ++seed) {
    const from = Math.sin(seed) * 1e12;
    const width = 10 ** ((seed % 110) / 10) + 20;
    const found = ticks(from, from + width, width / 14);
    assert(found.length <= 15, `${found.length} ticks`);
    assert(found.length >= 4, `${found.length} ticks in ${width}`);
    assert.equal(new Set(found.map((tick) => tick.text)).size, found.length, JSON.stringify(found));
    const step = stepOfTicks(width / 14);
    for (const tick of found) assert(tick.at >= from && tick.at <= from + width && Math.abs(tick.at / step - Math.round(tick.at / step)) < 1e-6);
  }
  assert.equal(pointInTime(26_200_000, 200_000), "26.2 ms");
  assert.equal(pointInTime(1_000_250_000, 1000), "1.000250 s");
  assert.equal(pointInTime(-500, 100), "-500 ns");
});

test("a name that is cut keeps both ends", () => {
  assert.equal(middleCut("short", 10), "short");
  assert.equal(middleCut("abcdefghijklmnop", 7), "abc…nop");
  assert.equal(middleCut("abc", 1), "");
});

test("the core of a name is what tells it apart", () => {
  assert.equal(coreName("void at::native::elementwise_kernel<4, 2>(int, float)"), "elementwise_kernel");
  assert.equal(coreName("vllm/v1/worker/gpu_model_runner.py(1784): execute_model"), "execute_model  gpu_model_runner.py");
  assert.equal(coreName("<string>(1): <module>"), "<module>  <string>");
  assert.equal(coreName("aten::addmm"), "aten::addmm");
  assert.equal(coreName("nvjet_tst_64x64"), "nvjet_tst_64x64");
  assert.equal(coreName("<img onerror=x>"), "<img onerror=x>");
});

test("a column of microseconds names the unit of what is very long", () => {
  assert.equal(inMicroseconds(3.6e12), "3,600 s");
  assert.equal(inMicroseconds(4000), "4.00");
});
