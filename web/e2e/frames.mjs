// How long the page's frames take: a scripted pan and zoom at 1600x900 in headless Chromium, measured between frames by performance.now().
//   node e2e/frames.mjs TACHO TRACE...     prints {"frames", "p50_ms", "p95_ms", "max_ms", "over_16_7_ms", "draw_p95_ms"}
import { launch, open, settled, view } from "./server.mjs";

const kFrames = 600;
const [tacho, ...paths] = process.argv.slice(2);
if (!paths.length) {
  console.error("usage: node e2e/frames.mjs TACHO TRACE...");
  process.exit(2);
}
const served = await view(tacho, ...paths);
const browser = await launch();
try {
  const page = await open(browser, served, { hash: "#/t?tab=timeline", width: 1600, height: 900 });
  await settled(page);
  const result = await page.evaluate(async (frames) => {
    const area = document.querySelector(".area");
    const { left, top, width } = area.getBoundingClientRect();
    const wheel = (init) => area.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, clientX: left + width * 0.4, clientY: top + 100, ...init }));
    const between = [];
    let last = 0;
    for (let i = 0; i < frames; ++i) {
      // In, right, out, left, down and up again.
      const part = Math.floor((i * 6) / frames);
      if (part === 0) wheel({ ctrlKey: true, deltaY: -20 });
      else if (part === 1) wheel({ shiftKey: true, deltaY: 24 });
      else if (part === 2) wheel({ ctrlKey: true, deltaY: 12 });
      else if (part === 3) wheel({ shiftKey: true, deltaY: -24 });
      else wheel({ deltaY: part === 4 ? 9 : -9 });
      const now = await new Promise((done) => requestAnimationFrame(() => done(performance.now())));
      if (last) between.push(now - last);
      last = now;
    }
    const at = (values, share) => values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
    return {
      frames: between.length, p50_ms: at(between, 0.5), p95_ms: at(between, 0.95), max_ms: at(between, 1),
      over_16_7_ms: between.filter((ms) => ms > 17.2).length,
    };
  }, kFrames);
  // What drawing alone takes, where frames wait for the display.
  result.draw_p95_ms = await page.evaluate(async () => {
    const taken = [];
    const plain = window.requestAnimationFrame;
    window.requestAnimationFrame = (act) => plain((now) => {
      const start = performance.now();
      act(now);
      taken.push(performance.now() - start);
    });
    const area = document.querySelector(".area");
    for (let i = 0; i < 200; ++i) {
      area.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, ctrlKey: true, clientX: 700, clientY: 300, deltaY: i < 100 ? -15 : 15 }));
      await new Promise((done) => plain(done));
    }
    return taken.sort((a, b) => a - b)[Math.floor(taken.length * 0.95)];
  });
  console.log(JSON.stringify(Object.fromEntries(Object.entries(result).map(([key, value]) => [key, Math.round(value * 100) / 100]))));
} finally {
  await browser.close();
  await served.stop();
}
