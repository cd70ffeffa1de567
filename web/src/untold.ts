// What cannot be told, and why: one rule for all screens, by what the server says of each rank (`no_idle_time` and the others in meta.ranks).
import { computed } from "@preact/signals";
import { ranks } from "./state";
import type { IdleRow } from "./types";

type Untold = "no_idle_time" | "no_device_time" | "no_figures";
// The reasons of the ranks that lack such figures; "" where all have them.
export function whyNo(figures: Untold): string {
  return [...new Set(ranks.value.flatMap((rank) => rank[figures] ?? []))].join("; ");
}
// The traces that figures of a window add up.
export const summedUp = computed(() => ranks.value.filter((rank) => rank.state === "read" && !rank.no_figures).length);
// What stands in place of figures: `none`, or that no trace has any to show.
export function notShownOr(none: string): string {
  const why = whyNo("no_figures");
  return why && summedUp.value === 0 ? `not shown: ${why}` : none;
}
// ", over 4 ranks". "" of one.
export const overRanks = computed(() => {
  const read = ranks.value.filter((rank) => rank.state === "read").length;
  if (summedUp.value === read) return read > 1 ? `, over ${read} ranks` : "";
  return summedUp.value > 0 ? `, over ${summedUp.value} of ${read} traces` : "";
});
// A trace whose busy time is a lower bound.
export function busyIsLeast(path: string | undefined): boolean {
  return ranks.value.some((rank) => rank.path === path && rank.busy_is_least);
}

// The cause, in the server's answer, of time that is idle or not recorded.
export const kNotTold = "not-told";
const kBeyondWork: ReadonlySet<string> = new Set(["outside", "unrecorded"]);
export const isIdle = (row: IdleRow) => row.cause !== "busy" && !kBeyondWork.has(row.cause);

// The time of devices in a window, of what the server's answer says of each.
export interface Times {
  busy: number;
  all: number; // from the first to the last work
  told: boolean; // else work is missing, and idle time cannot be told
}
export function timesOf(idle: readonly IdleRow[]): Times {
  const sum = (rows: readonly IdleRow[]) => rows.reduce((total, row) => total + row.total_ns, 0);
  return {
    busy: sum(idle.filter((row) => row.cause === "busy")), all: sum(idle.filter((row) => !kBeyondWork.has(row.cause))),
    told: idle.every((row) => row.cause !== kNotTold),
  };
}
// What a window without any of that time is.
export function whereOf(idle: readonly IdleRow[]): string {
  return idle.some((row) => row.cause === "unrecorded") ? "device work was not recorded here" : "before the first or after the last work";
}
