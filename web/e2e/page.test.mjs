// The page in a browser against the real server and real traces: TACHO names the program, TACHO_CORPUS the folder of traces.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { analyze, chosen, corpus, kTabs, near, number, tacho, texts } from "./checks.mjs";
import { follow, launch, open, settled, view } from "./server.mjs";

const kOneRank = join(corpus, "AMD-AGI+TraceLens/b200/eager_trace.json.gz");
const kRanks = join(corpus, "facebookresearch+param/dlrm_kineto.tar.gz");
const kCpu = join(corpus, "live-vllm-cpu/stack_rank0.pt.trace.json.gz");
const kMerged = join(corpus, "live-sglang-cpu/tp2-merged");

let browser, one, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tacho-page-"));
  browser = await launch();
  one = await view(tacho, kOneRank);
});
after(async () => {
  await one?.stop();
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the summary says what analyze --json says", async () => {
  const troubles = [];
  const page = await open(browser, one, { troubles });
  const figures = await analyze(kOneRank);
  const trace = figures.traces[0];
  assert.equal(await page.textContent("h1"), figures.verdict.text);
  const shares = (await page.$$eval(".whole-bar button", (found) => found.map((one) => one.getAttribute("aria-label")))).map((label) => number(/([<\d.]+) %$/.exec(label)[1]));
  assert(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100) < 0.5, `the bar adds up to ${shares}`);
  const kernels = await page.$$eval("table[aria-label='Kernels with most time'] tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.equal(kernels.length, 12);
  kernels.forEach((cells, i) => {
    const kernel = trace.kernels[i];
    assert.equal(cells[0], kernel.short_name);
    near(cells[1], kernel.total_ns / 1000, kernel.name);
    assert.equal(number(cells[3]), kernel.count);
    near(cells[4], kernel.p50_ns / 1000, "median");
    near(cells[5], kernel.p99_ns / 1000, "p99");
  });
  const causes = await texts(page, "table[aria-label='Time by cause'] tbody tr td:first-child");
  assert.deepEqual(causes, trace.idle.causes.map((cause) => cause.id));
  assert.equal((await page.$$(".answer")).length, 15);
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("every tab is reached by its key, the arrows and the mouse", async () => {
  const troubles = [];
  const page = await open(browser, one, { troubles });
  for (const [i, tab] of kTabs.entries()) {
    await page.keyboard.press(String(i + 1));
    assert.equal(await chosen(page), tab);
  }
  await page.focus(`#tab-${kTabs.at(-1)}`);
  for (const tab of [...kTabs].reverse().slice(1)) {
    await page.keyboard.press("ArrowLeft");
    assert.equal(await chosen(page), tab);
  }
  for (const tab of kTabs) {
    await page.click(`#tab-${tab}`);
    assert.equal(await chosen(page), tab);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${tab} is wider than the window`);
  }
  await page.waitForTimeout(400); // until the address stands still
  await page.click("#tab-summary");
  await page.waitForTimeout(400);
  for (const back of [...kTabs].reverse().slice(0, 3)) {
    await page.evaluate(() => history.back());
    await page.waitForFunction((id) => document.querySelector("nav [aria-selected=true]").id === id, `tab-${back}`);
  }
  await page.keyboard.press("?");
  await page.waitForSelector("dialog.help");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog.help", { state: "detached" });
  assert.deepEqual(troubles, []);
  await page.context().close();
});

// Sums of the parts of all kernels in a window, straight from the file.
function kernelsOf(path, from, to) {
  const events = JSON.parse(gunzipSync(readFileSync(path)).toString()).traceEvents.filter((event) => event.ph === "X");
  const ns = (us) => Math.round(us * 1000);
  const zero = ns(Math.min(...events.filter((event) => event.cat !== "Trace").map((event) => event.ts)));
  const sums = new Map();
  for (const event of events.filter((one) => one.cat === "kernel")) {
    const start = ns(event.ts) - zero;
    const part = Math.min(to, start + ns(event.dur)) - Math.max(from, start);
    if (part > 0) sums.set(event.name, { count: (sums.get(event.name)?.count ?? 0) + 1, total: (sums.get(event.name)?.total ?? 0) + part });
  }
  return sums;
}

test("a dragged selection has its figures below, and its link opens the same place", async () => {
  const troubles = [];
  const page = await open(browser, one, { hash: "#/t?w=26000000..29200000", troubles });
  const area = await (await page.$(".area")).boundingBox();
  await page.mouse.move(area.x + area.width * 0.3, area.y + 200);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.6, area.y + 220, { steps: 6 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("sel="));
  await settled(page);
  const hash = new URL(page.url()).hash;
  const [from, to] = /sel=(\d+)\.\.(\d+)/.exec(hash).slice(1).map(Number);
  const slow = kernelsOf(kOneRank, from, to);
  assert(slow.size > 3);
  const read = async (of) => {
    await of.waitForSelector(".panel td.name");
    await settled(of);
    return of.$$eval(".panel table[aria-label='Slices of the window by name'] tbody tr", (rows) => rows.filter((row) => row.cells.length > 3).map((row) => [row.querySelector("[title]").title, ...[...row.cells].slice(1).map((cell) => cell.textContent)]));
  };
  const head = await texts(page, ".panel table[aria-label='Slices of the window by name'] th");
  const unit = { ns: 1, us: 1e3, ms: 1e6 }[/total (\w+)/.exec(head[1])[1]];
  const rows = await read(page);
  for (const [name, sum] of slow) {
    const cells = rows.find((row) => row[0] === name);
    assert(cells, `${name} is in the table`);
    assert.equal(number(cells[4]), sum.count, name);
    near(cells[1], sum.total / unit, name);
  }
  const again = await open(browser, one, { hash, troubles });
  assert.equal(await again.textContent(".panel-head strong"), "Selection");
  assert.deepEqual(await read(again), rows);
  await again.keyboard.press("3");
  await again.waitForSelector(".scope-line");
  const kernels = await again.waitForSelector("table[aria-label='Kernels of the selection'] td.name").then(() => again.$$eval("table[aria-label='Kernels of the selection'] td.name [title]", (found) => found.map((one) => one.title)));
  for (const name of slow.keys()) assert(kernels.includes(name), `${name} is a kernel of the selection`);
  assert.deepEqual(troubles, []);
  await page.context().close();
  await again.context().close();
});

// Until the selection is this stretch of time.
const selected = (page, { from_ns, to_ns }) => page.waitForFunction((text) => location.hash.includes(text), `sel=${from_ns}..${to_ns}`);

test("the keyboard alone finds steps, gaps, slices, launches and names", async () => {
  const troubles = [];
  const page = await open(browser, one, { hash: "#/t?tab=timeline", troubles });
  const figures = await analyze(kOneRank);
  const { gaps } = await page.evaluate(async () => (await fetch("api/v1/meta")).json());
  await page.keyboard.press("Shift+G");
  await selected(page, gaps.at(-1));
  await page.keyboard.press("g");
  await selected(page, gaps[0]); // the address follows a moment after the picture
  const longest = figures.traces[0].idle.gaps[0];
  const [from, to] = /sel=(-?\d+)\.\.(-?\d+)/.exec(new URL(page.url()).hash).slice(1).map(Number);
  assert.equal(to - from, longest.dur_ns);
  assert.equal(from, longest.start_ns - figures.traces[0].span.first_ns);
  await page.keyboard.press("Shift+N");
  await page.keyboard.press("/");
  await page.keyboard.type("multimem_all_reduce_kernel");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".slice-detail h3");
  assert((await page.textContent(".slice-detail h3")).includes("multimem_all_reduce_kernel"));
  const first = await page.textContent(".slice-detail dl");
  await page.keyboard.press("Enter");
  await page.waitForFunction((was) => document.querySelector(".slice-detail dl")?.textContent !== was, first);
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.querySelector(".stage").focus());
  await page.keyboard.press("Enter");
  await page.waitForSelector(".slice-detail h3");
  await page.keyboard.press("[");
  await page.waitForFunction(() => /aunch/.test(document.querySelector(".slice-detail h3")?.textContent ?? ""));
  await page.keyboard.press("]");
  await page.waitForFunction(() => document.querySelector(".slice-detail h3")?.textContent.includes("multimem_all_reduce_kernel"));
  await page.keyboard.press(".");
  await page.keyboard.press("Escape");
  await page.keyboard.press("0");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("a link of the terminal opens its gap, and a mark is kept beside the trace", async () => {
  const trace = join(folder, "marked.json.gz");
  copyFileSync(kOneRank, trace);
  const served = await view(tacho, trace, "--gap", "3");
  try {
    const troubles = [];
    const page = await open(browser, served, { troubles });
    await page.waitForSelector(".panel-head strong:has-text('Selection')");
    await page.waitForFunction(() => location.hash.includes("sel="));
    const [from, to] = /sel=(-?\d+)\.\.(-?\d+)/.exec(new URL(page.url()).hash).slice(1).map(Number);
    assert.equal(to - from, (await analyze(trace)).traces[0].idle.gaps[2].dur_ns);
    await page.keyboard.press("m");
    await page.keyboard.type("look <b>here</b>");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=Remove the mark");
    await page.reload();
    await page.waitForSelector("text=Remove the mark");
    await page.keyboard.press("Escape");
    await page.waitForSelector("text=1 mark");
    const exported = await page.evaluate(async (path) => (await (await fetch(path)).json()).traceEvents.length, `api/v1/export?from=${from - 100000}&to=${to + 100000}`);
    assert(exported > 2);
    const { gaps } = await page.evaluate(async () => (await fetch("api/v1/meta")).json());
    await follow(page, `#/t?tab=timeline&sel=${gaps[2].from_ns}..${gaps[2].to_ns}`);
    await selected(page, gaps[2]);
    await page.keyboard.press("g");
    await selected(page, gaps[3]);
    // Another page keeps a mark meanwhile; this one must not take it away.
    await page.evaluate(async () => {
      const { marks } = await (await fetch("api/v1/marks")).json();
      await fetch("api/v1/marks", { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ marks: [...marks, { from_ns: 1, to_ns: 2, note: "theirs" }] }) });
    });
    await page.keyboard.press("Shift+M");
    await page.waitForSelector("text=Remove the mark");
    const kept = await page.evaluate(async () => (await (await fetch("api/v1/marks")).json()).marks.map((mark) => mark.note));
    assert.deepEqual(kept.sort(), ["", "look <b>here</b>", "theirs"]);
    // And one between this page's reading and writing: the server refuses the first writing (412), the page merges.
    let between = false;
    await page.route("**/api/v1/marks", async (route) => {
      if (between || route.request().method() !== "PUT") return route.continue();
      between = true;
      const base = page.url().split("#")[0];
      const { marks } = await (await page.request.get(`${base}api/v1/marks`)).json();
      const headers = { Origin: new URL(base).origin };
      await page.request.put(`${base}api/v1/marks`, { headers, data: { marks: [...marks, { from_ns: 3, to_ns: 4, note: "in between" }] } });
      return route.continue();
    });
    await page.keyboard.press("g");
    await selected(page, gaps[4]);
    await page.keyboard.press("Shift+M");
    await page.waitForSelector("text=Remove the mark");
    const both = await page.evaluate(async () => (await (await fetch("api/v1/marks")).json()).marks.map((mark) => mark.note));
    assert.deepEqual(both.sort(), ["", "", "in between", "look <b>here</b>", "theirs"]);
    assert(troubles.length === 1 && troubles[0].includes("412"), `the browser itself logs it: ${troubles}`);
    troubles.pop();
    assert.deepEqual(troubles, []);
    await page.context().close();
  } finally {
    await served.stop();
  }
});

