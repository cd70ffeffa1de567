// The keyboard, as those who come from Perfetto have it in their fingers, and steps and gaps.
import {
  addMark, around, goTo, helpOpen, meta, panelOpen, pick, ranks, search, selection, setView, showInTimeline, slice, span, tab, toggle, togglePin,
  trouble, view,
} from "./state";
import { ServerError } from "./api";
import type { Gap, Window } from "./types";
import { controller } from "./timeline/timeline";
import { keyOfRow } from "./timeline/layout";
import { reveal } from "./timeline/reveal";
import { nextFound } from "./timeline/tools";
import { kTabs } from "./url";

const kHeld: Record<string, string> = {
  w: "in", s: "out", a: "left", d: "right", "+": "in", "=": "in", "-": "out",
  arrowleft: "left", arrowright: "right", arrowup: "up", arrowdown: "down",
};

export interface KeyRow {
  keys: string;
  what: string;
}
export const kHelp: { title: string; rows: KeyRow[] }[] = [
  {
    title: "Move",
    rows: [
      { keys: "W  S", what: "zoom in and out, at the pointer" },
      { keys: "A  D", what: "pan; also the arrows" },
      { keys: "Ctrl wheel", what: "zoom; wheel scrolls the rows, Shift wheel pans" },
      { keys: "Shift drag", what: "pan" },
      { keys: "0", what: "the whole trace" },
      { keys: "F", what: "fit what is selected" },
      { keys: "N  Shift N", what: "next and previous step" },
      { keys: "G  Shift G", what: "the longest idle gap, the next longest, ..." },
    ],
  },
  {
    title: "Select",
    rows: [
      { keys: "drag", what: "a stretch of time: its figures are below" },
      { keys: "click", what: "a slice" },
      { keys: ",  .", what: "previous and next slice of the row" },
      { keys: "[  ]", what: "to the launch, to the kernel" },
      { keys: "R", what: "the time of the slice" },
      { keys: "Ctrl A", what: "all" },
      { keys: "Esc", what: "nothing" },
      { keys: "M", what: "mark the selection with a note; Shift M without" },
    ],
  },
  {
    title: "Find and show",
    rows: [
      { keys: "/", what: "search the whole trace" },
      { keys: "Enter", what: "next that was found; Shift Enter previous" },
      { keys: "E", what: "all levels of the slice's row, or fewer" },
      { keys: "P", what: "the slice's row above all others, or back" },
      { keys: "Q", what: "the figures below, or more room" },
      { keys: "1 ... 6", what: "Summary, Timeline, Kernels, Operators, Flame, Ranks" },
      { keys: "?", what: "these keys" },
    ],
  },
];

let gapAt = -1;

function step(forward: boolean): void {
  const steps = meta.value?.steps ?? [];
  const rank = slice.value?.rank ?? steps[0]?.rank ?? 0;
  const of = steps.filter((one) => one.rank === rank);
  const now = selection.value;
  const middle = now ? now.from : forward ? view.value.from - 1 : view.value.to;
  const next = forward ? of.find((one) => one.from_ns > middle) : [...of].reverse().find((one) => one.from_ns < middle);
  if (next) showInTimeline({ from: next.from_ns, to: next.to_ns });
  else if (of.length === 0) trouble.value = "This trace has no steps: no annotation names them.";
}
function gap(by: number): void {
  const gaps = meta.value?.gaps ?? [];
  if (gaps.length === 0) {
    trouble.value = "This trace has no idle gaps.";
    return;
  }
  // From the gap that is selected, also by a link; else from the last that was shown.
  const selected = (one: Gap | undefined) => one && selection.value?.from === one.from_ns && selection.value.to === one.to_ns;
  if (!selected(gaps[gapAt])) {
    const found = gaps.findIndex(selected);
    if (found >= 0) gapAt = found;
  }
  gapAt = gapAt < 0 && by < 0 ? gaps.length - 1 : (gapAt + by + gaps.length) % gaps.length;
  const next = gaps[gapAt];
  if (next) showInTimeline({ from: next.from_ns, to: next.to_ns }, 0.6);
}
async function neighbour(forward: boolean): Promise<void> {
  const of = slice.value;
  if (!of) {
    // The first of what is in view, so that the keyboard alone gets into the canvas.
    const row = controller?.layout.rows.find((laid) => laid.kind === "row" && (ranks.value[laid.rank]?.rows[laid.row]?.slices ?? 0) > 0);
    if (row) await pick({ rank: row.rank, row: row.row, from_ns: Math.round((view.value.from + view.value.to) / 2) });
    return;
  }
  try {
    const next = of.place + (forward ? 1 : -1);
    if (next < 0) return;
    const found = await pick({ ...of, place: next });
    if (found) reveal(found);
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
  }
}
async function flow(forward: boolean): Promise<void> {
  const to = forward ? slice.value?.launched?.[0]?.at : slice.value?.launch?.at;
  const found = to && (await pick(to));
  if (found) reveal(found);
}
function fit(): void {
  const of: Window | null = slice.value ? { from: slice.value.from_ns, to: slice.value.to_ns } : selection.value;
  if (!of) return;
  const close = around(of);
  const already = Math.abs(view.value.from - close.from) < (close.to - close.from) / 100 && Math.abs(view.value.to - close.to) < (close.to - close.from) / 100;
  setView(already ? of : close);
}

