// Requests of the load: one of them in full, and the way from a token to its step and back.
import { batch, computed, signal } from "@preact/signals";
import { getJson, ServerError } from "./api";
import { analysis, goTo, meta, selected, selection, showInTimeline, slice, tab, trouble } from "./state";
import { stepName, stepWindow } from "./steps";
import type { RequestChunk, RequestDetail, RequestInStep, RequestTotals, Step } from "./types";

// In the order of time, as docs/metrics.md defines them.
export const kParts = [
  "client", "network", "queue", "prefill", "wait-prefill", "decode", "comm", "skew", "host", "between-steps", "preempted", "detokenise-and-send", "unknown",
];

export const request = signal<RequestDetail | null>(null);
export const chunk = signal(0); // which of its chunks is chosen
// The step whose requests are listed alone.
export const inStep = signal<{ step: Step; requests: readonly RequestInStep[] } | null>(null);

export interface ListedRequest extends RequestTotals {
  list: number; // its place in the analysis
  role?: RequestInStep["role"];
}
export const listed = computed<ListedRequest[]>(() => {
  const all = analysis.value?.requests?.list ?? [];
  const of = inStep.value;
  if (!of) return all.map((row, list) => ({ ...row, list }));
  return of.requests.flatMap(({ list, role }) => (all[list] ? [{ ...all[list], list, role }] : []));
});

const stepOf = (rank: number, number: number): Step | undefined => meta.value?.steps.find((one) => one.rank === rank && one.number === number);
export const stepOfChunk = (of: RequestDetail, at: RequestChunk | undefined): Step | undefined =>
  of.rank !== undefined && at?.step !== undefined && at.step === at.step_at_most ? stepOf(of.rank, at.step) : undefined;

let asked = 0; // the last one that was asked for is shown
async function ask<T>(path: string): Promise<T | null> {
  const turn = ++asked;
  try {
    const found = await getJson<T>(path);
    return turn === asked ? found : null;
  } catch (error) {
    trouble.value = error instanceof ServerError ? error.message : String(error);
    return null;
  }
}

// Shows a request. `step`: the number of the step whose token is chosen.
export async function openRequest(list: number, step?: number): Promise<void> {
  const found = await ask<RequestDetail>(`api/v1/request?list=${list}`);
  if (!found) return;
  const at = step === undefined ? 0 : (found.chunks?.findIndex((one) => one.step === step) ?? -1);
  batch(() => {
    request.value = found;
    chunk.value = Math.max(0, at);
  });
}
export function showStepOf(of: RequestDetail, at: number): void {
  const step = stepOfChunk(of, of.chunks?.[at]);
  chunk.value = at;
  if (step) showInTimeline(stepWindow(step), 0.6, { rank: step.rank });
}

// The step that is looked at: the one that is selected, or that of the slice.
function stepInView(): Step | undefined {
  const of = slice.value;
  if (of?.step) return stepOf(of.rank, of.step.number);
  const at = selected.value;
  return at?.kind === "step" ? meta.value?.steps.find((one) => one.rank === at.rank && one.from_ns === selection.value?.from) : undefined;
}
export const canFollow = (): boolean =>
  tab.value === "requests" ? request.value !== null && stepOfChunk(request.value, request.value.chunks?.[chunk.value]) !== undefined : stepInView() !== undefined;
// From the token that is chosen to the step that made it; from a step to the requests in it.
export async function follow(): Promise<void> {
  if (tab.value === "requests") {
    if (request.value) showStepOf(request.value, chunk.value);
    return;
  }
  const step = stepInView();
  if (!step) {
    trouble.value = "Select a step first (N): T leads to the requests in it.";
    return;
  }
  const found = await ask<{ requests: RequestInStep[] }>(`api/v1/step_requests?rank=${step.rank}&number=${step.number}`);
  if (!found) return;
  if (found.requests.length === 0) {
    trouble.value = `No request is known to be in ${stepName(step)}.`;
    return;
  }
  batch(() => {
    inStep.value = { step, requests: found.requests };
    goTo("requests");
  });
  const open = found.requests.find(({ list }) => list === request.value?.list) ?? found.requests.find(({ role }) => role !== "reads") ?? found.requests[0];
  if (open) await openRequest(open.list, step.number);
}
