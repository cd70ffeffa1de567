// What the page knows and shows. Signals: who reads one is drawn again when it changes.
import { batch, computed, effect, signal } from "@preact/signals";
import { getJson, getTagged, putJson, ServerError } from "./api";
import type { Analysis, Mark, Meta, Rank, Slice, Summary, Window } from "./types";
import type { Theme } from "./colors";
import type { Order } from "./timeline/layout";
import { keyOfRow } from "./timeline/layout";
import { rowKindOf, selectedIn, type GapsInside } from "./selected";
import { hashOf, linkFrom, type SliceLink, type Tab } from "./url";

export const meta = signal<Meta | null>(null);
export const summary = signal<Summary | null>(null);
export const analysis = signal<Analysis | null>(null);
export const trouble = signal<string>(""); // what the user must know: the server is gone, a file changed

export const tab = signal<Tab>("summary");
export const view = signal<Window>({ from: 0, to: 1 }); // what the timeline shows
export const selection = signal<Window | null>(null);
export const slice = signal<Slice | null>(null);
export const search = signal("");
export const searchWanted = signal(false); // the box is to have the focus
export const marks = signal<Mark[]>([]);
export const toggled = signal<ReadonlySet<string>>(new Set());
export const pinned = signal<ReadonlySet<string>>(new Set()); // rows that lie above all others
export const order = signal<Order>("ranks");
export const helpOpen = signal(false);
export const commandsOpen = signal(false);
export const panelOpen = signal(true);
export const said = signal(""); // read aloud by screen readers

const kThemeKey = "tacho-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const chosenTheme = signal<Theme | null>(storedTheme());
const systemTheme = signal<Theme>(prefersDark.matches ? "dark" : "light");
prefersDark.addEventListener("change", () => (systemTheme.value = prefersDark.matches ? "dark" : "light"));
export const theme = computed<Theme>(() => chosenTheme.value ?? systemTheme.value);
effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
function storedTheme(): Theme | null {
  try {
    const stored = localStorage.getItem(kThemeKey);
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    return null; // a browser that keeps nothing
  }
}
export function toggleTheme(): void {
  chosenTheme.value = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(kThemeKey, chosenTheme.value);
  } catch {
    // Then it holds until the page is closed.
  }
}

export const span = computed<Window>(() => {
  const of = meta.value?.span;
  return of && of.to_ns > of.from_ns ? { from: of.from_ns, to: of.to_ns } : { from: 0, to: 1 };
});
export const ranks = computed<Rank[]>(() => meta.value?.ranks ?? []);
// What the tabs show figures of: the selection, or the whole run.
export const scope = computed<Window>(() => selection.value ?? span.value);

// A row that is to be brought into sight, once it is there: the timeline does it. Without `row`: the rank.
export const rowWanted = signal<{ rank: number; row?: number } | null>(null);
export const gapsInside = signal<GapsInside | null>(null);
const jumpedTo = signal<{ window: Window; rank: number } | null>(null);
// What is selected, where it is a gap or a step.
export const selected = computed(() => {
  const window = selection.value;
  if (!window || !meta.value) return null;
  return selectedIn(window, meta.value, gapsInside.value, jumpedTo.value?.window === window ? jumpedTo.value.rank : null);
});
function wantRowOfSelection(rank: number | undefined): void {
  const of = selected.value;
  const ofRank = of?.rank ?? rank;
  if (ofRank === undefined) return;
  const row = of ? (ranks.value[ofRank]?.rows.findIndex((one) => one.kind === rowKindOf(of.kind) && (of.device ?? one.owner) === one.owner) ?? -1) : -1;
  rowWanted.value = row < 0 ? { rank: ofRank } : { rank: ofRank, row };
}

// The window stays near the run and between 20 ns and one and a half times its length.
export function clampWindow(window: Window, whole: Window): Window {
  const length = whole.to - whole.from;
  const width = Math.min(Math.max(window.to - window.from, 20), length * 1.5);
  const middle = Math.min(Math.max((window.from + window.to) / 2, whole.from), whole.to);
  return { from: middle - width / 2, to: middle + width / 2 };
}
export function setView(window: Window): void {
  view.value = clampWindow(window, span.value);
}
// A window that shows `window` with room on both sides.
export function around(window: Window, share = 0.15): Window {
  const margin = Math.max((window.to - window.from) * share, 10);
  return { from: window.from - margin, to: window.to + margin };
}

// Opens the timeline at a stretch of time and selects it. `rank`: whose it is; its rows come into sight.
export function showInTimeline(window: Window, room = 0.15, { rank }: { rank?: number } = {}): void {
  batch(() => {
    jumpedTo.value = rank === undefined ? null : { window, rank };
    selection.value = window;
    slice.value = null;
    setView(around(window, room));
    goTo("timeline");
    wantRowOfSelection(rank);
    said.value = selectedText();
  });
}
// "gap 3 of the run: host-late, rank 1".
export function selectedText(): string {
  const of = selected.value;
  if (!of) return "";
  const device = of.device && new Set(ranks.value[of.rank]?.rows.filter((row) => row.kind === "idle").map((row) => row.owner)).size > 1 ? `, device ${of.device}` : "";
  return `${of.text}${of.cause ? `: ${of.cause}` : ""}${ranks.value.length > 1 ? `, ${ranks.value[of.rank]?.label ?? of.rank}` : ""}${device}`;
}
export function goTo(next: Tab): void {
  if (tab.value === next) return;
  pushNext = true; // before the tab, whose change writes the address
  tab.value = next;
}
function toggledIn(keys: ReadonlySet<string>, key: string): Set<string> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}
export function toggle(key: string): void {
  toggled.value = toggledIn(toggled.value, key);
}
export function togglePin(key: string): void {
  pinned.value = toggledIn(pinned.value, key);
}

