// What a trace is called on the page.
import type { Rank } from "./types";

const fileOf = (path: string) => path.split("/").pop() ?? path;

// Traces with the same label have their file's name with it: two jobs, or a merged file beside its ranks.
export function labelled(ranks: Rank[]): Rank[] {
  const times = new Map<string, number>();
  for (const { label } of ranks) times.set(label, (times.get(label) ?? 0) + 1);
  return ranks.map((rank) => ((times.get(rank.label) ?? 0) > 1 && rank.label !== fileOf(rank.path) ? { ...rank, label: `${rank.label} · ${fileOf(rank.path)}` } : rank));
}

// The time between the first and last work of a device in which nothing that was recorded ran, where work is missing.
export const kIdleOrUnrecorded = "idle or unrecorded work";

// Why it could not be read; the path stands beside it.
export function whyOf(rank: Rank): string {
  const why = rank.why ?? "unknown";
  return why.startsWith(`${rank.path}: `) ? why.slice(rank.path.length + 2) : why;
}
