// The frame of all tabs: head, tabs, what went wrong, help.
import { useEffect, useRef } from "preact/hooks";
import { serverGone } from "./api";
import { Commands } from "./commands";
import { kHelp } from "./keys";
import { whyOf } from "./labels";
import { analysis, commandsOpen, goTo, helpOpen, meta, said, selection, summary, tab, theme, toggleTheme, trouble } from "./state";
import { Flame } from "./tabs/flame";
import { Kernels } from "./tabs/kernels";
import { Model } from "./tabs/model";
import { Operators } from "./tabs/operators";
import { Ranks } from "./tabs/ranks";
import { Requests } from "./tabs/requests";
import { SummaryTab } from "./tabs/summary";
import { Timeline } from "./timeline/timeline";
import { bytes, count, duration } from "./units";
import { overRanks } from "./untold";
import { kTabs, kTitles, type Tab } from "./url";

export function App() {
  return (
    <>
      <Head />
      <Troubles />
      <main id="main" class={`tab-${tab.value}`} aria-labelledby={`tab-${tab.value}`}>
        {meta.value ? <TabBody /> : <p class="loading dim">Asking the server which traces it reads …</p>}
      </main>
      {helpOpen.value && <Help />}
      {commandsOpen.value && <Commands />}
      <div class="aloud" aria-live="polite">{said.value}</div>
    </>
  );
}

function TabBody() {
  switch (tab.value) {
    case "summary":
      return <SummaryTab />;
    case "timeline":
      return <Timeline />;
    case "kernels":
      return <Kernels />;
    case "operators":
      return <Operators />;
    case "flame":
      return <Flame />;
    case "ranks":
      return <Ranks />;
    case "requests":
      return <Requests />;
    case "model":
      return <Model />;
  }
}

function Head() {
  const of = meta.value;
  return (
    <header class="head">
      <span class="brand">tacho</span>
      <span class="title dim" title={of?.title}>{headline()}</span>
      <nav role="tablist" aria-label="Views" onKeyDown={walkTabs}>
        {kTabs.map((name, i) => (
          <button
            key={name} type="button" role="tab" id={`tab-${name}`} aria-selected={tab.value === name} aria-controls="main" title={`${kTitles[name]} (${i + 1})`}
            tabIndex={tab.value === name ? 0 : -1} onClick={() => goTo(name)}
          >
            {kTitles[name]}
          </button>
        ))}
      </nav>
      <Trust />
      <button type="button" class="quiet theme" aria-label={`Colours: ${theme.value}. Change.`} onClick={toggleTheme}>{theme.value === "dark" ? "Light" : "Dark"}</button>
    </header>
  );
}
function walkTabs(event: KeyboardEvent): void {
  const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (by === 0) return;
  event.preventDefault();
  event.stopPropagation();
  const next = kTabs[(kTabs.indexOf(tab.value) + by + kTabs.length) % kTabs.length] as Tab;
  goTo(next);
  document.getElementById(`tab-${next}`)?.focus();
}

// What was opened, as short as tells it apart.
function headline(): string {
  const of = meta.value;
  if (!of) return "";
  const first = of.ranks[0];
  const name = (first?.path ?? of.title).replace(/\/+$/, "").split("/").pop() ?? "";
  const traces = analysis.value?.traces ?? [];
  const engine = { vllm: "vLLM", sglang: "SGLang" }[traces[0]?.engine ?? ""] ?? traces[0]?.engine;
  const device = traces.flatMap((trace) => trace.facts.devices).find((one) => one.name)?.name;
  const what = of.ranks.length > 1 ? `${of.title.split("/").filter(Boolean).pop() ?? name} · ${of.ranks.length} ${of.ranks.some((rank) => rank.state === "failed") ? "traces" : "ranks"}` : name;
  return [what, engine, device].filter(Boolean).join(" · ");
}

