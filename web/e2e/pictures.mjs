// Takes the pictures of the documents from real traces, as anyone can again:
//   node e2e/pictures.mjs TACHO CORPUS FOLDER
// They look best where the fonts Inter and JetBrains Mono are installed (Debian: fonts-inter, fonts-jetbrains-mono).
import { join } from "node:path";
import { launch, open, settled, view } from "./server.mjs";

const [tacho, corpus, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node e2e/pictures.mjs TACHO CORPUS FOLDER");
  process.exit(2);
}
const kOneRank = "AMD-AGI+TraceLens/b200/eager_trace.json.gz";
const kRanks = "facebookresearch+param/dlrm_kineto.tar.gz";
const kCpu = "live-vllm-cpu/stack_full_rank0.pt.trace.json.gz";
const kStretch = "w=26000000..29200000&sel=26888000..27543000";

// [name, trace, address, options, what to do first]
const kPictures = [
  ["summary", kOneRank, "#/t", {}],
  ["timeline", kOneRank, "#/t?tab=timeline", {}],
  ["selection", kOneRank, `#/t?${kStretch}`, {}],
  ["slice-dark", kOneRank, `#/t?${kStretch}`, { dark: true }, async (page) => {
    const area = await (await page.$(".area")).boundingBox();
    await page.mouse.click(area.x + 250, area.y + 146);
    await page.waitForSelector(".slice-detail");
  }],
  ["flame", kOneRank, "#/t?tab=flame", {}],
  ["ranks-summary", kRanks, "#/t", {}],
  ["ranks-timeline", kRanks, "#/t?tab=timeline", {}],
  ["ranks-aligned-dark", kRanks, "#/t?tab=timeline", { dark: true }, (page) => page.click("text=same row of all ranks")],
  ["cpu-engine", kCpu, "#/t", {}],
];

const browser = await launch();
try {
  for (const trace of new Set(kPictures.map((picture) => picture[1]))) {
    const served = await view(tacho, join(corpus, trace));
    try {
      for (const [name, , hash, options, act] of kPictures.filter((picture) => picture[1] === trace)) {
        const page = await open(browser, served, { hash, ...options });
        await settled(page);
        await act?.(page);
        await settled(page);
        await page.mouse.move(2, 898);
        await page.waitForTimeout(150);
        await page.screenshot({ path: join(folder, `view-${name}.png`) });
        await page.context().close();
      }
    } finally {
      await served.stop();
    }
  }
} finally {
  await browser.close();
}
