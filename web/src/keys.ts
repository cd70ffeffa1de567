// The keyboard, as those who come from Perfetto have it in their fingers, and steps and gaps.
import {
  addMark, around, commandsOpen, goTo, helpOpen, panelOpen, pick, ranks, search, searchWanted, selection, setView, slice, span, tab, toggle, togglePin, view,
} from "./state";
import { ServerError } from "./api";
import { gap, slowestStep, step } from "./jumps";
import { canFollow, follow } from "./requests";
import type { Window } from "./types";
import { controller } from "./timeline/timeline";
import { keyOfRow } from "./timeline/layout";
import { reveal } from "./timeline/reveal";
import { nextFound } from "./timeline/tools";
import { kTabs, kTitles } from "./url";

const kHeld: Record<string, string> = {
  w: "in", s: "out", a: "left", d: "right", "+": "in", "=": "in", "-": "out",
  arrowleft: "left", arrowright: "right", arrowup: "up", arrowdown: "down",
};

// What a key does. The help, the list of commands and the keyboard read the same table.
export interface Command {
  key: string; // as the help shows it: "N", "Shift N", "["
  name: string;
  run: () => void;
  everywhere?: true; // else of the timeline
  when?: () => boolean; // where it can do something; always if absent
}
export interface KeyRow {
  keys?: string; // else those of the commands
  what: string;
  commands?: Command[];
}
const picked = () => slice.value !== null;
const chosen = () => slice.value !== null || selection.value !== null;
const searching = () => search.value.trim() !== "";
export const kHelp: { title: string; rows: KeyRow[] }[] = [
  {
    title: "Move",
    rows: [
      { what: "zoom in and out, at the pointer", commands: [{ key: "W", name: "zoom in", run: () => nudge("in") }, { key: "S", name: "zoom out", run: () => nudge("out") }] },
      { what: "pan; also the arrows", commands: [{ key: "A", name: "pan left", run: () => nudge("left") }, { key: "D", name: "pan right", run: () => nudge("right") }] },
      { keys: "Ctrl wheel", what: "zoom; wheel scrolls the rows, Shift wheel pans" },
      { keys: "Shift drag", what: "pan" },
      { what: "the whole trace", commands: [{ key: "0", name: "show the whole trace", run: () => setView(span.value) }] },
      { what: "fit what is selected", commands: [{ key: "F", name: "fit what is selected", run: fit, when: chosen }] },
      {
        what: "next and previous step",
        commands: [{ key: "N", name: "next step", run: () => step(true), everywhere: true }, { key: "Shift N", name: "previous step", run: () => step(false), everywhere: true }],
      },
      {
        what: "the slowest step, from start to start; that of the next phase",
        commands: [{ key: "L", name: "slowest step, then that of the next phase", run: () => slowestStep(1), everywhere: true }, { key: "Shift L", name: "slowest step of the phase before", run: () => slowestStep(-1), everywhere: true }],
      },
      {
        what: "the longest idle gap inside what is selected, else of the run; the next longest, ...",
        commands: [{ key: "G", name: "next idle gap, longest first", run: () => void gap(1), everywhere: true }, { key: "Shift G", name: "previous idle gap, longest first", run: () => void gap(-1), everywhere: true }],
      },
    ],
  },
  {
    title: "Select",
    rows: [
      { keys: "drag", what: "a stretch of time: its figures are below" },
      { keys: "click", what: "a slice" },
      {
        what: "previous and next slice of the row",
        commands: [{ key: ",", name: "previous slice of the row", run: () => void neighbour(false) }, { key: ".", name: "next slice of the row", run: () => void neighbour(true) }],
      },
      {
        what: "to the launch, to the kernel",
        commands: [
          { key: "[", name: "go to the launch", run: () => void flow(false), when: () => slice.value?.launch !== undefined },
          { key: "]", name: "go to the kernel that it launched", run: () => void flow(true), when: () => (slice.value?.launched?.length ?? 0) > 0 },
        ],
      },
      {
        what: "from a step to the requests in it; from a token to the step that made it",
        commands: [{ key: "T", name: "from a step to its requests, from a token to its step", run: () => void follow(), everywhere: true, when: canFollow }],
      },
      { what: "the time of the slice", commands: [{ key: "R", name: "select the time of the slice", run: selectSlice, when: picked }] },
      { what: "all", commands: [{ key: "Ctrl A", name: "select all", run: () => (selection.value = span.value) }] },
      { what: "nothing", commands: [{ key: "Esc", name: "select nothing", run: clear, everywhere: true, when: () => chosen() || searching() }] },
      {
        what: "mark the selection with a note; Shift M without",
        keys: "M",
        commands: [{ key: "M", name: "mark the selection, with a note", run: () => mark(true), when: chosen }, { key: "Shift M", name: "mark the selection", run: () => mark(false), when: chosen }],
      },
    ],
  },
  {
    title: "Find and show",
    rows: [
      { what: "search the whole trace", commands: [{ key: "/", name: "search the whole trace", run: focusSearch, everywhere: true }] },
      {
        what: "next that was found; Shift Enter previous",
        keys: "Enter",
        commands: [{ key: "Enter", name: "next that was found", run: () => void nextFound(true), when: searching }, { key: "Shift Enter", name: "previous that was found", run: () => void nextFound(false), when: searching }],
      },
      { what: "all levels of the slice's row, or fewer", commands: [{ key: "E", name: "all levels of the slice's row, or fewer", run: toggleLevels, when: picked }] },
      { what: "the slice's row above all others, or back", commands: [{ key: "P", name: "the slice's row above all others, or back", run: pinRow, when: picked }] },
      { what: "the figures below, or more room", commands: [{ key: "Q", name: "show or hide the figures below", run: () => (panelOpen.value = !panelOpen.value) }] },
      {
        keys: `1 ... ${kTabs.length}`,
        what: kTabs.map((name) => kTitles[name]).join(", "),
        commands: kTabs.map((name, i) => ({ key: String(i + 1), name: `open ${kTitles[name]}`, run: () => goTo(name), everywhere: true })),
      },
      { what: "commands by name", commands: [{ key: ">", name: "commands", run: () => (commandsOpen.value = true), everywhere: true }] },
      { what: "these keys", commands: [{ key: "?", name: "show all keys", run: () => (helpOpen.value = !helpOpen.value), everywhere: true }] },
    ],
  },
];
export const kCommands: Command[] = kHelp.flatMap((group) => group.rows.flatMap((row) => row.commands ?? []));

