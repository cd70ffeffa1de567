// Every kind of trace on the page: its figures are those of `tacho analyze --json`, sums of a selection those of its export, a link opens
// the same place, every tab opens by its key, and the console stays silent. Without TACHO_CORPUS: the project's own small traces.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { analyze, chosen, corpus, hasCorpus, kTabs, near, nsOf, number, own, tacho, texts } from "./checks.mjs";
import { launch, open, view } from "./server.mjs";

const kAmd = "AMD-AGI+TraceLens", kHta = "facebookresearch+HolisticTraceAnalysis", kVllm = "live-vllm-cpu", kSglang = "live-sglang-cpu", kBroken = "broken-variants";
const kOfCorpus = {
  "eager, B200": [`${kAmd}/b200/eager_trace.json.gz`],
  "CUDA graphs": [`${kAmd}/inference/vllm_decode_full/graph_execution.json.gz`],
  "SGLang decoding": [`${kAmd}/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz`],
  "AMD, device only": [`${kAmd}/mi210/gpu_only_trace/gpu_only_trace.json.gz`],
  "AMD": [`${kAmd}/mi300/gaunernst_bert-small-uncased__1016001.json.gz`],
  "MTIA": [`${kHta}/mtia_inference_trace/mtia_inference_rank_0.json.gz`],
  "CPU only": [`${kHta}/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz`],
  "nanoseconds": [`${kHta}/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz`],
  "large integers": [`${kHta}/large_integer_trace/rank-70.Mar_25_20_48_12.2861.pt.trace.json.gz`],
  "eight ranks, archive": ["facebookresearch+param/dlrm_kineto.tar.gz"],
  "two GPU traces": [`${kHta}/timeline_analysis/sampled_rank-0.json.gz`, `${kHta}/trace_filter/sampled_rank-1.json.gz`],
  "vLLM on the CPU, stacks": [`${kVllm}/stack_rank0.pt.trace.json.gz`],
  "vLLM on the CPU, two ranks": [`${kVllm}/tp2_rank0.pt.trace.json.gz`, `${kVllm}/tp2_rank1.pt.trace.json.gz`],
  "vLLM's front end": [`${kVllm}/nostack_frontend.async_llm.pt.trace.json`],
  "vLLM, empty": [`${kVllm}/empty_rank0.pt.trace.json`],
  "SGLang, merged": [`${kSglang}/tp2-merged`],
  "SGLang, by stage": [`${kSglang}/stage3`],
  "killed while it was written": [`${kBroken}/trunc-after-comma.json.tmp`],
  "a list that is not closed": [`${kBroken}/list-form-unclosed.json`],
  "odd names and values": ["name-bad-utf8", "name-raw-newline", "nan-values", "string-ts"].map((name) => `${kBroken}/${name}.json`),
  "no event": [`${kBroken}/no-trace-events.json`],
  "one that is read, one that is empty": [`${kBroken}/utf8-bom.json`, `${kBroken}/empty-file.json`],
};
const kOfOwn = {
  "vLLM on the CPU": ["vllm-cpu/mixed_rank0.pt.trace.json.gz"],
  "vLLM on the CPU, stacks": ["vllm-cpu/shapes_stack_rank0.pt.trace.json.gz"],
  "vLLM on the CPU, two ranks": ["vllm-cpu/tp2"],
  "PyTorch": ["torch-cpu/threads.pt.trace.json.gz"],
  "PyTorch, memory": ["torch-cpu/memory.pt.trace.json.gz"],
};
const kScreens = [{ width: 1440, height: 900 }, { width: 1280, height: 720, dark: true }];

let browser;
before(async () => {
  if (!hasCorpus) console.error(`*** NOT TESTED: real traces on the page: there are none at ${corpus} (TACHO_CORPUS names their folder); the project's own small ones are`);
  browser = await launch();
});
after(async () => browser?.close());