test("eight ranks lie on one clock, open and close, and lie by row as well", async () => {
  const served = await view(tacho, kRanks);
  try {
    const troubles = [];
    const page = await open(browser, served, { hash: "#/t?tab=timeline", troubles });
    const headings = () => texts(page, ".row-label.heading .label");
    assert.equal((await headings()).filter((text) => /^rank \d/.test(text)).length, 8);
    const closed = (await page.$$(".row-label")).length;
    await page.click(".row-label.heading[aria-expanded=false]:has-text('rank 3')");
    assert((await page.$$(".row-label")).length > closed);
    await page.click("text=same row of all ranks");
    assert((await headings()).includes("Idle by cause"));
    await page.keyboard.press("6");
    const figures = await analyze(kRanks);
    const busy = await texts(page, "table[aria-label='Ranks'] tbody td:nth-child(3)");
    figures.ranks.table.forEach((rank, i) => near(busy[i], (100 * rank.busy_ns) / rank.window_ns, `rank ${i} busy`));
    const heads = await texts(page, "table[aria-label='Traces'] thead th");
    const clocks = await texts(page, `table[aria-label='Traces'] tbody td:nth-child(${heads.indexOf("clock off by us") + 1})`);
    assert.equal(clocks[0], "reference");
    assert(clocks.length === 8 && clocks.slice(1).every((text) => Math.abs(number(text)) <= 3), `clocks: ${clocks}`);
    assert.equal((await texts(page, ".traces .bad")).length, 0);
    assert.deepEqual(troubles, []);
    await page.context().close();
  } finally {
    await served.stop();
  }
});

