// The figures of a window, asked for once it stands still.
import { computed, effect, signal, type Signal } from "@preact/signals";
import { getJson, ServerError } from "./api";
import { meta, scope, selection, tab, view } from "./state";
import type { NameRow, Selection, Window } from "./types";
import { count } from "./units";

const kStillMs = 120;

export interface Figures {
  window: Window;
  of: Selection | null;
  why: string; // without an answer
}
const kNoColor = -1;
function rowOfOthers({ names, ...of }: Selection["others"][number]): NameRow {
  return { ...of, name: `[${count(names)} ${names === 1 ? "other" : "others"}]`, kind: "others", color: kNoColor };
}
// `windowOf`: the window to ask for, or null. Asks again whenever it changes.
function figuresOf(windowOf: () => Window | null): Signal<Figures | null> {
  const figures = signal<Figures | null>(null);
  let waiting = 0;
  let asked: AbortController | null = null;
  effect(() => {
    const window = windowOf();
    void meta.value?.read.read; // another rank was read
    if (!window) return;
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      asked?.abort();
      asked = new AbortController();
      const [from, to] = [Math.floor(window.from), Math.ceil(window.to)];
      try {
        const of = await getJson<Selection>(`api/v1/selection?from=${from}&to=${to}`, asked.signal);
        of.names.push(...of.others.map(rowOfOthers));
        figures.value = { window, of, why: "" };
      } catch (error) {
        if (error instanceof DOMException && error.name === "AbortError") return;
        figures.value = { window, of: null, why: error instanceof ServerError ? error.message : String(error) };
      }
    }, figures.peek() ? kStillMs : 0);
  });
  return figures;
}

// Of the selection, else of what the timeline shows.
export const shownFigures = figuresOf(() => (meta.value && tab.value === "timeline" ? (selection.value ?? view.value) : null));
// Of the selection, else of the whole run; null until they are those of the window that the page's head names.
const lastOfScope = figuresOf(() => (meta.value && (tab.value === "kernels" || tab.value === "operators") ? scope.value : null));
export const scopeFigures = computed(() => {
  const figures = lastOfScope.value;
  return figures?.window.from === scope.value.from && figures.window.to === scope.value.to ? figures : null;
});
