// Memory on the page: the levels and the parts of the peak are those of `tacho analyze --json`, and are absent where nothing was recorded.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { analyze, kernel, number, operator, own, run, texts } from "./checks.mjs";
import { launch } from "./server.mjs";
import { says, shownIn } from "./shown.mjs";

let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tacho-memory-"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});
function write(name, traceEvents) {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ traceEvents }));
  return path;
}
const work = () => Array.from({ length: 20 }, (_, i) => [operator(100 * i, 80, "aten::mm"), kernel(100 * i + 20, 60, "gemm")]).flat();
const memory = (at, args) => ({ ph: "i", cat: "cpu_instant_event", s: "t", name: "[memory]", pid: operator(0, 1, "").pid, tid: operator(0, 1, "").tid, ts: at, args });
const kSection = ".memory";
const kPeak = "table[aria-label='Alive at the peak']";

test("levels, time and parts of the peak are those of analyze --json, and the peak leads to its time", async () => {
  let held = 3_000_000;
  const blocks = [[130, 5_000_000, 1], [250, 20_000_000, 2], [295, 1_000_000, 3], [340, -20_000_000, 2], [350, -1_000_000, 77]];
  const path = write("levels.json", [
    ...work(),
    ...blocks.map(([at, bytes, address], i) => memory(at, { "Total Reserved": 64_000_000, "Total Allocated": (held += bytes), Bytes: bytes, Addr: address, "Device Id": 0, "Device Type": 1, "Ev Idx": i })),
    memory(400, { "Total Reserved": 0, "Total Allocated": 8, Bytes: 8, Addr: 5, "Device Id": -1, "Device Type": 0, "Ev Idx": 9 }),
  ]);
  const [gpu] = (await analyze(path)).traces[0].memory.devices;
  assert.equal(gpu.peak.allocated_bytes, 29_000_000);
  await shownIn(browser, [path], async (page) => {
    for (const words of ["peak 29.0 MB at ", "reserved then 64.0 MB", "from start to end 3.00 MB to 8.00 MB", "3 allocations, 2 frees"]) await says(page, words);
    const rows = await page.$$eval(`${kPeak} tbody tr`, (found) => found.map((row) => [row.querySelector("[title]")?.title ?? "", ...[...row.cells].slice(2).map((cell) => cell.textContent)]));
    assert.deepEqual(rows, [["aten::mm", "25.0 MB", "86.2", "2"], ["[no operator]", "1.00 MB", "3.4", "1"], ["[before the recording]", "3.00 MB", "10.3", ""]]);
    assert.equal(await page.locator(`${kSection} .chart canvas`).count(), 1);
    await page.selectOption(`${kSection} select`, "1");
    await says(page, "peak 8.00 bytes at ");
    assert(!(await page.textContent(kSection)).includes("reserved"), "a CPU's allocator reserves nothing");
    await page.selectOption(`${kSection} select`, "0");
    await page.click(`${kSection} button:has-text('peak')`);
    await page.waitForFunction((at) => location.hash.includes(`sel=${at}..`), gpu.peak.at_ns - 0);
  });
});

test("a real recording's parts add up, and the report draws it", async () => {
  const path = `${own}/torch-cpu/shapes_memory.pt.trace.json.gz`;
  const { peak } = (await analyze(path)).traces[0].memory.devices[0];
  await shownIn(browser, [path], async (page) => {
    const shares = await page.$$eval(`${kPeak} tbody tr`, (found) => found.map((row) => row.cells[3].textContent));
    assert.equal(shares.length, peak.operators.length + (peak.before_bytes ? 1 : 0));
    assert(Math.abs(shares.reduce((sum, text) => sum + number(text), 0) - 100) < 1, shares.join());
  });
  const report = join(folder, "report.html");
  assert.equal((await run("report", path, "-o", report)).code, 0);
  const page = await browser.newPage();
  await page.goto(`file://${report}`);
  assert((await texts(page, "h2")).includes("Memory"));
  assert((await texts(page, "figcaption")).includes("Memory of cpu over time"));
  await page.close();
});

test("without totals there is growth alone, with damaged events no level, without events no section", async () => {
  const old = (at, bytes) => memory(at, { "Device Type": 1, "Device Id": 0, Bytes: bytes });
  await shownIn(browser, [write("old.json", [...work(), old(110, 4000), old(200, -3000)])], async (page) => {
    await says(page, "most above the start 4.00 kB at ");
    assert(!(await page.textContent(kSection)).includes("peak"));
  });
  await shownIn(browser, [write("damaged.json", [...work(), old(110, 4000), old(200, "x")])], async (page) => {
    await says(page, "no level can be told: events of memory are damaged");
  });
  await shownIn(browser, [write("none.json", work())], async (page) => {
    assert.equal(await page.locator(kSection).count(), 0);
  });
});
