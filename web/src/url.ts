// What a link holds: the tab, the window, the selection, the slice and the search, by time and by name, never by number, so that it opens the
// same place for whoever has the same trace.
import type { Window } from "./types";

export const kTabs = ["summary", "timeline", "kernels", "operators", "flame", "ranks", "requests", "model"] as const;
export type Tab = (typeof kTabs)[number];
export const kTitles: Record<Tab, string> = { summary: "Summary", timeline: "Timeline", kernels: "Kernels", operators: "Operators", flame: "Flame", ranks: "Ranks", requests: "Requests", model: "Model" };

export interface SliceLink {
  rank: number;
  row: string; // keyOfRow
  lane: number;
  at: number; // ns
}
export interface Link {
  tab: Tab;
  window: Window | null;
  selection: Window | null;
  slice: SliceLink | null;
  search: string;
}

function windowText(window: Window): string {
  return `${Math.round(window.from)}..${Math.round(window.to)}`;
}
function windowFrom(text: string | null): Window | null {
  const match = /^(-?\d{1,16})\.\.(-?\d{1,16})$/.exec(text ?? "");
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from < to ? { from, to } : null;
}

export function hashOf(link: Link): string {
  const parts: string[] = [];
  if (link.window) parts.push(`w=${windowText(link.window)}`);
  if (link.selection) parts.push(`sel=${windowText(link.selection)}`);
  if (link.slice) parts.push(`slice=${link.slice.rank}:${link.slice.lane}:${Math.round(link.slice.at)}:${encodeURIComponent(link.slice.row)}`);
  if (link.search) parts.push(`q=${encodeURIComponent(link.search)}`);
  if (link.tab !== "summary") parts.push(`tab=${link.tab}`);
  return `#/t${parts.length ? `?${parts.join("&")}` : ""}`;
}

// What cannot be read is left out: a link that somebody cut still opens.
export function linkFrom(hash: string): Link {
  const fields = new Map<string, string>();
  for (const part of hash.replace(/^#\/?t?\??/, "").split("&")) {
    const equals = part.indexOf("=");
    if (equals > 0) fields.set(part.slice(0, equals), part.slice(equals + 1));
  }
  const text = (key: string) => {
    try {
      return decodeURIComponent(fields.get(key) ?? "");
    } catch {
      return "";
    }
  };
  const window = windowFrom(text("w"));
  const slice = /^(\d{1,6}):(\d{1,5}):(-?\d{1,16}):(.*)$/s.exec(text("slice"));
  const tab = text("tab");
  return {
    tab: kTabs.find((known) => known === tab) ?? (window ? "timeline" : "summary"),
    window,
    selection: windowFrom(text("sel")),
    slice: slice ? { rank: Number(slice[1]), lane: Number(slice[2]), at: Number(slice[3]), row: slice[4] ?? "" } : null,
    search: text("q"),
  };
}