// The traces that the run's figures are made of.
const counted = ({ traces }) => ["worker", "merged"].map((role) => traces.filter((trace) => trace.facts.role === role)).find((found) => found.length > 0) ?? traces;
const sum = (rows, of) => rows.reduce((total, row) => total + of(row), 0);
// "length 84.5 ms" of the head of the figures.
async function headFigure(page, what) {
  const found = new RegExp(`${what} (?:at most )?([<>\\d.,-]+(?: (?:ns|us|ms|s))?)`).exec((await texts(page, ".panel-head span")).join("; "));
  return found?.[1];
}
async function rowsOfPanel(page) {
  const head = await texts(page, ".panel table[aria-label='Slices of the window by name'] th");
  const at = (name) => head.findIndex((text) => text.startsWith(name));
  if (at("total") < 0) return []; // a table without a row has one head
  const unit = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[head[at("total")].split(" ")[1]];
  const rows = await page.$$eval(".panel table[aria-label='Slices of the window by name'] tbody tr", (found) => found.filter((row) => row.querySelector("td.name")).map((row) => [row.querySelector("[title]").title, ...[...row.cells].slice(1).map((cell) => cell.textContent)]));
  return rows.map((cells) => ({ name: cells[0], total: number(cells[at("total")]), count: number(cells[at("count")]), unit }));
}

async function figuresAgree(page, figures) {
  assert.equal(await page.textContent("h1"), figures.verdict.text);
  const traces = counted(figures);
  const totals = await page.evaluate(async () => (await (await fetch("api/v1/summary")).json()).totals);
  assert.equal(totals.idle_ns, sum(traces.flatMap((trace) => trace.devices), (device) => device.idle_ns));
  const shares = (await page.$$eval(".whole-bar button", (found) => found.map((one) => one.getAttribute("aria-label")))).map((label) => number(/([<\d.]+) %$/.exec(label)[1]));
  if (totals.window_ns > 0) assert(Math.abs(sum(shares, (share) => share) - 100) < 0.5, `the bar adds up to ${shares}`);
  // All kernels, each with its count and time; the rows out of sight do not exist.
  await page.keyboard.press("3");
  const kernels = new Map();
  for (const kernel of traces.flatMap((trace) => trace.kernels)) {
    const of = kernels.get(kernel.name) ?? { count: 0, total: 0 };
    kernels.set(kernel.name, { count: of.count + kernel.count, total: of.total + kernel.total_ns });
  }
  assert.equal(number(await page.textContent(".filter [aria-live]")), kernels.size);
  const rows = await page.$$eval("table[aria-label=Kernels] tbody tr", (found) => found.filter((row) => row.querySelector("td.name")).map((row) => [row.querySelector("[title]").title, ...[...row.cells].slice(1).map((cell) => cell.textContent)]));
  assert(rows.length >= Math.min(kernels.size, 20), `${rows.length} rows of ${kernels.size} kernels`);
  for (const [name, total, , count] of rows.filter(([name]) => kernels.has(name))) {
    near(total, kernels.get(name).total / 1000, name);
    assert.equal(number(count), kernels.get(name).count, name);
  }
  assert(rows.every(([name]) => kernels.has(name) || name.length > 1000), "every row is a kernel of the run");
  // The whole run in the timeline: its steps, its idle time, how much ran on devices.
  await page.keyboard.press("2");
  await page.waitForSelector(".panel-head:has-text('steps')");
  const figure = (what) => headFigure(page, what);
  const whole = figures.traces.length === traces.length ? traces : figures.traces; // the timeline has all
  assert.equal(number(await figure("steps")), sum(whole, (trace) => trace.steps?.count ?? 0), "steps");
  const idle = sum(whole.flatMap((trace) => trace.devices), (device) => device.idle_ns);
  if (idle > 0) assert(Math.abs(nsOf(await figure("idle")) - idle) <= 0.0051 * idle + 1, `idle: ${await figure("idle")}, analyze ${idle}`);
  const onDevice = whole.filter((trace) => trace.devices.some((device) => !device.on_host));
  const work = sum(onDevice, (trace) => sum([...trace.kernels, ...trace.copies, ...trace.memsets], (row) => row.count));
  if (work > 0) assert.equal(number(await figure("kernels and copies")), work, "kernels and copies");
}