test("a kernel of a collective names the rank that it waited for, and leads to the others", async () => {
  const served = await view(tacho, kRanks);
  try {
    const troubles = [];
    const page = await open(browser, served, { hash: "#/t?tab=timeline&q=ncclKernel_AllReduce", troubles });
    assert.equal(await page.textContent(".corner"), "one clock, to within 2.00 us");
    await page.press("[type=search]", "Enter");
    const on = async () => (await texts(page, ".slice-detail dd")).find((text) => text.startsWith("of 8 ranks"));
    await page.waitForSelector(".slice-detail dt:has-text('collective')");
    assert.match(await on(), /^of 8 ranks, waited \d+ us for rank 7/);
    await page.click(".slice-detail dd button:text-is('rank 7')");
    await page.waitForFunction(() => document.querySelector(".slice-detail")?.textContent.includes("started last"));
    assert.match(await on(), /^of 8 ranks, started lastrank 0/);
    assert.deepEqual(troubles, []);
    await page.context().close();
  } finally {
    await served.stop();
  }
});

test("a clock that is off is said, and its rank stays where its trace has it", async () => {
  const run = mkdtempSync(join(folder, "shifted-"));
  for (let rank = 0; rank < 3; ++rank) {
    const traceEvents = [100, 300, 600].map((ts) => ({ ph: "X", cat: "kernel", name: "ncclDevKernel_AllReduce", pid: rank, tid: 7, ts: ts + 10 * rank, dur: 50 - 10 * rank, args: { device: rank, stream: 7 } }));
    writeFileSync(join(run, `rank${rank}.json`), JSON.stringify({ baseTimeNanoseconds: 1_700_000_000_000_000_000 + (rank === 2 ? 80_000 : 0), distributedInfo: { rank, world_size: 3 }, traceEvents }));
  }
  const served = await view(tacho, run);
  try {
    const page = await open(browser, served, { hash: "#/t?tab=ranks" });
    await page.waitForSelector(".traces .bad");
    assert.deepEqual(await texts(page, ".traces .bad"), ["The rows of rank 2 lie about 80.0 us too late: its clock differs from that of rank 0, as the ends of 3 collectives show."]);
    assert.deepEqual(await page.evaluate(async () => (await (await fetch("api/v1/meta")).json()).ranks.map((rank) => rank.span.from_ns)), [0, 10_000, 100_000]);
    await page.context().close();
  } finally {
    await served.stop();
  }
});

