// From key to key: steps, the slowest of them, and the longest idle gaps, of the run or inside what is selected.
import { getJson, ServerError } from "./api";
import { gapsInside, meta, selected, selection, showInTimeline, slice, trouble, view } from "./state";
import { stepName, slowestOfPhases, stepWindow } from "./steps";
import type { Gap, GapInside, Step } from "./types";
import { whyNo } from "./untold";

const kMostInside = 100;

const isSelected = (one: Gap) => selection.value?.from === one.from_ns && selection.value.to === one.to_ns;
const turned = (at: number, by: number, length: number) => (at + by + length) % length;
function showStep(step: Step): void {
  showInTimeline(stepWindow(step), 0.15, { rank: step.rank });
}
function showGap(gap: Gap): void {
  showInTimeline({ from: gap.from_ns, to: gap.to_ns }, 0.6, { rank: gap.rank });
}
function stepsOrTrouble(): readonly Step[] {
  const steps = meta.value?.steps ?? [];
  if (steps.length === 0) trouble.value = "This trace has no steps: no annotation names them.";
  return steps;
}

// The next step of the rank that is looked at.
export function step(forward: boolean): void {
  const steps = stepsOrTrouble();
  const rank = slice.value?.rank ?? selected.value?.rank ?? steps[0]?.rank;
  const of = steps.filter((one) => one.rank === rank);
  const from = selection.value?.from ?? (forward ? view.value.from - 1 : view.value.to);
  const next = forward ? of.find((one) => one.from_ns > from) : [...of].reverse().find((one) => one.from_ns < from);
  if (next) showStep(next);
}
// The slowest step of all ranks, then that of the phase whose slowest comes next.
export function slowestStep(by: number): void {
  const slowest = slowestOfPhases(stepsOrTrouble());
  const at = slowest.findIndex((one) => selection.value?.from === one.from_ns && selection.value.to === stepWindow(one).to);
  const next = slowest[at < 0 ? 0 : turned(at, by, slowest.length)];
  if (next) showStep(next);
}

// Why there is no gap to go to. `none`: what that means where all idle time is told.
function whyNoGap(none: string): string {
  const why = whyNo("no_idle_time");
  return why ? `Idle time cannot be told: ${why}.` : none;
}

let gapAt = -1; // the last gap of the run that was shown
// Of what is selected the longest gap, then its next longest; without a selection those of the run.
export async function gap(by: number): Promise<void> {
  const now = selection.value;
  const ofRun = meta.value?.gaps ?? [];
  const shown = gapsInside.value?.gaps.findIndex(isSelected) ?? -1;
  if (gapsInside.value && shown >= 0) {
    const { gaps } = gapsInside.value;
    showGap(gaps[turned(shown, by, gaps.length)] as GapInside);
  } else if (now && !ofRun.some(isSelected)) {
    await gapInside(by);
  } else if (ofRun.length === 0) {
    trouble.value = whyNoGap("This trace has no idle gaps.");
  } else {
    // From the gap that is selected, also by a link; else from the last that was shown.
    const selectedAt = ofRun.findIndex(isSelected);
    if (selectedAt >= 0 && !isSelected(ofRun[gapAt] ?? ({} as Gap))) gapAt = selectedAt;
    gapAt = gapAt < 0 && by < 0 ? ofRun.length - 1 : turned(gapAt, by, ofRun.length);
    showGap(ofRun[gapAt] as Gap);
  }
}
// Of a step those of its own rank.
async function gapInside(by: number): Promise<void> {
  const now = selection.value;
  if (!now) return;
  const of = selected.value?.kind === "step" ? meta.value?.steps.find((one) => one.rank === selected.value?.rank && one.from_ns === now.from) : undefined;
  try {
    const found = await getJson<{ count: number; gaps: GapInside[] }>(`api/v1/gaps?from=${now.from}&to=${now.to}&most=${kMostInside}${of ? `&rank=${of.rank}` : ""}`);
    if (selection.value !== now) return;
    const [first] = by > 0 ? found.gaps : found.gaps.slice(-1);
    if (!first) {
      trouble.value = whyNoGap("No device is idle between two of its works in what is selected. Without a selection (Esc), G goes to the longest gap of the run.");
      return;
    }
    gapsInside.value = { of: of ? stepName(of) : "the selection", ...found };
    showGap(first);
  } catch (error) {
    trouble.value = error instanceof ServerError ? error.message : String(error);
  }
}