// A stretch in the middle of the run: its sums are those of its export, added up here.
const lengthText = (ns) => (ns >= 999.5e6 ? ns / 1e9 : ns >= 999.5e3 ? ns / 1e6 : ns >= 999.5 ? ns / 1e3 : ns).toFixed(3);
async function selectionAgrees(page) {
  const meta = await page.evaluate(async () => (await fetch("api/v1/meta")).json());
  const { from_ns, to_ns } = meta.span;
  if (!(to_ns - from_ns > 100)) return;
  const length = to_ns - from_ns;
  const [from, to] = [Math.round(from_ns + 0.4 * length), Math.round(from_ns + 0.45 * length)];
  await page.evaluate((hash) => (location.hash = hash), `#/t?tab=timeline&sel=${from}..${to}`);
  const shown = async (of) => {
    await of.waitForSelector(".panel-head strong:text('Selection')");
    await of.waitForFunction(([sel, step]) => location.hash.includes("w=") && location.hash.includes(sel) && document.querySelector(".panel-head").textContent.includes(step), [`sel=${from}..${to}`, "steps"]);
    await of.waitForFunction((length) => Math.abs(Number(/length ([\d.,]+)/.exec(document.querySelector(".panel-head").textContent)?.[1].replace(/,/g, "")) / length - 1) < 0.01, number(lengthText(to - from)));
    return { head: await of.textContent(".panel-head"), rows: await rowsOfPanel(of) };
  };
  const here = await shown(page);
  const events = await page.evaluate(async (path) => (await (await fetch(path)).json()).traceEvents, `api/v1/export?from=${from}&to=${to}`);
  // The export has the times of the first trace. A large time in us has fractions of a ns to lose.
  const offset = meta.ranks.find((rank) => rank.state === "read").offset_ns ?? 0;
  const slow = new Map();
  for (const event of events.filter((one) => one.ph === "X" && ["kernel", "gpu_memcpy", "gpu_memset"].includes(one.cat))) {
    const start = event.ts * 1000 + offset;
    const part = Math.min(to, start + event.dur * 1000) - Math.max(from, start);
    if (part <= 0) continue;
    const of = slow.get(event.name) ?? { count: 0, total: 0 };
    slow.set(event.name, { count: of.count + 1, total: of.total + part });
  }
  const exact = Math.abs(from - offset) < 2 ** 50;
  for (const { name, total, count, unit } of here.rows.filter((row) => slow.has(row.name))) {
    const { count: counted, total: added } = slow.get(name);
    if (exact) assert.equal(count, counted, name);
    assert(Math.abs(total * unit - added) <= 0.0051 * added + (exact ? 2 : 1024) * counted, `${name}: ${total * unit} ns, of the export ${added}`);
  }
  if (exact) assert(slow.size === 0 || here.rows.some((row) => slow.has(row.name)), "device work of the export is in the table");
  const address = (of) => of.evaluate(() => location.href);
  const link = await address(page);
  await page.goto("about:blank");
  await page.goto(link);
  assert.deepEqual(await shown(page), here);
  assert.equal(await address(page), link);
}

const kTraces = Object.entries(hasCorpus ? kOfCorpus : kOfOwn);
// Two at a time: each waits for the page most of the time.
describe("every kind of trace", { concurrency: 2 }, () => {
  for (const [i, [name, paths]] of kTraces.entries()) {
    test(name, async () => {
      const full = paths.map((path) => join(hasCorpus ? corpus : own, path));
      const [figures, served] = await Promise.all([analyze(...full), view(tacho, ...full)]);
      try {
        const troubles = [];
        const screen = kScreens[i % kScreens.length];
        const page = await open(browser, served, { troubles, ...screen });
        assert.equal(await page.getAttribute("html", "data-theme"), screen.dark ? "dark" : "light");
        for (const [k, tab] of kTabs.entries()) {
          await page.keyboard.press(String(k + 1));
          assert.equal(await chosen(page), tab);
          assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight), `${tab} at ${screen.width}`);
        }
        await page.keyboard.press("1");
        await figuresAgree(page, figures);
        await selectionAgrees(page);
        assert.deepEqual(troubles, []);
        await page.context().close();
      } finally {
        await served.stop();
      }
    });
  }
});
