// The way to ui.perfetto.dev: this page hands the exported selection to that one; nothing is uploaded, and no port is opened.
import { getBytes } from "./api";
import { meta, trouble } from "./state";
import type { Window } from "./types";

const kPerfetto = "https://ui.perfetto.dev";
const kPingMs = 200;
const kGiveUpMs = 60_000;

function exportPath(window: Window): string {
  return `api/v1/export?from=${Math.floor(window.from)}&to=${Math.ceil(window.to)}`;
}
export function download(window: Window): void {
  const link = document.createElement("a");
  link.href = exportPath(window);
  link.download = "";
  link.click();
}

export function openInPerfetto(window: Window): void {
  const other = globalThis.open(kPerfetto); // in the click itself, or the browser refuses
  if (!other) {
    trouble.value = "The browser did not open another window: allow it for this page, or download the selection and open it there.";
    return;
  }
  const bytes = getBytes(exportPath(window)).catch((error: unknown) => {
    trouble.value = `The selection was not exported: ${error instanceof Error ? error.message : String(error)}`;
    stop();
    other.close();
    return null;
  });
  const ping = setInterval(() => other.postMessage("PING", kPerfetto), kPingMs);
  const stop = () => {
    clearInterval(ping);
    clearTimeout(late);
    removeEventListener("message", heard);
  };
  const late = setTimeout(() => {
    stop();
    trouble.value = "ui.perfetto.dev did not answer: is there a way to the internet? Download works without one.";
  }, kGiveUpMs);
  const heard = async (event: MessageEvent) => {
    if (event.source !== other || event.origin !== kPerfetto || event.data !== "PONG") return;
    stop();
    const buffer = await bytes;
    if (buffer) other.postMessage({ perfetto: { buffer, title: meta.value?.title ?? "tacho", fileName: "selection.json" } }, kPerfetto);
  };
  addEventListener("message", heard);
}
