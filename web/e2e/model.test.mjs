// The model on the page: the layers and blocks of a run of two ranks as `tacho analyze --json` has them, in the timeline and in their tab.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { analyze, kernel, near, nsOf, number, run, tacho, texts } from "./checks.mjs";
import { launch, open, settled, view } from "./server.mjs";
import { says, shownIn } from "./shown.mjs";

const kLayers = 5;
const kConfig = {
  model_type: "qwen3", hidden_size: 1024, intermediate_size: 3072, num_attention_heads: 16, num_key_value_heads: 8, head_dim: 128,
  num_hidden_layers: kLayers, vocab_size: 32000,
};
let browser, folder, served, figures, roof;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tacho-model-"));
  const [path, config] = [join(folder, "run"), join(folder, "config.json")];
  roof = ["--model-config", config, "--tensor-parallel", "2", "--context-length", "300"];
  writeFileSync(config, JSON.stringify(kConfig));
  assert.equal((await run("simulate", "trace", "-o", path, "--steps", "80", "--layers", String(kLayers), "--model-size", "tiny", "--ranks", "2")).code, 0);
  [browser, served, figures] = await Promise.all([launch(), view(tacho, path, ...roof), analyze(path, ...roof)]);
});
after(async () => {
  await served?.stop();
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const cellsOf = (page, table) => page.$$eval(`table[aria-label='${table}'] tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
const heads = (page, table) => texts(page, `table[aria-label='${table}'] thead th`);
const usOf = (text, head) => number(text) * { us: 1, ms: 1e3 }[/ (\w+)$/.exec(head)[1]];
async function openModel(page) {
  await page.keyboard.press("8");
  await page.waitForSelector("table[aria-label='Layers of the model'] td");
}

test("blocks and layers of each phase are those of analyze --json", async () => {
  const troubles = [];
  const page = await open(browser, served, { troubles });
  await openModel(page);
  const { layers, roofline } = figures.traces[0];
  for (const phase of layers.phases) {
    await page.selectOption(".filter label:has-text('steps') select", phase.phase);
    await page.waitForSelector(`h2:text('Blocks of a ${phase.phase} step')`);
    const expected = new Map();
    for (const block of [...phase.list.flatMap((layer) => layer.blocks), ...phase.outside]) expected.set(block.id, (expected.get(block.id) ?? 0) + block.device_ns);
    const [rows, head] = [await cellsOf(page, "Blocks of the model"), await heads(page, "Blocks of the model")];
    assert.deepEqual(rows.map((row) => row[0]).sort(), [...expected.keys()].sort());
    const at = (name) => head.findIndex((text) => text.startsWith(name));
    for (const row of rows) {
      near(String(usOf(row[1], head[1])), expected.get(row[0]) / phase.steps / 1000, `${phase.phase} ${row[0]}`);
      const known = roofline.blocks.find((one) => one.phase === phase.phase && one.id === row[0]);
      assert.equal(row[at("at the roof")] !== "", known !== undefined, row[0]);
      if (known?.flops > 0) near(row[at("MBU")], 100 * known.mbu, `MBU of ${row[0]}`);
    }
    assert(Math.abs(rows.reduce((sum, row) => sum + number(row[2]), 0) - 100) < 1, "shares add up");
    const room = figures.traces[0].opportunities.filter((one) => one.phase === phase.phase && one.share >= 0.01);
    const [rooms, roomHead] = [await cellsOf(page, "Room to fuse and to overlap"), await heads(page, "Room to fuse and to overlap")];
    assert.deepEqual(rooms.map((row) => row[0]), room.map((one) => (one.kind === "fuse" ? "one kernel" : "hidden")));
    rooms.forEach((row, i) => near(String(usOf(row[3], roomHead[3])), room[i].most_ns / room[i].steps / 1000, `${phase.phase} room ${i}`));
    const each = await cellsOf(page, "Layers of the model");
    assert.equal(each.length, kLayers);
    each.forEach((row, i) => {
      assert.deepEqual(row.slice(0, 2), [String(i), phase.list[i].kind]);
      near(row[2], phase.list[i].device_ns / phase.steps / 1000, `layer ${i}`);
    });
  }
  await says(page, "5 layers by the order of the kernels");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("what speculative decoding costs is said of decode steps", async () => {
  const path = join(folder, "speculative");
  assert.equal((await run("simulate", "trace", "-o", path, "--steps", "40", "--layers", "4", "--model-size", "tiny", "--speculative", "3")).code, 0);
  const needed = (await analyze(path)).traces[0].speculation.break_even_tokens;
  await shownIn(browser, [path], async (page) => {
    await page.click("#tab-model");
    await page.selectOption(".filter label:has-text('steps') select", "decode");
    await says(page, `a step brings a request more than ${needed.toFixed(2)} tokens`);
    await page.selectOption(".filter label:has-text('steps') select", "prefill");
    await page.waitForSelector("h2:text('Blocks of a prefill step')");
    assert(!(await page.textContent(".page.model")).includes("peculative"));
  });
});

test("the flame graph begins at the phase and zooms into a layer", async () => {
  const troubles = [];
  const page = await open(browser, served, { troubles });
  await openModel(page);
  const { phases } = figures.traces[0].layers;
  const timeOf = (phase) => [...phase.list, ...phase.outside].reduce((sum, of) => sum + of.device_ns, 0);
  const largest = [...phases].sort((a, b) => timeOf(b) - timeOf(a))[0];
  await page.waitForSelector(`.flame-line .crumbs button:has-text('${largest.phase}')`);
  await settled(page);
  const box = await (await page.$(".flame-box canvas")).boundingBox();
  await page.mouse.move(box.x + 5, box.y + 19 * 1.5); // below all: the phase
  await page.waitForSelector(`.flame-line .mono:text-is('${largest.phase}')`);
  assert(Math.abs(nsOf(await page.textContent(".flame-line")) / timeOf(largest) - 1) < 0.006);
  await page.mouse.click(box.x + 5, box.y + 19 * 2.5);
  await page.waitForFunction(() => document.querySelectorAll(".flame-line .crumbs button").length === 3);
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("a layer of a step is found, says how it differs from the mean, and its row lies above the streams", async () => {
  const troubles = [];
  const page = await open(browser, served, { hash: "#/t?tab=timeline", troubles });
  const labels = await texts(page, ".row-label .label");
  assert(labels.indexOf("Layer") > 0 && labels.indexOf("Block") === labels.indexOf("Layer") + 1, labels.join());
  const { layers } = figures.traces[0];
  await page.keyboard.press("/");
  await page.keyboard.type("layer 3");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".slice-detail h3:text-is('layer 3')");
  const facts = await page.$$eval(".slice-detail dt", (found) => Object.fromEntries(found.map((one) => [one.textContent, one.nextElementSibling.textContent])));
  assert.equal(facts.layer, `3: ${layers.phases[0].list[3].kind}`);
  const phase = layers.phases.find((one) => facts.step.startsWith(one.phase));
  const mean = /mean of (\d+) \w+ steps: (.*), this one/.exec(facts["device time"]);
  assert.equal(number(mean[1]), phase.steps);
  assert(Math.abs(nsOf(mean[2]) / (phase.list[3].device_ns / phase.steps) - 1) < 0.006, facts["device time"]);
  await page.click("#tab-model"); // the keyboard is in the search box
  await page.click("table[aria-label='Layers of the model'] button:text-is('4')");
  await page.waitForSelector(".slice-detail h3:text-is('layer 4')");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("without layers the tab says why, and there is no row", async () => {
  const path = join(folder, "bare.json");
  writeFileSync(path, JSON.stringify({ traceEvents: [kernel(1, 5, "gemm"), kernel(10, 5, "gemm")] }));
  await shownIn(browser, [path], async (page) => {
    await page.click("#tab-model");
    await says(page, "No layers, because no step of the engine is named.");
    await page.click("#tab-timeline");
    await settled(page);
    assert(!(await texts(page, ".row-label .label")).includes("Layer"));
  });
});