test("the slice that was asked for last is shown, whichever answer comes last", async () => {
  const page = await open(browser, one, { hash: "#/t?tab=timeline&q=multimem_all_reduce_kernel" });
  await settled(page);
  await page.focus(".stage");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".slice-detail dl");
  const shown = () => page.textContent(".slice-detail");
  const first = await shown();
  let asked = 0;
  let late;
  const answered = new Promise((resolve) => (late = resolve));
  await page.route("**/api/v1/slice?*", async (route) => {
    const slow = ++asked === 1;
    if (slow) await new Promise((done) => setTimeout(done, 1000));
    await route.continue();
    if (slow) late();
  });
  const sent = page.waitForRequest("**/api/v1/slice?*");
  await page.keyboard.press(".");
  await sent; // a busy page would ask once for both keys
  await page.keyboard.press(",");
  await page.waitForFunction((was) => document.querySelector(".slice-detail")?.textContent !== was, first);
  const before = await shown();
  await answered;
  await page.waitForTimeout(500);
  assert.equal(asked, 2);
  assert.equal(await shown(), before);
  await page.context().close();
});

test("the tooltip goes when a key moves what is below it", async () => {
  const page = await open(browser, one, { hash: "#/t?tab=timeline" });
  await settled(page);
  const area = await (await page.$(".area")).boundingBox();
  for (let y = 30; y < area.height && !(await page.$(".tooltip")); y += 8) await page.mouse.move(area.x + area.width / 2, area.y + y);
  await page.waitForSelector(".tooltip");
  await page.keyboard.press("g");
  await page.waitForSelector(".tooltip", { state: "detached" });
  await page.context().close();
});