// From the list of commands: those of the timeline once it is on the screen.
export function runCommand(command: Command): void {
  if (command.everywhere || tab.value === "timeline") return command.run();
  goTo("timeline");
  setTimeout(command.run, 0);
}

const kNudgeMs = 250;
function nudge(held: string): void {
  controller?.hold(held);
  setTimeout(() => controller?.release(held), kNudgeMs);
}
function clear(): void {
  if (slice.value) slice.value = null;
  else if (selection.value) selection.value = null;
  else search.value = "";
}
function selectSlice(): void {
  const of = slice.value;
  if (of) selection.value = { from: of.from_ns, to: Math.max(of.to_ns, of.from_ns + 1) };
}
function mark(withNote: boolean): void {
  if (!selection.value) selectSlice();
  if (!selection.value) return;
  if (withNote) dispatchEvent(new Event("tacho-mark"));
  else addMark({ from_ns: selection.value.from, to_ns: selection.value.to, note: "" });
}
// At once, or as soon as the tab has the box: what is typed next belongs into it.
function focusSearch(): void {
  goTo("timeline");
  const box = document.getElementById("search");
  if (box) box.focus();
  else searchWanted.value = true;
}
function pinRow(): void {
  const of = slice.value;
  const row = of && ranks.value[of.rank]?.rows[of.row];
  if (of && row) togglePin(`${of.rank}/${keyOfRow(row)}`);
}
function toggleLevels(): void {
  const of = slice.value;
  const row = of && controller?.layout.rows.find((laid) => laid.rank === of.rank && laid.row === of.row);
  if (row?.open !== undefined) toggle(row.key);
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
    const ctrl = event.ctrlKey && !altGr;
    if (ctrl && (event.key.toLowerCase() !== "a" || tab.value !== "timeline")) return;
    if (!act(event, ctrl)) return;
    event.preventDefault();
    controller?.hideHover(); // what lies below the pointer is another slice now
  });
}

// As the table names it: Shift only of letters and Enter, as other keys give another sign with it.
function nameOf(event: KeyboardEvent, ctrl: boolean): string {
  const key = event.key === "Escape" ? "Esc" : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  return `${ctrl ? "Ctrl " : ""}${event.shiftKey && /^([A-Z]|Enter)$/.test(key) ? "Shift " : ""}${key}`;
}
function act(event: KeyboardEvent, ctrl: boolean): boolean {
  const at = event.target instanceof HTMLElement ? event.target : null;
  const held = ctrl ? undefined : kHeld[event.key.toLowerCase()];
  // The arrows belong to what has the focus, where that scrolls.
  if (held && tab.value === "timeline" && !(event.key.startsWith("Arrow") && at?.closest(".panel"))) return controller?.hold(held), true;
  if (event.key === "Enter" && at?.closest("button")) return false;
  const name = nameOf(event, ctrl);
  const command = kCommands.find((one) => one.key === name && (one.everywhere || tab.value === "timeline"));
  command?.run();
  return command !== undefined;
}
