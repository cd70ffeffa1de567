// From the terminal to the place that matters: how many actions it takes, and that what was jumped to is named and in sight.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { analyze, near, nsOf, own, run, tacho } from "./checks.mjs";
import { launch, open, settled, view } from "./server.mjs";

const kRun = `${own}/vllm-cpu/tp2`; // two ranks

let browser, served, figures;
before(async () => {
  [browser, served, figures] = await Promise.all([launch(), view(tacho, kRun), analyze(kRun)]);
});
after(async () => {
  await served?.stop();
  await browser?.close();
});

const selection = async (page) => /sel=(-?\d+)\.\.(-?\d+)/.exec(await page.evaluate(() => location.hash))?.slice(1).map(Number);
const selectionAfter = async (page, act) => {
  const before = String(await selection(page));
  await act();
  await page.waitForFunction((was) => {
    const now = /sel=(-?\d+)\.\.(-?\d+)/.exec(location.hash);
    return now && `${now[1]},${now[2]}` !== was;
  }, before);
  return selection(page);
};
const headOf = (page) => page.textContent(".panel-head .what");
// Whether a row of this rank is in sight: its label lies inside the box of the labels.
const inSight = (page, rank, label) => page.evaluate(([rank, label]) => {
  const box = document.querySelector(".labels-box").getBoundingClientRect();
  let of = "";
  return [...document.querySelectorAll(".row-label")].some((row) => {
    const text = row.querySelector(".label").textContent;
    if (row.classList.contains("heading") && row.getAttribute("aria-expanded") !== null && row.style.paddingLeft === "20px") of = text;
    const { top, bottom } = row.getBoundingClientRect();
    return of === rank && text.startsWith(label) && top >= box.top && bottom <= box.bottom;
  });
}, [rank, label]);

// The slow way, from `analyze --json`: the steps of all ranks from start to start, and the gaps.
function slowestStep() {
  const steps = figures.traces.flatMap((trace, rank) => {
    const list = trace.steps.list.map((step) => ({ ...step, rank, period: step.period_ns }));
    const median = (phase) => {
      const sorted = list.filter((step) => step.phase === phase && step.period !== undefined).map((step) => step.period).sort((a, b) => a - b);
      return sorted[Math.ceil(sorted.length / 2) - 1];
    };
    return list.map((step) => ({ ...step, took: step.period !== undefined && step.period <= 4 * median(step.phase) ? step.period : step.dur_ns }));
  });
  return steps.filter((step) => step.phase !== "empty").sort((a, b) => b.took - a.took)[0];
}