test("a selection that cannot be exported is said once, and the other page is left alone", async () => {
  const page = await open(browser, one, { hash: "#/t?tab=timeline" });
  await page.route("**/api/v1/export*", (route) => route.fulfill({ status: 500, body: "{}" }));
  await page.evaluate(() => {
    window.pings = 0;
    window.open = () => ({ postMessage: () => ++window.pings, close: () => {} });
  });
  await page.click("text=Open in Perfetto");
  await page.waitForSelector(".trouble:has-text('was not exported')");
  const before = await page.evaluate(() => window.pings);
  await page.waitForTimeout(700);
  assert.equal(await page.evaluate(() => window.pings), before);
  await page.context().close();
});

test("a merged file beside its ranks is counted once, as in the verdict", async () => {
  const served = await view(tacho, kMerged);
  try {
    const page = await open(browser, served);
    const totals = await page.evaluate(async () => (await (await fetch("api/v1/summary")).json()).totals);
    const workers = (await analyze(kMerged)).traces.filter((trace) => trace.facts.role === "worker");
    assert.equal(totals.devices, 2);
    assert.equal(totals.window_ns, workers.flatMap((trace) => trace.devices).reduce((sum, device) => sum + device.window_ns, 0));
    assert((await page.textContent(".whole h2")).endsWith("of 2 devices go"));
    await page.context().close();
  } finally {
    await served.stop();
  }
});

test("an operator of the table opens itself, not another that has its name inside", async () => {
  const page = await open(browser, one);
  const ops = (await analyze(kOneRank)).traces[0].ops;
  const { name } = ops.find((op) => ops.some((other) => other.name !== op.name && other.name.includes(op.name) && other.count > op.count));
  await page.keyboard.press("4");
  await page.fill("[aria-label='Filter operators']", name);
  await page.locator("table[aria-label='Operators'] td.name button").filter({ hasText: new RegExp(`^${name.replace(/[^\w]/g, "\\$&")}$`) }).first().click();
  await page.waitForSelector(".slice-detail h3");
  assert.equal(await page.textContent(".slice-detail h3"), name);
  await page.context().close();
});

