// The requests of a run folder on the page: their parts as `tacho analyze` has them, and the way from a token to its step and back.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { analyze, near, run, tacho, texts } from "./checks.mjs";
import { launch, open, view } from "./server.mjs";

let browser, folder, served, figures;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tacho-requests-"));
  const path = join(folder, "run");
  assert.equal((await run("simulate", "trace", "-o", path, "--traffic", "40", "--ranks", "2")).code, 0);
  [browser, served, figures] = await Promise.all([launch(), view(tacho, path), analyze(path)]);
});
after(async () => {
  await served?.stop();
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const kList = "table[aria-label=Requests] tbody tr";
const kTokens = "table[aria-label=Tokens] tbody tr";
const requests = async (page) => {
  await page.keyboard.press("7");
  await page.waitForSelector(`${kList} .stack-bar`);
};
const selection = (page) => page.evaluate(() => /sel=(-?\d+)\.\.(-?\d+)/.exec(location.hash)?.slice(1).map(Number));

test("each request has its times and its parts, the slowest first", async () => {
  const troubles = [];
  const page = await open(browser, served, { troubles });
  await requests(page);
  const byTime = [...figures.requests.list].sort((a, b) => b.e2e_ns - a.e2e_ns);
  const rows = await page.$$eval(kList, (found) => found.map((row) => [row.querySelector("td").textContent, row.querySelector(".stack-bar")?.title]));
  assert.equal(rows[0][0], byTime[0].id);
  const head = (await texts(page, "table[aria-label=Requests] th")).find((text) => text.includes("E2E"));
  const unit = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[head.split(" ").at(-1)];
  const at = (await texts(page, "table[aria-label=Requests] th")).indexOf(head);
  near(await page.textContent(`${kList} >> nth=0 >> td >> nth=${at}`), byTime[0].e2e_ns / unit, "E2E of the slowest");
  const parts = byTime[0].parts;
  assert.deepEqual(new Set(rows[0][1].split("\n").map((line) => line.split(" ")[0])), new Set(Object.keys(parts)));
  await page.fill(".filter input", byTime[3].id);
  await page.waitForFunction((selector) => document.querySelectorAll(selector).length === 1, kList);
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("from a token to its step, from the step to its requests, and back", async () => {
  const troubles = [];
  const page = await open(browser, served, { troubles });
  await requests(page);
  const sure = figures.requests.list.find((row) => row.sure && row.tokens > 4);
  await page.fill(".filter input", sure.id);
  await page.click(`${kList} button`);
  await page.waitForSelector(`${kTokens} button`);
  const detail = await page.evaluate(async (list) => (await fetch(`api/v1/request?list=${list}`)).json(), figures.requests.list.indexOf(sure));
  // The waits for its tokens and what they are made of.
  for (const chunk of detail.chunks) assert.equal(Object.values(chunk.parts).reduce((sum, ns) => sum + ns, 0), chunk.gap_ns);
  const first = detail.chunks[0], last = detail.chunks.at(-1);
  assert.equal(first.at_ns - detail.due_ns, sure.ttft_ns);
  assert.equal(last.at_ns - first.at_ns, detail.chunks.reduce((sum, chunk) => sum + chunk.gap_ns, 0));
  assert.equal(last.step, sure.last_step + 1);
  // T goes to the step that made the chosen token, the first.
  await page.keyboard.press("Escape");
  await page.locator(".filter input").blur();
  await page.keyboard.press("t");
  await page.waitForFunction(() => /sel=/.test(location.hash) && document.querySelector("#tab-timeline").getAttribute("aria-selected") === "true");
  const steps = await page.evaluate(async () => (await (await fetch("api/v1/meta")).json()).steps);
  const step = steps.find((one) => one.rank === detail.rank && one.number === first.step);
  assert.deepEqual(await selection(page), [step.from_ns, step.until_ns]);
  // And back: the requests of that step, the same token chosen.
  await page.keyboard.press("t");
  await page.waitForSelector(".legend >> text=show all requests");
  const inIt = await page.evaluate(async ([rank, number]) => (await (await fetch(`api/v1/step_requests?rank=${rank}&number=${number}`)).json()).requests, [step.rank, step.number]);
  assert(inIt.some(({ id, role }) => id === sure.id && role === "reads-and-makes"));
  assert.equal(inIt.length, step.requests, "all requests of the step are known");
  await page.fill(".filter input", "");
  await page.waitForFunction(([selector, count]) => document.querySelectorAll(selector).length === count, [kList, inIt.length]);
  assert.equal(await page.textContent(".request-one h2"), sure.id);
  assert.equal(await page.textContent(`${kTokens} .chosen`), "1");
  assert.deepEqual(troubles, []);
  await page.context().close();
});
