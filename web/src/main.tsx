// Starts the page: asks what the server has, follows what it reads, draws.
import { effect } from "@preact/signals";
import { render } from "preact";
import { getJson, ServerError, serverGone } from "./api";
import { App } from "./app";
import { listenToKeys } from "./keys";
import { labelled } from "./labels";
import { analysis, followAddress, marks, meta, openLink, showStart, span, summary, trouble, view } from "./state";
import type { Analysis, Mark, Meta, Progress, Rank, Summary } from "./types";
import "./style.css";

const kAgainMs = 2000;
const kMetaEveryMs = 150;

async function loadFigures(): Promise<void> {
  try {
    [summary.value, analysis.value] = await Promise.all([getJson<Summary>("api/v1/summary"), getJson<Analysis>("api/v1/analysis")]);
  } catch (error) {
    if (error instanceof ServerError && error.status === 409) return; // still being read
    if (!serverGone.value) trouble.value = error instanceof Error ? error.message : String(error);
  }
}
async function loadMarks(): Promise<void> {
  try {
    marks.value = (await getJson<{ marks?: Mark[] }>("api/v1/marks")).marks ?? [];
  } catch {
    marks.value = [];
  }
}

// Steps and gaps grow with each rank that is read, so meta is asked for again: at once, then seldom.
let soon = 0;
let askedAt = 0;
let asked = 0;
let shown = 0;
async function loadMeta(): Promise<void> {
  soon = 0;
  askedAt = performance.now();
  const turn = ++asked;
  const next = await getJson<Meta>("api/v1/meta");
  if (turn < shown) return; // one that was asked for later is here
  shown = turn;
  const before = span.peek();
  const whole = view.peek().from <= before.from && view.peek().to >= before.to;
  meta.value = { ...next, ranks: labelled(next.ranks) };
  if (whole) view.value = span.peek();
}
function loadMetaSoon(): void {
  if (!soon) soon = setTimeout(() => void loadMeta().catch(() => {}), Math.max(0, askedAt + kMetaEveryMs - performance.now()));
}

function listen(): void {
  const events = new EventSource("api/v1/events");
  const on = <T,>(name: string, act: (of: T) => void) =>
    events.addEventListener(name, (event) => {
      try {
        act(JSON.parse((event as MessageEvent<string>).data) as T);
      } catch {
        // An event that is not JSON is none of ours.
      }
    });
  on<Progress>("progress", (progress) => {
    if (meta.value) meta.value = { ...meta.value, read: { ...meta.value.read, ...progress } };
  });
  on<Rank>("rank", loadMetaSoon);
  on<object>("done", () => void loadMeta().then(showStart).then(loadFigures).catch(() => {}));
  on<{ path: string; why: string }>("gone", ({ path, why }) => {
    trouble.value = `${path}: ${why}`;
  });
  events.onerror = () => {
    // EventSource tries again by itself while the server is there.
    if (events.readyState === EventSource.CLOSED && !meta.value) serverGone.value = true;
  };
}

async function start(): Promise<void> {
  listenToKeys();
  const root = document.getElementById("app");
  if (root) render(<App />, root);
  for (;;) {
    try {
      await loadMeta();
      break;
    } catch (error) {
      if (error instanceof ServerError && error.status !== 0) trouble.value = error.message;
      await new Promise((done) => setTimeout(done, kAgainMs));
    }
  }
  trouble.value = "";
  document.title = `${meta.value?.title.split("/").filter(Boolean).pop() ?? ""} · tacho`;
  await openLink();
  followAddress();
  void loadMarks();
  listen(); // for as long as the page is open: a trace may vanish, and the server counts its pages
  // A server that went away may come back under the same address: whatever it answers, it is there. A new one has another key and says so.
  effect(() => {
    if (!serverGone.value) return;
    const ask = () =>
      void getJson<Meta>("api/v1/meta").catch((error: unknown) => {
        if (error instanceof ServerError && error.status !== 0) trouble.value = error.message;
      });
    const again = setInterval(ask, kAgainMs);
    return () => clearInterval(again);
  });
}
void start();