// Changes the marks that are kept now, which another page may have changed since they came here. One change after another.
const kMarksTries = 5;
let savingMarks = Promise.resolve();
function saveMarks(change: (kept: readonly Mark[]) => Mark[]): void {
  savingMarks = savingMarks.then(async () => {
    try {
      for (let left = kMarksTries; left > 0; --left) {
        const { of, tag } = await getTagged<{ marks?: Mark[] }>("api/v1/marks");
        const next = change(of.marks ?? []);
        try {
          await putJson("api/v1/marks", { marks: next }, tag);
          marks.value = next;
          return;
        } catch (error) {
          if (!(error instanceof ServerError && error.status === 412 && left > 1)) throw error;
        }
      }
    } catch (error) {
      trouble.value = `The marks were not kept: ${error instanceof ServerError ? error.message : String(error)}`;
    }
  });
}
function sameMark(a: Mark, b: Mark): boolean {
  return a.from_ns === b.from_ns && a.to_ns === b.to_ns && a.note === b.note;
}
export function addMark(mark: Mark): void {
  saveMarks((kept) => [...kept, mark]);
}
export function removeMark(mark: Mark): void {
  saveMarks((kept) => kept.filter((one) => !sameMark(one, mark)));
}

// The address follows what is shown; another tab is another step back.
let pushNext = false;
let waiting = 0;
let viewWasSet = false;
function currentHash(): string {
  const whole = span.value;
  const shown = view.value;
  const all = shown.from <= whole.from && shown.to >= whole.to;
  return hashOf({ tab: tab.value, window: all ? null : shown, selection: selection.value, slice: linkOfSlice(), search: search.value });
}
function linkOfSlice(): SliceLink | null {
  const of = slice.value;
  const row = of ? ranks.value[of.rank]?.rows[of.row] : undefined;
  return of && row ? { rank: of.rank, row: keyOfRow(row), lane: of.lane, at: of.from_ns } : null;
}
export function followAddress(): void {
  effect(() => {
    const hash = currentHash();
    if (!viewWasSet) return;
    clearTimeout(waiting);
    const push = pushNext;
    const write = () => {
      pushNext = false;
      if (location.hash === hash) return;
      if (push) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    };
    if (push) write();
    else waiting = setTimeout(write, 200);
  });
  addEventListener("popstate", () => void openLink());
}
// Where the command line wants to begin, which is known once the traces before it are read. A link with a place of its own wins.
let startWanted = false;
export function showStart(): void {
  const start = meta.value?.start;
  if (!start || !startWanted) return;
  startWanted = false;
  const { from_ns: from, to_ns: to } = start;
  batch(() => {
    trouble.value = start.lacks ?? trouble.value;
    if (from === undefined || to === undefined) return;
    tab.value = "timeline";
    selection.value = { from, to };
    if (start.rank !== undefined) {
      jumpedTo.value = { window: selection.value, rank: start.rank };
      rowWanted.value = { rank: start.rank, ...(start.row === undefined ? {} : { row: start.row }) };
    }
    search.value = start.q ?? search.value;
    view.value = clampWindow(around(selection.value, 0.5), span.value);
  });
}
let slicesAsked = 0; // the last one that was asked for is shown, whichever answer comes last
// Shows what the address names; once the run's extent is known.
export async function openLink(): Promise<void> {
  const turn = ++slicesAsked;
  const link = linkFrom(location.hash);
  if (!viewWasSet) startWanted = !location.hash;
  batch(() => {
    tab.value = link.tab;
    selection.value = link.selection;
    search.value = link.search;
    view.value = clampWindow(link.window ?? (selection.value ? around(selection.value, 0.5) : span.value), span.value);
    viewWasSet = true;
    if (!link.slice && tab.value === "timeline" && selected.value) wantRowOfSelection(undefined);
  });
  if (!link.slice) {
    slice.value = null;
    showStart();
    return;
  }
  const { rank, row, lane, at } = link.slice;
  const index = ranks.value[rank]?.rows.findIndex((known) => keyOfRow(known) === row) ?? -1;
  if (index < 0) return;
  try {
    const found = await getJson<Slice>(`api/v1/at?rank=${rank}&row=${index}&t=${at}&lane=${lane}`);
    if (turn === slicesAsked) slice.value = found;
  } catch {
    if (turn === slicesAsked) trouble.value = "The slice that this link names is not in this trace.";
  }
}
export async function pick(at: { rank: number; row: number; lane?: number; place?: number; from_ns: number }): Promise<Slice | null> {
  const path = at.lane === undefined || at.place === undefined
    ? `api/v1/at?rank=${at.rank}&row=${at.row}&t=${at.from_ns}`
    : `api/v1/slice?rank=${at.rank}&row=${at.row}&lane=${at.lane}&place=${at.place}`;
  const turn = ++slicesAsked;
  try {
    const found = await getJson<Slice>(path);
    if (turn !== slicesAsked) return null;
    slice.value = found;
    said.value = `${found.name}, ${found.to_ns - found.from_ns} ns`;
    return found;
  } catch (error) {
    if (!(error instanceof ServerError && error.status === 404)) trouble.value = String(error);
    return null;
  }
}
