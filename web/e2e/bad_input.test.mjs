// Damaged, odd and hostile traces on the page: it says what is wrong in words, and its console stays silent.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { kernel, kHostile, kTabs, operator, own, tacho, texts } from "./checks.mjs";
import { launch, open, settled, view } from "./server.mjs";
import { says, shownIn } from "./shown.mjs";

const kRecording = `${own}/vllm-cpu/mixed_rank0.pt.trace.json.gz`;
const kGpu = Array.from({ length: 100 }, (_, i) => kernel(10 * i, 6, i % 2 ? "void gemm(float*)" : "softmax"));
const kLong = `void ${"long_".repeat(118)}kernel(float*)`;

let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tacho-page-"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});
function write(name, traceEvents, more = {}) {
  const path = join(folder, name);
  writeFileSync(path, typeof traceEvents === "string" ? traceEvents : JSON.stringify({ traceEvents, ...more }));
  return path;
}
const shown = (...args) => shownIn(browser, ...args);

test("a kernel named like HTML is text, wherever it is shown", async () => {
  const path = join(folder, "hostile.json");
  const event = (name, cat, ts, dur, args, tid = 1) => ({ ph: "X", name, cat, pid: 0, tid, ts, dur, args });
  const traceEvents = Array.from({ length: 40 }, (_, i) => [
    event(`${kHostile} launch`, "cuda_runtime", 100 * i, 5, { correlation: i }),
    event(i % 2 ? kHostile : `${kHostile}${"x".repeat(600)}`, "kernel", 100 * i + 20, 60, { correlation: i, device: 0, stream: 7 }, 7),
    event(kHostile, "cpu_op", 100 * i - 3, 20, { note: kHostile }),
  ]).flat();
  writeFileSync(path, JSON.stringify({ traceEvents, deviceProperties: [{ id: 0, name: kHostile }] }));
  const served = await view(tacho, path);
  try {
    const troubles = [];
    const page = await open(browser, served, { troubles });
    for (const tab of kTabs) {
      await page.click(`#tab-${tab}`);
      await page.waitForTimeout(120);
    }
    await page.click("#tab-timeline");
    await page.fill("#search", "<img");
    await page.waitForSelector(".hits li");
    assert((await page.textContent(".hits li")).includes("<img src=x onerror="));
    await page.keyboard.press("Enter");
    await page.waitForSelector(".slice-detail h3");
    assert((await page.textContent(".slice-detail h3")).startsWith("<img src=x"));
    assert.equal(await page.evaluate(() => document.querySelectorAll("img, main script").length), 0);
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assert.deepEqual(troubles, []);
    await page.context().close();
  } finally {
    await served.stop();
  }
});

test("a damaged trace and a server that is gone are said in words", async () => {
  const path = join(folder, "damaged.json");
  writeFileSync(path, "no trace at all");
  const served = await view(tacho, path, kRecording);
  try {
    const page = await open(browser, served);
    const said = await page.textContent("body");
    assert(/damaged|could not be read|not read/.test(said), said.slice(0, 500));
    await served.stop();
    await page.keyboard.press("2");
    await page.waitForSelector(".trouble:has-text('does not answer')", { timeout: 20_000 });
    // A server that was started again has another key: it is asked once.
    let asked = 0;
    await page.route("**/api/v1/**", (route) => {
      if (route.request().url().endsWith("/meta")) ++asked;
      return route.fulfill({ status: 401, body: "{}" });
    });
    await page.waitForSelector(".trouble:has-text('not signed in')", { timeout: 20_000 });
    await page.waitForTimeout(4500);
    assert(asked <= 1, `asked ${asked} times`);
    await page.context().close();
  } finally {
    await served.stop();
  }
});

test("a trace cut in half says what is missing, and shows what is left", async () => {
  const whole = gunzipSync(readFileSync(kRecording)).toString();
  await shown([write("cut.json", whole.slice(0, whole.length / 2))], async (page) => {
    await says(page, "the file ends before the trace does");
    await page.waitForSelector(".trust:has-text('incomplete')");
    await page.click("#tab-timeline");
    await settled(page);
    assert((await page.$$(".row-label")).length > 2);
  });
});

test("where work is missing, idle time is not told and busy time is at least", async () => {
  const launch = (i) => ({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: 100 * i, dur: 5, args: { correlation: i + 1 } });
  const of = (lost) => Array.from({ length: 100 }, (_, i) => [launch(i), ...(lost(i) ? [] : [kernel(100 * i + 20, 60, "gemm", { correlation: i + 1 })])]).flat();
  const lossy = write("lossy.json", of((i) => i % 3 === 1)), whole = write("whole.json", of(() => false));
  await shown([lossy], async (page) => {
    await says(page, "idle or unrecorded work");
    const bar = await page.$$eval(".whole-bar button", (found) => found.map((one) => one.getAttribute("aria-label")));
    assert.deepEqual(bar, ["compute 40.4 %", "idle or unrecorded work 59.6 %"]);
    await says(page, "cannot be told: GPU work is missing from the recording");
    const words = await page.textContent(".trust .words");
    assert(words.includes("GPU work of 33 of 100 cudaLaunchKernel calls is missing: calls all over the recording · 100.0 % of the recorded"), words);
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('device busy at least 40.4 %')");
    await page.waitForSelector(".panel-head:has-text('idle cannot be told')");
    await page.waitForSelector(".row-label:has-text('idle time cannot be told')");
    await page.waitForSelector("table[aria-label='Idle time of the window by cause'] td:has-text('idle or unrecorded work')");
    await page.keyboard.press("g");
    await page.waitForSelector(".trouble:has-text('Idle time cannot be told')");
  });
  await shown([lossy, whole], async (page) => {
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('device busy at least 50.')");
    await page.click("#tab-ranks");
    await page.waitForSelector("table[aria-label=Ranks] th:has-text('busy %, at least')");
  });
});