test("from a run folder to the slowest step's longest gap in three actions", async () => {
  const troubles = [];
  let actions = 1; // the command: tacho view RUN
  const page = await open(browser, served, { troubles });
  const press = (key) => (++actions, page.keyboard.press(key));
  const step = slowestStep();
  const [from, to] = await selectionAfter(page, () => press("l"));
  assert.equal(to - from, step.took);
  const label = (await page.evaluate(async () => (await (await fetch("api/v1/meta")).json()).ranks.map((rank) => rank.label)))[step.rank];
  assert.match(await headOf(page), new RegExp(`^${step.phase} step \\d+, .* from start to start, ${label}$`));
  const gap = await selectionAfter(page, () => press("g"));
  assert(actions <= 3, `${actions} actions`);
  // Its part inside the step is the longest: of the step's rank, by analyze.
  const trace = figures.traces[step.rank];
  const inside = (one) => Math.min(one.start_ns + one.dur_ns, step.start_ns + step.took) - Math.max(one.start_ns, step.start_ns);
  const longest = [...trace.idle.gaps].sort((a, b) => inside(b) - inside(a))[0];
  const offset = from - step.start_ns;
  assert.deepEqual(gap, [longest.start_ns + offset, longest.start_ns + longest.dur_ns + offset]);
  const said = await headOf(page);
  assert(said.startsWith(`gap 1 of `) && said.includes(` in ${step.phase} step `) && said.endsWith(`: ${longest.cause}, ${label}`), said);
  await settled(page);
  assert(await inSight(page, label, "Idle by cause"), "its row is in sight");
  // The next ones are shorter; Shift L is back at the step.
  const next = await selectionAfter(page, () => page.keyboard.press("g"));
  assert.match(await headOf(page), /^gap 2 of /);
  assert.notDeepEqual(next, gap);
  assert.deepEqual(await selectionAfter(page, () => page.keyboard.press("Shift+G")), gap);
  assert.deepEqual(await selectionAfter(page, () => page.keyboard.press("l")), [from, to]);
  assert.notDeepEqual(await selectionAfter(page, () => page.keyboard.press("l")), [from, to], "the next phase");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("a jump opens the rows of its rank and names rank, gap and cause", async () => {
  const troubles = [];
  const { gaps, ranks } = await fetchMeta();
  const number = gaps.findIndex((gap) => gap.rank === 1);
  const words = `gap ${number + 1} of the run: ${gaps[number].cause}, ${ranks[1].label}`;
  const linked = await view(tacho, kRun, "--gap", String(number + 1));
  try {
    const page = await open(browser, linked, { troubles, height: 620 });
    await page.waitForSelector(".panel-head .what");
    assert.equal(await headOf(page), words);
    await settled(page);
    assert(await inSight(page, ranks[1].label, "Idle by cause"), "the row of --gap is in sight");
    await page.context().close();
  } finally {
    await linked.stop();
  }
  // By the list of the longest, in the other order of rows too, and by a link.
  const page = await open(browser, served, { troubles });
  if (number < 5) {
    await page.click(`.gaps tbody tr:nth-child(${number + 1}) button`);
    assert.equal(await headOf(page), words);
  }
  await page.keyboard.press("2");
  await page.click("text=same row of all ranks");
  await page.click(".row-label.heading:has-text('Idle by cause')"); // closed now
  await page.keyboard.press("g");
  await page.waitForSelector(".row-label.heading:has-text('Idle by cause')[aria-expanded=true]");
  const again = await open(browser, served, { troubles, hash: `#/t?tab=timeline&sel=${gaps[number].from_ns}..${gaps[number].to_ns}` });
  assert.equal(await headOf(again), words);
  await settled(again);
  assert(await inSight(again, ranks[1].label, "Idle by cause"));
  await again.keyboard.press("n");
  await again.waitForSelector(".panel-head .what:has-text('step')");
  assert((await headOf(again)).endsWith(ranks[1].label), "the next step of the same rank");
  await page.context().close();
  await again.context().close();
  assert.deepEqual(troubles, []);
});
test("one gap has one time: on the page, in the terminal and in the report", async () => {
  const { gaps, ranks } = await fetchMeta();
  const folder = mkdtempSync(join(tmpdir(), "tacho-jumps-"));
  try {
    const report = join(folder, "report.html");
    assert.equal((await run("report", kRun, "-o", report)).code, 0);
    const page = await open(browser, served);
    await page.goto(pathToFileURL(report).href);
    const rows = await page.$eval("table[data-table=gaps]", (table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    const heads = await page.$eval("table[data-table=gaps]", (table) => [...table.tHead.rows[0].cells].map((head) => head.textContent.trim()));
    const cell = (row, head) => rows[row][heads.findIndex((text) => text.startsWith(head))];
    const unitOf = (list) => nsOf(`1 ${/ (ns|us|ms|s)$/.exec(list.find((text) => text.startsWith("at")))[1]}`);
    assert(rows.length > 3);
    rows.forEach((_, i) => {
      near(cell(i, "at"), gaps[i].from_ns / unitOf(heads), `gap ${i + 1} of the report`);
      assert.equal(cell(i, "rank"), ranks[gaps[i].rank].label);
      assert.equal(cell(i, "cause"), gaps[i].cause);
    });
    // `analyze --gaps` lists those of each rank: the longest of each is the first.
    const text = (await run("analyze", kRun, "--gaps")).out;
    const tables = text.split(/^ GAPS /m).slice(1);
    assert.equal(tables.length, 2);
    tables.forEach((table, rank) => {
      const [head, first] = table.split("\n");
      const [, , at] = first.trim().split(/ {2,}| /);
      near(at, gaps.find((gap) => gap.rank === rank).from_ns / nsOf(`1 ${/at (\w+)/.exec(head)[1]}`), `the first gap of rank ${rank} in the terminal`);
    });
    await page.context().close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

async function fetchMeta() {
  const page = await open(browser, served);
  const meta = await page.evaluate(async () => (await fetch("api/v1/meta")).json());
  await page.context().close();
  return meta;
}

test("figures of several ranks say so, and steps say from where to where", async () => {
  const troubles = [];
  const page = await open(browser, served, { troubles });
  assert.match(await page.textContent(".steps h2"), /from the start of each to the start of the next$/);
  const step = slowestStep();
  await page.click(".steps select");
  await page.selectOption(".steps select", String(step.rank));
  await page.click(`.steps .rest:has-text('slowest ${step.phase}')`);
  await page.waitForSelector(".panel-head :text('figures over 2 ranks')");
  assert.match(await page.textContent(".panel-head"), /device busy [\d.]+ % of [\d.]+ ms \([\d.]+ to [\d.]+ % by rank\)/);
  await page.keyboard.press("1");
  assert.match(await page.textContent(".scope-line"), /^Figures of the whole run\./);
  // The head of a column says what it sorts by, and how it is sorted.
  await page.keyboard.press("4");
  await page.click("th button[aria-label='count: sort by count']");
  await page.waitForSelector("th[aria-sort=descending] button[aria-label='count, sorted from the largest: sort by count']");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("a search that ends is said without an error of the console, and / takes what is typed next", async () => {
  const troubles = [];
  const page = await open(browser, served, { troubles });
  await page.keyboard.press("/");
  await page.keyboard.type("execute_context");
  assert.equal(await page.inputValue("#search"), "execute_context");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".slice-detail h3");
  await page.keyboard.press("Shift+Enter");
  await page.waitForFunction(() => document.querySelector(".aloud").textContent.startsWith("no earlier slice"));
  await page.waitForSelector(".found:has-text('slice')");
  assert.deepEqual(troubles, []);
  await page.context().close();
});