test("a CPU engine's steps are links into the timeline; dark, small and large screens hold all tabs", async () => {
  const served = await view(tacho, kCpu);
  try {
    const troubles = [];
    for (const [width, height, dark] of [[1280, 720, true], [3840, 2160, false]]) {
      const page = await open(browser, served, { width, height, dark, troubles });
      assert.equal(await page.getAttribute("html", "data-theme"), dark ? "dark" : "light");
      for (const tab of kTabs) {
        await page.click(`#tab-${tab}`);
        assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight), `${tab} at ${width}`);
      }
      await page.click("#tab-summary");
      await page.click(".steps .rest:has-text('slowest')");
      assert.equal(await chosen(page), "timeline");
      assert.equal(await page.textContent(".panel-head strong"), "Selection");
      await page.context().close();
    }
    assert.deepEqual(troubles, []);
  } finally {
    await served.stop();
  }
});

// Controls without a name, and texts whose contrast with what is below them is less than 4.5.
function faults() {
  const found = [];
  for (const control of document.querySelectorAll("button, input, select, [role=region], [role=application]")) {
    const name = control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.[0]?.textContent;
    if (!name) found.push(`no name: ${control.outerHTML.slice(0, 100)}`);
  }
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((part) => (part / 255 <= 0.04 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const below = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/, 0\)$/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())) continue;
    const [light, dark] = [luminance(getComputedStyle(element).color), luminance(below(element))].sort((a, b) => b - a);
    if ((light + 0.05) / (dark + 0.05) < 4.5) found.push(`contrast ${(light + 0.05) / (dark + 0.05)}: ${element.textContent.slice(0, 60)}`);
  }
  return found;
}

test("every control has a name and every text is read on its ground, light and dark", async () => {
  for (const dark of [false, true]) {
    const page = await open(browser, one, { dark });
    for (const tab of kTabs) {
      await page.click(`#tab-${tab}`);
      await settled(page);
      assert.deepEqual(await page.evaluate(faults), [], `${tab}, ${dark ? "dark" : "light"}`);
    }
    await page.context().close();
  }
});

test("the list of commands runs what the keys do, by the keyboard alone", async () => {
  const troubles = [];
  const page = await open(browser, one, { troubles });
  const { gaps } = await page.evaluate(async () => (await fetch("api/v1/meta")).json());
  await page.focus("#tab-summary");
  await page.keyboard.press(">");
  const focus = () => page.evaluate(() => ({ role: document.activeElement.role ?? document.activeElement.getAttribute("role"), at: document.activeElement.getAttribute("aria-activedescendant"), id: document.activeElement.id }));
  await page.waitForSelector("dialog.commands [role=listbox] [role=option]");
  assert.equal((await focus()).role, "combobox");
  // One table: what the list offers is in the help, with its key.
  const offered = await texts(page, "[role=option] kbd");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog.commands", { state: "detached" });
  assert.equal((await focus()).id, "tab-summary");
  await page.keyboard.press("?");
  const helped = (await texts(page, "dialog.help kbd")).join(" ");
  for (const key of offered.filter((one) => !/^\d$/.test(one))) assert(helped.includes(key), `${key} is in the help`);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  await page.keyboard.press(">");
  await page.keyboard.type("idle gap");
  assert.equal((await page.$$("[role=option]")).length, 2);
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.textContent(`#${(await focus()).at}`), "previous idle gap, longest firstShift G");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await selected(page, gaps[0]);
  assert.equal(await chosen(page), "timeline");
  await page.keyboard.press("1");
  await page.keyboard.press(">");
  await page.keyboard.type("whole trace show");
  await page.keyboard.press("Enter"); // of the timeline, from another tab
  await page.waitForFunction(() => location.hash.includes("tab=timeline") && !location.hash.includes("w="));
  await page.waitForSelector("dialog", { state: "detached" });
  await page.keyboard.press(">");
  await page.keyboard.type("no such thing");
  await page.waitForSelector("dialog.commands :text('no command has this in its name')");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog.commands", { state: "detached" });
  assert.deepEqual(troubles, []);
  await page.context().close();
});
