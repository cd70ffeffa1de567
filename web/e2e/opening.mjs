// How long `tacho view` takes until its page shows traces, from the start of the program; the browser runs already.
//   node e2e/opening.mjs TACHO TRACE...     prints {"traces", "address_ms", "first_rank_ms", "all_ranks_ms", "summary_ms"}
import { launch, view } from "./server.mjs";

const [tacho, ...paths] = process.argv.slice(2);
if (!paths.length) {
  console.error("usage: node e2e/opening.mjs TACHO TRACE...");
  process.exit(2);
}
const browser = await launch();
const page = await (await browser.newContext({ viewport: { width: 1600, height: 900 } })).newPage();
await page.goto("about:blank");
const start = performance.now();
const served = await view(tacho, ...paths);
const result = { address_ms: performance.now() - start };
try {
  await page.goto(`${served.url}#/t?tab=timeline`);
  const since = async (key, holds) => {
    while (!(await page.evaluate(holds))) await page.waitForTimeout(50);
    result[key] = performance.now() - start;
  };
  // A rank's rows have labels below its heading once it is read.
  await since("first_rank_ms", () => document.querySelector(".row-label:not(.heading)") !== null);
  await since("all_ranks_ms", async () => {
    const { read } = await (await fetch("api/v1/meta")).json();
    return read.traces > 0 && read.read + read.failed === read.traces;
  });
  await since("summary_ms", async () => (await fetch("api/v1/summary")).ok);
  result.traces = await page.evaluate(async () => (await (await fetch("api/v1/meta")).json()).read.traces);
  console.log(JSON.stringify(Object.fromEntries(Object.entries(result).map(([key, value]) => [key, Math.round(value)]))));
} finally {
  await browser.close();
  await served.stop();
}
