// Where a trace lacks data: every figure on the page is right or absent, and the page says what the terminal says.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { kernel, launched, number, operator, run, texts } from "./checks.mjs";
import { follow, launch, settled } from "./server.mjs";
import { says, shownIn } from "./shown.mjs";

const kMixed = "not shown: the file holds several ranks as one";
const kCauses = "table[aria-label='Idle time of the window by cause']";
const kCategories = "table[aria-label='Device work of the window by category']";
const kNames = "table[aria-label='Slices of the window by name']";

let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tacho-page-"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});
const shown = (...args) => shownIn(browser, ...args);
function write(name, traceEvents, more = {}) {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, JSON.stringify({ traceEvents, ...more }));
  return path;
}
const ofRank = (rank, world) => ({ distributedInfo: { rank, world_size: world }, baseTimeNanoseconds: 1_700_000_000_000_000_000 });
const mixed = () => [...launched(20), ...launched(20, { process: 2 })];
// Without a word of `figures`.
async function lacks(page, ...figures) {
  const panel = await page.textContent(".panel");
  for (const figure of figures) assert(!panel.includes(figure), `"${figure}" in ${panel}`);
}
// The timeline with this part selected, in us.
async function select(page, from, to) {
  await follow(page, `#/t?tab=timeline&sel=${1000 * from}..${1000 * to}`);
  await page.reload();
  await page.waitForSelector(`.panel-head:has-text('Selection')`);
  await page.waitForSelector(".panel-head:has-text('length')");
  await settled(page);
}

test("busy time is at least wherever the terminal says so, also where idle time is told", async () => {
  const spread = write("spread/0.json", launched(400, { has: (i) => i !== 200 }), ofRank(0, 2)), whole = write("spread/1.json", launched(400), ofRank(1, 2));
  const { out } = await run("analyze", spread);
  const [, said] = /GPU busy (at least [\d.]+ %)/.exec(out);
  await shown([spread], async (page) => {
    await page.click("#tab-timeline");
    await page.waitForSelector(`.panel-head:has-text('device busy ${said} of ')`);
    await page.waitForSelector(".panel-head:has-text('idle at most')");
  });
  await shown([spread, whole], async (page) => {
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('device busy at least')");
    const titles = await page.$$eval(".panel-head [title*=busy]", (found) => found.map((one) => one.title).join());
    assert.match(titles, /rank 0: busy at least .*\n.*rank 1: busy \d/);
    const headings = await texts(page, ".row-label.heading");
    assert.deepEqual(headings.filter((text) => text.startsWith("rank")).map((text) => text.includes("at least")), [true, false]);
    await page.click("#tab-ranks");
    await page.waitForSelector("table[aria-label=Ranks] th:has-text('busy %, at least')");
    assert.deepEqual((await texts(page, "table[aria-label=Ranks] tbody td:first-child")).map((text) => text.includes("incomplete")), [true, false]);
    assert.deepEqual(await texts(page, "table[aria-label=Traces] tbody td:nth-child(2)"), ["read, incomplete", "read"]);
  });
});

test("work out of the order of its launches is neither busy nor idle", async () => {
  const events = launched(40, { has: () => false }).concat(Array.from({ length: 40 }, (_, i) => kernel(9000 - 10 * i, 30, "gemm", { correlation: i + 1 })));
  await shown([write("refused.json", events)], async (page) => {
    assert.match(await page.textContent("h1"), /^device time cannot be told/i);
    await says(page, "device time cannot be told: GPU work lies out of the order of its launches");
    await page.waitForSelector("table[aria-label='Kernels with most time'] td:has-text('gemm')");
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('device busy cannot be told')");
    await page.waitForSelector(`${kCauses} td:has-text('cannot be told: GPU work lies out of the order of its launches')`);
    await page.waitForSelector(".minimap-label:has-text('device time not shown')");
    await lacks(page, "%");
    await page.keyboard.press("g");
    await page.waitForSelector(".trouble:has-text('Idle time cannot be told: GPU work lies out of the order of its launches.')");
  });
});

test("a rank of refused times has no time, and the others have all of theirs", async () => {
  const from = 1_700_000_000; // us: years after the times of the other rank's device
  const whole = write("refused/0.json", launched(40, { from }), ofRank(0, 2));
  const zero = launched(40, { from }).map((event) => (event.cat === "kernel" ? { ...event, ts: 0 } : event));
  await shown([whole, write("refused/1.json", zero, ofRank(1, 2))], async (page) => {
    const causes = await texts(page, "table[aria-label='Time by cause'] tbody tr");
    assert(causes.length > 0 && !causes[0].includes("none"), causes.join());
    await page.click("#tab-ranks");
    const rows = await page.$$eval("table[aria-label=Ranks] tbody tr", (found) => found.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert(rows[0].slice(1, 4).every((text) => text !== ""), rows[0].join());
    assert.deepEqual(rows[1].slice(1, 7), ["", "", "", "", "", ""]);
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('device busy')");
    await page.waitForSelector(".panel-head:has-text('length 3.98 ms')");
  });
});

test("a file that holds several ranks as one has slices and no figure", async () => {
  await shown([write("mixed.json", mixed())], async (page) => {
    await says(page, kMixed.slice(1));
    for (const tab of ["kernels", "operators", "flame"]) {
      await page.click(`#tab-${tab}`);
      await says(page, kMixed);
    }
    await page.click("#tab-timeline");
    await page.waitForSelector(`${kNames} td:has-text('${kMixed}')`);
    assert.equal((await texts(page, ".row-label .aloud")).filter((text) => text === kMixed).length, 3); // busy, idle, communication
    await lacks(page, "device busy", "%", "steps");
    await page.fill("#search", "gemm");
    await page.waitForSelector(".found:has-text('40 slices')");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".slice-detail h3");
    assert(!(await page.textContent(".slice-detail")).includes("launched"));
  });
});

