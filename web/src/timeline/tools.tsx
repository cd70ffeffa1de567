// The line above the timeline: search, order of the rows, marks, and ways out of here.
import { useEffect, useState } from "preact/hooks";
import { getJson, ServerError } from "../api";
import { addMark, goTo, helpOpen, marks, order, pick, ranks, removeMark, said, search, searchWanted, selection, slice, trouble, view } from "../state";
import type { Found, Place, Window } from "../types";
import { count, duration } from "../units";
import { download, openInPerfetto } from "../perfetto";
import { reveal } from "./reveal";

const kStillMs = 180;
const kMostNames = 30;

export function Tools() {
  return (
    <div class="tools">
      <SearchBox />
      {ranks.value.length > 1 && (
        <span class="choice" role="group" aria-label="Order of the rows">
          <button type="button" aria-pressed={order.value === "ranks"} onClick={() => (order.value = "ranks")}>by rank</button>
          <button type="button" aria-pressed={order.value === "rows"} onClick={() => (order.value = "rows")}>same row of all ranks</button>
        </span>
      )}
      <MarkBox />
      <span class="room" />
      <button type="button" class="quiet" title="The selection, or what is in view, in ui.perfetto.dev: it goes from this page to that one, to no server" onClick={() => openInPerfetto(exportWindow())}>Open in Perfetto</button>
      <button type="button" class="quiet" title="The selection, or what is in view, as a Kineto trace" onClick={() => download(exportWindow())}>Download</button>
      <button type="button" class="quiet" onClick={() => (helpOpen.value = true)}>? keys</button>
    </div>
  );
}
function exportWindow(): Window {
  return selection.value ?? view.value;
}

let foundNothing = ""; // the last that is in no name
// Shows the next slice whose name holds what is searched for.
export async function nextFound(forward: boolean): Promise<void> {
  const q = search.value.trim();
  if (q === "" || q === foundNothing) return;
  const from = slice.value ? slice.value.from_ns : forward ? view.value.from - 1 : view.value.to;
  const at = slice.value ? `&after=${slice.value.rank},${slice.value.row},${slice.value.lane}` : "";
  try {
    const next = await getJson<Place | null>(`api/v1/next?what=search&from=${Math.round(from)}&forward=${forward ? 1 : 0}${at}&q=${encodeURIComponent(q)}`);
    if (!next) {
      said.value = forward ? "no further slice of this name" : "no earlier slice of this name";
      return;
    }
    const found = await pick(next);
    if (found) reveal(found);
  } catch (error) {
    trouble.value = String(error instanceof Error ? error.message : error);
  }
}

// The key / opened this tab.
function focusIfWanted(box: HTMLInputElement | null): void {
  if (!box || !searchWanted.peek()) return;
  searchWanted.value = false;
  box.focus();
}
function SearchBox() {
  const [found, setFound] = useState<Found | null>(null);
  const [open, setOpen] = useState(false);
  const [sentence, setSentence] = useState("");
  const text = search.value;
  useEffect(() => {
    const q = text.trim();
    setSentence("");
    if (q === "") {
      setFound(null);
      return;
    }
    const stop = new AbortController();
    const wait = setTimeout(() => {
      getJson<Found>(`api/v1/search?q=${encodeURIComponent(q)}&most=${kMostNames}`, stop.signal)
        .then((of) => {
          setFound(of);
          foundNothing = of.total === 0 ? q : "";
        })
        .catch((error: unknown) => {
          if (error instanceof ServerError) setSentence(error.message);
        });
    }, kStillMs);
    return () => {
      clearTimeout(wait);
      stop.abort();
    };
  }, [text]);
  const choose = async (name: Found["names"][number]) => {
    setOpen(false);
    goTo("timeline");
    const at = await pick(name.at);
    if (at) reveal(at);
  };
  return (
    <div class="search" role="search">
      <input
        ref={focusIfWanted}
        id="search"
        type="search"
        placeholder="Search the whole trace  ( / )"
        aria-label="Search the names of all slices"
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          search.value = event.currentTarget.value.slice(0, 300);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 150)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            setOpen(false);
            void nextFound(!event.shiftKey);
          } else if (event.key === "Escape") {
            search.value = "";
            event.currentTarget.blur();
          }
        }}
      />
      <span class="found dim" aria-live="polite">
        {sentence || (found && text.trim() !== "" ? (found.total === 0 ? "nothing found" : `${count(found.total)} ${found.total === 1 ? "slice" : "slices"}`) : "")}
      </span>
      {open && found && found.names.length > 0 && text.trim() !== "" && (
        <ul class="hits">
          {found.names.map((name) => (
            <li key={name.name}>
              <button type="button" onMouseDown={(event) => event.preventDefault()} onClick={() => void choose(name)}>
                <span class="mono">{name.name}</span>
                <span class="dim">{count(name.count)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

// Marks are kept beside the trace, so who has the trace sees them.
function MarkBox() {
  const [note, setNote] = useState<string | null>(null);
  const of = selection.value;
  const known = of ? marks.value.find((mark) => mark.from_ns === of.from && mark.to_ns === of.to) : undefined;
  useEffect(() => {
    const open = () => setNote((now) => now ?? "");
    addEventListener("tacho-mark", open);
    return () => removeEventListener("tacho-mark", open);
  }, []);
  if (!of) return marks.value.length ? <span class="dim">{count(marks.value.length)} {marks.value.length === 1 ? "mark" : "marks"}</span> : null;
  if (known) return <button type="button" class="quiet" onClick={() => removeMark(known)}>Remove the mark</button>;
  if (note === null) return <button type="button" class="quiet" onClick={() => setNote("")}>Mark {duration(of.to - of.from)} (M)</button>;
  return (
    <form
      class="note"
      onSubmit={(event) => {
        event.preventDefault();
        addMark({ from_ns: of.from, to_ns: of.to, note: note.slice(0, 500) });
        setNote(null);
      }}
    >
      <input autofocus aria-label="Note" placeholder="what is here" value={note} ref={(box) => box?.focus()} onInput={(event) => setNote(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setNote(null)} />
      <button type="submit" class="quiet">Keep</button>
    </form>
  );
}