function Trust() {
  const of = meta.value;
  if (!of) return <span class="trust" />;
  const { read } = of;
  const pending = of.ranks.filter((rank) => rank.state === "waiting" || rank.state === "reading").length;
  if (pending > 0) {
    const share = read.stored_bytes > 0 ? read.read_bytes / read.stored_bytes : 0;
    return (
      <span class="trust dim" role="status">
        <progress value={share} max={1} aria-label="read" />
        {`read ${count(of.ranks.length - pending)} of ${count(of.ranks.length)} traces, ${bytes(read.read_bytes)} of ${bytes(read.stored_bytes)}`}
      </span>
    );
  }
  const notes = of.ranks.flatMap((rank) => rank.notes ?? []);
  const worst = of.ranks.some((rank) => rank.state === "failed") || notes.some((note) => note.severity === "data-loss") ? "bad" : of.ranks.some((rank) => rank.no_idle_time) || notes.some((note) => note.severity === "notice") ? "fair" : "good";
  const parts = summary.value?.trust;
  if (!parts) return <span class="trust dim" role="status">adding up the figures of all traces …</span>;
  return (
    <span class="trust dim" title={`${parts.join(" · ")}\n${notes.map((note) => note.text).join("\n")}`}>
      <span class={`dot ${worst}`} aria-hidden="true" />
      <span class="words">{[...(worst === "bad" && !parts[0]?.includes("incomplete") ? ["incomplete"] : []), ...parts.slice(0, 2)].join(" · ")}</span>
    </span>
  );
}

const kOfWholeRun: ReadonlySet<Tab> = new Set<Tab>(["summary", "ranks", "model"]);
function Troubles() {
  const failed = meta.value?.ranks.filter((rank) => rank.state === "failed") ?? [];
  return (
    <>
      {serverGone.value && (
        <div class="trouble" role="alert">
          <b>The server does not answer.</b> What has come stays on the page. Start <code>tacho view</code> again and open the address that it prints.
        </div>
      )}
      {trouble.value && (
        <div class="trouble" role="alert">
          <span>{trouble.value}</span>
          <button type="button" class="quiet" onClick={() => (trouble.value = "")}>close</button>
        </div>
      )}
      {failed.length > 0 && (
        <div class="trouble" role="status">
          <b>{failed.length === 1 ? "One trace could not be read." : `${failed.length} traces could not be read.`}</b>{" "}
          {failed.slice(0, 3).map((rank) => `${rank.label || rank.path}: ${whyOf(rank)}`).join("; ")}
          {failed.length > 3 ? "; …" : ""}
        </div>
      )}
      {selection.value && tab.value !== "timeline" && (
        <div class="scope-line">
          <span>
            {kOfWholeRun.has(tab.value)
              ? `Figures of the whole run. Those of the selection, ${duration(selection.value.to - selection.value.from)}, are in Timeline, Kernels, Operators and Flame`
              : `Figures of the selection, ${duration(selection.value.to - selection.value.from)}${tab.value === "flame" ? "" : overRanks.value}`}
          </span>
          <button type="button" class="quiet" onClick={() => goTo("timeline")}>show it</button>
          <button type="button" class="quiet" onClick={() => (selection.value = null)}>{kOfWholeRun.has(tab.value) ? "select nothing (Esc)" : "whole run (Esc)"}</button>
        </div>
      )}
    </>
  );
}

function Help() {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box.current?.showModal();
    return () => box.current?.close();
  }, []);
  return (
    <dialog class="help" ref={box} aria-label="Keys" onClose={() => (helpOpen.value = false)} onClick={(event) => event.target === box.current && (helpOpen.value = false)}>
      <div class="help-body">
        {kHelp.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.rows.map((row) => (
                <div key={row.what}>
                  <dt>{(row.keys ? [row.keys] : (row.commands ?? []).map((command) => command.key)).map((key) => <kbd key={key}>{key}</kbd>)}</dt>
                  <dd>{row.what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="dim">tacho {meta.value?.tacho.version} · links keep tab, window, selection and search, by time. <button type="button" class="quiet" onClick={() => (helpOpen.value = false)}>close (Esc)</button></p>
    </dialog>
  );
}
