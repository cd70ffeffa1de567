// What a selected stretch of time is, where it is a gap or a step: its rank, its number and its cause. Pure.
import { stepName, stepTime } from "./steps";
import type { Gap, GapInside, Meta, RowKind, Window } from "./types";
import { duration } from "./units";

// The gaps inside a stretch of time that G goes through.
export interface GapsInside {
  of: string; // "mixed step 121", "the selection"
  gaps: readonly GapInside[]; // the longest
  count: number; // of all
}
export interface Selected {
  kind: "gap" | "step";
  rank: number;
  text: string; // "gap 3 of the run"
  device?: string;
  cause?: string;
}

// `rank`: the one that a jump led to, where several have the same stretch.
export function selectedIn(window: Window, meta: Pick<Meta, "gaps" | "steps">, inside: GapsInside | null, rank: number | null): Selected | null {
  const find = <T extends { rank: number }>(list: readonly T[], is: (one: T) => boolean): number => {
    const own = list.findIndex((one) => one.rank === rank && is(one));
    return own >= 0 ? own : list.findIndex(is);
  };
  const isIt = (gap: Gap) => gap.from_ns === window.from && gap.to_ns === window.to;
  const [at, number] = [inside ? find(inside.gaps, isIt) : -1, find(meta.gaps, isIt)];
  const gap = inside?.gaps[at] ?? meta.gaps[number];
  if (gap) {
    const ofRun = number >= 0 ? `gap ${number + 1} of the run` : "";
    const length = gap.to_ns - gap.from_ns;
    const part = inside && at >= 0 && (inside.gaps[at]?.inside_ns ?? length) < length ? `, ${duration(inside.gaps[at]?.inside_ns ?? 0)} of it inside` : "";
    const text = inside && at >= 0 ? `gap ${at + 1} of ${inside.count} in ${inside.of}${part}${ofRun && ` (${ofRun})`}` : ofRun;
    return { kind: "gap", rank: gap.rank, text, device: gap.device, cause: gap.cause };
  }
  const step = meta.steps[find(meta.steps, (one) => one.from_ns === window.from && (one.until_ns === window.to || one.to_ns === window.to))];
  if (!step) return null;
  const how = step.until_ns === window.to && step.until_ns !== step.to_ns ? "from start to start" : "on the host";
  return { kind: "step", rank: step.rank, text: `${stepName(step)}, ${duration(how === "on the host" ? step.to_ns - step.from_ns : stepTime(step))} ${how}` };
}
export function rowKindOf(kind: Selected["kind"]): RowKind {
  return kind === "gap" ? "idle" : "steps";
}