test("a trace without device work, and one without an event, say so in every tab", async () => {
  const path = write("host.json", Array.from({ length: 20 }, (_, i) => ({ ph: "X", cat: "user_annotation", name: `mark ${i}`, pid: 1, tid: 1, ts: 10 * i, dur: 5 })));
  for (const [trace, verdict] of [[path, "no device time"], [write("none.json", []), "The file holds no event"]]) {
    await shown([trace], async (page) => {
      assert((await page.textContent("h1")).toLowerCase().includes(verdict.toLowerCase()), await page.textContent("h1"));
      for (const [tab, words] of [["kernels", "no kernel in this run"], ["operators", "no host operator"], ["ranks", "One trace"]]) {
        await page.click(`#tab-${tab}`);
        await says(page, words);
      }
      await page.click("#tab-timeline");
      await says(page, "the trace names no step of the engine");
    });
  }
});

test("an event of an hour among microseconds: both are reached", async () => {
  const events = [...kGpu, operator(0, 3.6e9, "an hour")];
  await shown([write("hour.json", events)], async (page) => {
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('length 3,600 s')");
    await page.keyboard.press("g");
    await page.waitForSelector(".panel-head:has-text('length 4.00 us')");
    await page.keyboard.press("Escape");
    await page.keyboard.press("0");
    await page.waitForSelector(".panel-head:has-text('length 3,600 s')");
  });
});

test("traces of two jobs have names of their own and are not taken for one", async () => {
  const ofRank0 = (name, gpu) => write(name, kGpu, { distributedInfo: { rank: 0, world_size: 8 }, deviceProperties: [{ id: 0, name: gpu }] });
  await shown([ofRank0("first.json", "NVIDIA H100"), ofRank0("second.json", "NVIDIA B200")], async (page) => {
    await says(page, "the traces are of different GPUs");
    await page.click("#tab-timeline");
    await settled(page);
    assert.deepEqual((await texts(page, ".row-label.heading .label")).filter((label) => label.startsWith("rank")), ["rank 0 · first.json", "rank 0 · second.json"]);
    await page.waitForSelector(".corner:has-text('own clocks')");
  });
});

test("a file that vanishes while it is shown, or that grows, is said; what was read stays", async () => {
  for (const [act, words] of [[unlinkSync, /vanished|gone|no longer|removed|deleted/], [(path) => appendFileSync(path, " "), /changed/]]) {
    const path = write("shown.json", kGpu);
    await shown([path], async (page) => {
      const verdict = await page.textContent("h1");
      act(path);
      const said = await (await page.waitForSelector(".trouble", { timeout: 20_000 })).textContent();
      assert(said.includes("shown.json") && words.test(said), said);
      await page.click("#tab-timeline");
      await page.waitForSelector(".panel td.name");
      await page.click("#tab-summary");
      assert.equal(await page.textContent("h1"), verdict);
    });
  }
});

test("nothing found, a name of 600 characters, a selection of 3 ns, a link of nonsense", async () => {
  await shown([write("long.json", [...kGpu, kernel(2000, 50, kLong), kernel(2100, 40, "after")])], async (page, served) => {
    await page.click("#tab-timeline");
    await page.fill("#search", "no such kernel");
    await page.waitForSelector(".found:has-text('nothing found')");
    await page.keyboard.press("Enter");
    await page.fill("#search", "long_kernel");
    await page.waitForSelector(".found:has-text('1 slice')");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".slice-detail h3");
    assert.equal(await page.textContent(".slice-detail h3"), kLong);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const base = page.url().split("#")[0];
    const openAfresh = async (hash) => {
      await page.goto("about:blank");
      await page.goto(base + hash);
    };
    await openAfresh("#/t?w=2000000..2000020&sel=2000008..2000011");
    await page.waitForSelector(".panel-head:has-text('length 3 ns')");
    await page.waitForSelector(".panel td.name");
    assert.equal((await texts(page, ".panel tbody tr:first-child td:nth-child(2)"))[0], "3");
    for (const hash of ["#/t?w=9..3&sel=x&slice=9:9:9:zz&tab=nowhere", "#/t?sel=-9999999999999..9999999999999", "#/%E0%A4%A"]) {
      await openAfresh(hash);
      await page.waitForSelector("h1, .panel-head");
    }
  });
});
