// A page of some traces that a check looks at.
import assert from "node:assert/strict";
import { kTabs, tacho } from "./checks.mjs";
import { open, view } from "./server.mjs";

// Opens a page of these traces, walks its tabs and lets `act` look; nothing is wider than the window and the console is silent.
export async function shownIn(browser, paths, act, options = {}) {
  const served = await view(tacho, ...paths);
  const troubles = [];
  try {
    const page = await open(browser, served, { troubles, ...options });
    for (const tab of kTabs) {
      await page.click(`#tab-${tab}`);
      await page.waitForTimeout(40);
      assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight), `${tab} fits`);
    }
    await page.click("#tab-summary");
    await act(page, served);
    assert.deepEqual(troubles, []);
    await page.context().close();
  } finally {
    await served.stop();
  }
}
export async function says(page, words) {
  await page.waitForFunction((text) => document.body.textContent.includes(text), words, { timeout: 10_000 }).catch(() => {});
  const said = await page.textContent("body");
  assert(said.includes(words), `"${words}" in ${said.slice(0, 2000)}`);
}