function typing(event: KeyboardEvent): boolean {
  const at = event.target;
  return at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement;
}

export function listenToKeys(): void {
  addEventListener("keyup", (event) => {
    const held = kHeld[event.key.toLowerCase()];
    if (held) controller?.release(held);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && helpOpen.value) {
      helpOpen.value = false;
      return;
    }
    // AltGr, which some keyboards need for [ and ], may report itself as Alt, and as Ctrl with Alt.
    const altGr = event.getModifierState("AltGraph");
    if (typing(event) || (event.altKey && !altGr) || event.metaKey) return;
    if (event.ctrlKey && !altGr) {
      if (event.key.toLowerCase() === "a" && tab.value === "timeline") {
        event.preventDefault();
        selection.value = span.value;
      }
      return;
    }
    if (!act(event)) return;
    event.preventDefault();
    controller?.hideHover(); // what lies below the pointer is another slice now
  });
}

function act(event: KeyboardEvent): boolean {
  const key = event.key.toLowerCase();
  const shift = event.shiftKey;
  const digit = Number(key);
  const goal = Number.isInteger(digit) && digit >= 1 ? kTabs[digit - 1] : undefined;
  if (goal) return goTo(goal), true;
  if (key === "?") return (helpOpen.value = !helpOpen.value), true;
  if (key === "/") {
    goTo("timeline");
    setTimeout(() => document.getElementById("search")?.focus(), 0);
    return true;
  }
  if (key === "n") return step(!shift), true;
  if (key === "g") return gap(shift ? -1 : 1), true;
  if (key === "escape") {
    if (slice.value) slice.value = null;
    else if (selection.value) selection.value = null;
    else search.value = "";
    return true;
  }
  return tab.value === "timeline" && actInTimeline(event, key, shift);
}
function actInTimeline(event: KeyboardEvent, key: string, shift: boolean): boolean {
  // The arrows belong to what has the focus, where that scrolls.
  const inTable = event.target instanceof HTMLElement && event.target.closest(".panel") !== null;
  const held = kHeld[key];
  if (held && !(inTable && key.startsWith("arrow"))) return controller?.hold(held), true;
  const of = slice.value;
  switch (key) {
    case "0":
      return setView(span.value), true;
    case "f":
      return fit(), true;
    case "r":
      if (of) selection.value = { from: of.from_ns, to: Math.max(of.to_ns, of.from_ns + 1) };
      return true;
    case "m":
      if (of && !selection.value) selection.value = { from: of.from_ns, to: Math.max(of.to_ns, of.from_ns + 1) };
      if (!selection.value) return true;
      if (shift) addMark({ from_ns: selection.value.from, to_ns: selection.value.to, note: "" });
      else dispatchEvent(new Event("tacho-mark"));
      return true;
    case ",":
    case ".":
      return void neighbour(key === "."), true;
    case "[":
    case "]":
      return void flow(key === "]"), true;
    case "q":
      return (panelOpen.value = !panelOpen.value), true;
    case "p": {
      const row = of && ranks.value[of.rank]?.rows[of.row];
      if (of && row) togglePin(`${of.rank}/${keyOfRow(row)}`);
      return true;
    }
    case "e": {
      const row = of && controller?.layout.rows.find((laid) => laid.rank === of.rank && laid.row === of.row);
      if (row?.open !== undefined) toggle(row.key);
      return true;
    }
    case "enter":
      if (event.target instanceof HTMLElement && event.target.closest("button")) return false;
      return void nextFound(!shift), true;
    default:
      return false;
  }
}
