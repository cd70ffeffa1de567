// What the tests of the page share: the program and the traces, and how figures on the page are read.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";

export const tacho = process.env.TACHO ?? "../build/release/tacho";
export const corpus = process.env.TACHO_CORPUS ?? "../../shared/traces";
export const hasCorpus = existsSync(corpus);
export const own = "../tests/data"; // small traces of this project
export const kTabs = ["summary", "timeline", "kernels", "operators", "flame", "ranks", "requests", "model"];
export const kHostile = "<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>";

// `tacho` with these arguments: { code, out, err }.
export function run(...args) {
  return new Promise((done) => execFile(tacho, args, { maxBuffer: 1 << 30 }, (error, out, err) => done({ code: error ? error.code : 0, out, err })));
}
export const analyze = async (...paths) => JSON.parse((await run("analyze", "--json", ...paths)).out);
export const texts = (page, selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent.trim()));
export const number = (text) => Number(text.replace(/[^\d.-]/g, ""));
export const near = (text, value, what) => assert(Math.abs(number(text) - value) <= Math.max(0.0051 * Math.abs(value), 0.0006), `${what}: the page says ${text}, analyze ${value}`);
export async function chosen(page) {
  return (await page.getAttribute("nav [aria-selected=true]", "id")).replace("tab-", "");
}
const kNsOf = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
// "84.5 ms" in ns.
export const nsOf = (text) => {
  const [, figure, unit] = /(-?[\d.,]+) (ns|us|ms|s)\b/.exec(text);
  return number(figure) * kNsOf[unit];
};
// Of a kernel, launched by an operator.
export const kernel = (ts, dur, name, more = {}) => ({ ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts, dur, args: { device: 0, stream: 7, ...more } });
export const operator = (ts, dur, name) => ({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts, dur });
// `count` launches, 100 us apart, of kernels of 60 us that begin `delay` after them; those that `has` does not accept have no row.
export const launched = (count, { has = () => true, delay = 20, process = 1, from = 0 } = {}) =>
  Array.from({ length: count }, (_, i) => [
    { ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: process, tid: process, ts: from + 100 * i, dur: 5, args: { correlation: i + 1 } },
    ...(has(i) ? [kernel(from + 100 * i + delay, 60, "gemm", { correlation: i + 1 })] : []),
  ]).flat();
