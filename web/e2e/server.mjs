// Starts `tacho view` and a browser for the checks of the page.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const kStartMs = 60_000;
const kBrowsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

// Resolves to { url: with its key, base, stop() } once the server says where it is.
export function view(tacho, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(tacho, ["view", "--no-open", "--port", "0", ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const late = setTimeout(() => reject(new Error(`tacho view said no address: ${said}`)), kStartMs);
    const hear = (text) => {
      said += text;
      const url = /http:\/\/\S+token=\S+/.exec(said)?.[0];
      if (!url) return;
      clearTimeout(late);
      resolve({ url, base: url.replace(/\?.*/, ""), stop: () => new Promise((done) => (child.exitCode !== null ? done() : (child.once("exit", done), child.kill("SIGTERM")))) });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", (code) => reject(new Error(`tacho view ended with ${code}: ${said}`)));
  });
}

export function browserPath() {
  return process.env.TACHO_BROWSER ?? kBrowsers.find((path) => existsSync(path));
}
export function launch() {
  return chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox", "--disable-gpu"] }); // no GPU here: else it is emulated, which costs more than to draw without
}

// `troubles` gets what the page's console complains of; not of the icon alone, which Chromium may still fetch when the page is left.
export function listen(page, troubles) {
  page.on("console", (message) => {
    const text = `${message.text()} ${message.location().url}`;
    if (["error", "warning"].includes(message.type()) && !text.includes("/favicon.svg")) troubles.push(text);
  });
  page.on("pageerror", (error) => troubles.push(error.stack));
}
// A page that is signed in and has its figures.
export async function open(browser, served, { hash = "", width = 1440, height = 900, dark = false, troubles = [] } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  listen(page, troubles);
  await page.goto(served.url + hash); // it is sent on to the page without the key, and keeps the hash
  await page.waitForSelector(".trust .words, h1:text('No trace could be read')", { timeout: kStartMs });
  return page;
}
// Opens a link in the page that is open. Not by page.goto(): that returns at the page's next change of its own address, which may be
// another than this one.
export async function follow(page, hash) {
  await page.evaluate((to) => (location.hash = to), hash);
}
// Until two pictures of the timeline, a moment apart, are the same.
export async function settled(page) {
  let before = "";
  for (let i = 0; i < 60; ++i) {
    await page.waitForTimeout(80);
    const now = await page.evaluate(() => {
      const small = new OffscreenCanvas(160, 90).getContext("2d", { willReadFrequently: true });
      for (const canvas of document.querySelectorAll("canvas")) small.drawImage(canvas, 0, 0, 160, 90);
      return small.getImageData(0, 0, 160, 90).data.join() + document.querySelector(".panel")?.textContent;
    });
    if (now === before) return;
    before = now;
  }
}
