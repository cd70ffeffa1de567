// The colours of what is drawn: those of the categories are as far from each other as twelve can be, seen normally and with
// deuteranopia or protanopia (test/colors.test.ts measures it).
import type { PaletteName } from "./types";

export type Theme = "light" | "dark";
type Palettes = Record<PaletteName, string[]>;

const kIdleLight = [
  "#c2413a", "#e08a80", "#cdb9a8", "#9db2bf", "#8fa3b5", "#7d6f9c", "#a8763e", "#d4a017", "#b9c0c7", "#c9ced4", "#d8d4cd", "#a9aeb4",
];
const kIdleDark = [
  "#e0645c", "#a85a53", "#cdb9a8", "#9db2bf", "#6f8596", "#8e80b3", "#b98548", "#c99a22", "#4a5158", "#5b636b", "#68655f", "#7b8188",
];

const kPalettesAlone: Record<Theme, Omit<Palettes, "blocks">> = {
  light: {
    work: [
      "#00519b", "#6a64cb", "#6a9f84", "#f2b65a", "#b78aec", "#45d6eb",
      "#812a65", "#a07c04", "#727475", "#bf9b15", "#883d00", "#c4b7a8",
    ],
    phases: ["#6a64cb", "#00519b", "#6a9f84", "#c9ced4", "#9aa3ab"],
    idle: kIdleLight,
    exposure: ["#3f6f9f", "#f8dcae", "#f2b65a"],
    host: ["#b9c4cf", "#6f9a8d", "#7b91a8", "#dcc48b", "#c9908a", "#bf9b15", "#aeb6be"],
  },
  dark: {
    work: [
      "#4989b9", "#7277f5", "#60ac8f", "#e59544", "#b395e2", "#57d9e5",
      "#a43e88", "#b27c00", "#8d7c82", "#d1c825", "#a05a1e", "#c4beae",
    ],
    phases: ["#7277f5", "#4989b9", "#60ac8f", "#4a5158", "#6d757d"],
    idle: kIdleDark,
    exposure: ["#4989b9", "#7a5f3f", "#e59544"],
    host: ["#3a444e", "#3f6b60", "#34506c", "#86713f", "#8a4f4a", "#7d7722", "#4c555e"],
  },
};

// Blocks of a model have the colours of the categories that are like them.
const withBlocks = (of: Omit<Palettes, "blocks">): Palettes => ({ ...of, blocks: of.work });
export const kPalettes: Record<Theme, Palettes> = { light: withBlocks(kPalettesAlone.light), dark: withBlocks(kPalettesAlone.dark) };

// The causes' own order, where meta does not name them.
const kCauses = [
  "host-late", "in-launch-call", "launch-latency", "waiting", "queued", "in-graph", "host", "in-operator", "between-steps", "no-request",
  "unknown", "profiler",
];

export interface Rgb {
  r: number;
  g: number;
  b: number;
}
export function rgbOf(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return { r: value >> 16, g: (value >> 8) & 255, b: value & 255 };
}
// As the little-endian word of ImageData.
export function wordOf({ r, g, b }: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
// `share` of `over`, the rest of `under`.
export function mix(over: Rgb, under: Rgb, share: number): Rgb {
  const of = (a: number, b: number) => Math.round(a * share + b * (1 - share));
  return { r: of(over.r, under.r), g: of(over.g, under.g), b: of(over.b, under.b) };
}

// WCAG's relative luminance, 0..1.
function luminance({ r, g, b }: Rgb): number {
  const linear = (value: number) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
export function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}
// The ink that is read best on `ground`.
export function inkOn(ground: string): string {
  const under = rgbOf(ground);
  const dark = "#14171a";
  return contrast(rgbOf("#ffffff"), under) >= Math.min(4.5, contrast(rgbOf(dark), under)) ? "#ffffff" : dark;
}

export function colorOf(theme: Theme, palette: PaletteName, color: number): string {
  const of = kPalettes[theme][palette];
  return of[color] ?? of[of.length - 1] ?? "#888888";
}
export function causeColor(theme: Theme, cause: string, names?: { name: string; color: number }[]): string {
  const index = names?.find((named) => named.name === cause)?.color ?? kCauses.indexOf(cause);
  return colorOf(theme, "idle", index < 0 ? 10 : index);
}
export function blockColor(theme: Theme, block: string, colors: Record<string, number> | undefined): string {
  return colorOf(theme, "blocks", colors?.[block] ?? kPalettes[theme].blocks.length - 1);
}
// Of a request's time.
const kPartColors = new Map<string, [PaletteName, number]>([
  ["client", ["host", 0]], ["network", ["host", 2]], ["queue", ["idle", 7]], ["prefill", ["phases", 0]], ["wait-prefill", ["idle", 0]],
  ["decode", ["phases", 1]], ["comm", ["work", 3]], ["skew", ["work", 6]], ["host", ["idle", 1]], ["between-steps", ["idle", 8]],
  ["preempted", ["work", 10]], ["detokenise-and-send", ["host", 1]], ["unknown", ["idle", 10]],
]);
export function partColor(theme: Theme, part: string): string {
  const [palette, color] = kPartColors.get(part) ?? ["idle", 10];
  return colorOf(theme, palette, color);
}
