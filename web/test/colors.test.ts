import { test } from "node:test";
import assert from "node:assert/strict";
import { contrast, inkOn, kPalettes, rgbOf, type Theme } from "../src/colors";
import { kInks } from "../src/timeline/scene";

type Three = [number, number, number];
const linear = (value: number) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const times = (matrix: number[], [a, b, c]: Three): Three =>
  [0, 3, 6].map((i) => (matrix[i] ?? 0) * a + (matrix[i + 1] ?? 0) * b + (matrix[i + 2] ?? 0) * c) as Three;
// Viénot, Brettel and Mollon 1999, in linear RGB.
const kSeen: Record<string, number[]> = {
  normally: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  "with protanopia": [0.1124, 0.8876, 0, 0.1124, 0.8876, 0, 0.004, -0.004, 1],
  "with deuteranopia": [0.2928, 0.7072, 0, 0.2928, 0.7072, 0, -0.0223, 0.0223, 1],
};
function oklab(hex: string, seen: number[]): Three {
  const { r, g, b } = rgbOf(hex);
  const rgb = times(seen, [linear(r), linear(g), linear(b)]).map((value) => Math.max(0, value)) as Three;
  const lms = times([0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376, 0.6299787005], rgb).map(Math.cbrt) as Three;
  return times([0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662, -0.808675766], lms);
}

test("any two categories are told apart, also by the colour-blind", () => {
  for (const theme of ["light", "dark"] as Theme[])
    for (const [how, matrix] of Object.entries(kSeen)) {
      const seen = kPalettes[theme].work.map((hex) => oklab(hex, matrix));
      seen.forEach((a, i) => seen.slice(0, i).forEach((b, j) => {
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        assert(distance > 0.075, `${theme} ${how}: ${i} and ${j} are ${distance.toFixed(3)} apart`);
      }));
    }
});

test("labels are read on every colour, texts on their ground", () => {
  for (const theme of ["light", "dark"] as Theme[]) {
    for (const [name, colors] of Object.entries(kPalettes[theme]))
      for (const hex of colors) assert(contrast(rgbOf(inkOn(hex)), rgbOf(hex)) >= 4.5, `${theme} ${name} ${hex}`);
    for (const ink of [kInks[theme].ink, kInks[theme].dim, kInks[theme].accent]) assert(contrast(rgbOf(ink), rgbOf(kInks[theme].ground)) >= 4.5, `${theme} ${ink}`);
  }
});
