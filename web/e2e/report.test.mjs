// The report in a browser: from the disk, without a network, with scripts and without; its console stays silent, it runs nothing of a
// hostile trace, and it prints.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { analyze, corpus, hasCorpus, kernel, kHostile, operator, own, run } from "./checks.mjs";
import { launch, listen } from "./server.mjs";

let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tacho-report-"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});
function write(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
// The page of the report; `asked` gets every address but its own that it asks for.
async function opened(report, { troubles, asked, scripts = true, dark = false }) {
  const context = await browser.newContext({ offline: true, javaScriptEnabled: scripts, colorScheme: dark ? "dark" : "light", viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  listen(page, troubles);
  const address = pathToFileURL(report).href;
  page.on("request", (request) => request.url() !== address && !request.url().startsWith("data:") && asked.push(request.url()));
  await page.goto(address);
  return page;
}
const hostile = () => JSON.stringify({
  deviceProperties: [{ id: 0, name: kHostile }],
  traceEvents: Array.from({ length: 40 }, (_, i) => [operator(100 * i, 20, kHostile), kernel(100 * i + 20, 60, i % 2 ? kHostile : `${kHostile}${"x".repeat(600)}`)]).flat(),
});
const kTraces = {
  ...(hasCorpus
    ? { "B200": () => [join(corpus, "AMD-AGI+TraceLens/b200/eager_trace.json.gz")], "eight ranks": () => [join(corpus, "facebookresearch+param/dlrm_kineto.tar.gz")] }
    : { "two ranks": () => [`${own}/vllm-cpu/tp2`] }),
  "a CPU engine": () => [`${own}/vllm-cpu/mixed_rank0.pt.trace.json.gz`],
  "a damaged trace": () => [write("cut.json", gunzipSync(readFileSync(`${own}/vllm-cpu/mixed_rank0.pt.trace.json.gz`)).subarray(0, 400_000))],
  "a hostile trace": () => [write("hostile.json", hostile())],
};
for (const [name, traces] of Object.entries(kTraces)) {
  test(name, async () => {
    const paths = traces();
    const report = join(folder, `${name}.html`);
    const done = await run("report", ...paths, "-o", report);
    assert([0, 4].includes(done.code), done.err);
    const figures = await analyze(...paths);
    const [troubles, asked] = [[], []];
    for (const options of [{}, { scripts: false, dark: name === "a CPU engine" }]) {
      const page = await opened(report, { troubles, asked, ...options });
      assert.equal((await page.textContent("h1")).toLowerCase(), figures.verdict.text.toLowerCase());
      assert.equal(await page.locator(".answers > div").count(), 15);
      // Without scripts all rows of all tables can be read; with them the long ones open.
      const rows = await page.locator("tbody tr").count();
      assert(rows > 3, `${rows} rows`);
      if (options.scripts !== false) {
        const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
        const pages = (pdf.match(/\/Type\s*\/Page\b/g) ?? []).length;
        assert(pdf.startsWith("%PDF") && pages > 0 && pages <= 8, `${pages} pages`);
        await page.$$eval(".tools button", (all) => all.forEach((more) => more.click()));
      }
      assert.equal(await page.locator("tbody tr[hidden]").count(), 0);
      assert(options.scripts === false || await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no wider than the window");
      assert.equal(options.scripts === false ? undefined : await page.evaluate(() => window.hurt), undefined);
      assert.equal(await page.locator("img, iframe, object, embed, link[href], main script").count(), 0);
      await page.context().close();
    }
    assert.deepEqual(troubles, []);
    assert.deepEqual(asked, []);
  });
}
