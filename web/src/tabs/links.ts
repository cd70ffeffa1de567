// From a figure to its place in the timeline.
import { getJson, ServerError } from "../api";
import { colorOf } from "../colors";
import { batch } from "@preact/signals";
import { goTo, meta, pick, said, search, theme } from "../state";
import { reveal } from "../timeline/reveal";
import type { Found } from "../types";

const kOther = 11;

export function categoryColor(category: string): string {
  const known = { copies: 9, memsets: 10 }[category] ?? meta.value?.categories?.[category];
  return colorOf(theme.value, "work", known ?? kOther);
}

// What the server takes, of whole characters.
const kMostBytes = 1000;
const kMostNames = 100;
function cutToBytes(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= kMostBytes ? text : new TextDecoder().decode(bytes.slice(0, kMostBytes), { stream: true });
}

// To the first slice of a name, with the name as what is searched for: Enter goes on to the next.
export async function findSlice(name: string): Promise<void> {
  const q = cutToBytes(name);
  batch(() => {
    search.value = q;
    goTo("timeline");
  });
  try {
    const found = await getJson<Found>(`api/v1/search?q=${encodeURIComponent(q)}&most=${kMostNames}`);
    // Others hold the name too: aten::index_select that of aten::index.
    const first = found.names.find((one) => one.name === name) ?? found.names[0];
    const at = first && (await pick(first.at));
    if (at) reveal(at);
  } catch (error) {
    said.value = error instanceof ServerError ? error.message : String(error);
  }
}