test("beside other ranks it is in no figure of theirs", async () => {
  const path = write("folder/merged.json", mixed());
  write("folder/rank2.json", launched(20), ofRank(2, 3));
  await shown([join(path, "..")], async (page) => {
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('figures over 1 of 2 traces:')");
    await page.waitForSelector(".panel-head:has-text('kernels and copies 20')");
    await page.waitForSelector(".panel-head:has-text('device busy 61.2 %')");
  });
});

test("without a clock in common a launch has no delay", async () => {
  for (const [delay, words] of [[-50, /^launched bycudaLaunchKernel$/], [20, /^launched bycudaLaunchKernel 15.0 us before it ran$/]]) {
    await shown([write(`clock${delay}.json`, launched(40, { delay }))], async (page) => {
      await page.click("#tab-timeline");
      await page.fill("#search", "gemm");
      await page.waitForSelector(".found:has-text('40 slices')");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".slice-detail dt:has-text('launched by')");
      const fact = await page.$$eval(".slice-detail dt", (found) => found.filter((one) => one.textContent === "launched by").map((one) => one.textContent + one.nextElementSibling.textContent));
      assert.match(fact[0], words);
    });
  }
});

test("shares of device work are of the time from first to last work, as device busy", async () => {
  await shown([write("margins.json", [operator(-20_000, 10, "before"), ...launched(100), operator(40_000, 10, "after")])], async (page) => {
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('device busy 60.2 % of 9.96 ms')");
    for (const table of [kNames, kCategories]) {
      await page.waitForSelector(`${table} th:has-text('% of 9.96 ms')`);
      assert.equal((await texts(page, `${table} tbody tr:first-child td:nth-child(3)`))[0], "60.2");
    }
  });
});

test("a part in which nothing was recorded is neither idle nor without work", async () => {
  const range = (i) => ({ ph: "X", cat: "user_annotation", name: `range ${i}`, pid: 1, tid: 1, ts: 100 * i - 1, dur: 90 });
  const ranges = (count) => Array.from({ length: count }, (_, i) => range(i));
  const stopped = write("stopped.json", [...launched(40), ...ranges(80)]), early = write("early.json", [operator(-3000, 10, "before"), ...launched(40)]);
  for (const [path, from, to, words] of [[stopped, 5000, 7000, "device work was not recorded here"], [early, 100, 1000, "before the first or after the last work"]]) {
    await shown([path], async (page) => {
      await select(page, from, to);
      for (const table of [kCauses, kCategories]) assert.deepEqual(await texts(page, `${table} td`), [words]);
      assert.deepEqual(await texts(page, `${kCauses} th`), ["idle because"]);
      await lacks(page, "device busy", "not idle", "no device work");
    });
  }
  const long = write("some/0.json", launched(80), ofRank(0, 2)), short = write("some/1.json", launched(40), ofRank(1, 2));
  await shown([long, short], async (page) => {
    await select(page, 5000, 6000);
    await page.waitForSelector(".panel-head:has-text(', 1 of 2 traces')");
  });
});

test("where idle time of one rank is not told, the shares of all that is not busy add up", async () => {
  const lossy = write("two/0.json", launched(100, { has: (i) => i % 3 !== 1 }), ofRank(0, 2)), whole = write("two/1.json", launched(100), ofRank(1, 2));
  await shown([lossy, whole], async (page) => {
    await page.click("#tab-timeline");
    await page.waitForSelector(".panel-head:has-text('idle cannot be told of 1 of 2 traces')");
    await page.waitForSelector(`${kCauses} td:has-text('idle or unrecorded work')`);
    const shares = (await texts(page, `${kCauses} tbody td:nth-child(3)`)).map(number);
    assert(shares.every((share) => share > 0) && Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100) < 0.3, shares.join());
  });
});

test("until its figures are there, the panel says that they are read", async () => {
  await shown([write("slow.json", launched(40))], async (page) => {
    let answer;
    const held = new Promise((done) => (answer = done));
    await page.route("**/api/v1/selection*", (route) => held.then(() => route.continue()).catch(() => {})); // one that was given up has no route
    await follow(page, "#/t?tab=timeline");
    await page.reload();
    await page.waitForSelector(`${kCauses} td:has-text('reading the figures')`);
    await lacks(page, "length", "not idle", "no device work");
    answer();
    await page.waitForSelector(".panel-head:has-text('device busy')");
  }, { width: 1400 });
});
