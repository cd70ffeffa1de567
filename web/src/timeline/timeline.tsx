// The timeline's tab: minimap, labels, canvases, and the panel of the selection below.
import { useEffect, useRef, useState } from "preact/hooks";
import { duration, percent, pointInTime, stepOfTicks } from "../units";
import { analysis, meta, panelOpen, ranks, setView, span, toggle, view } from "../state";
import { clockText } from "../clocks";
import { busyShare } from "../totals";
import { busyIsLeast, whyNo } from "../untold";
import { Controller, type Hover, type Seen } from "./controller";
import type { LaidRow, Layout } from "./layout";
import { kAxisHeight } from "./scene";
import { Panel } from "../panel";
import { Tools } from "./tools";

// The one that is on the screen: keys reach it here.
export let controller: Controller | null = null;

export function Timeline() {
  const [layout, setLayout] = useState<Layout>({ rows: [], height: 0 });
  const [seen, setSeen] = useState<Seen>({ first: 0, last: 100 });
  const [hover, setHover] = useState<Hover | null>(null);
  const stage = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);

  useEffect(() => {
    if (!stage.current || !area.current || !bars.current || !over.current || !labels.current || !scroller.current || !minimap.current) return;
    const made = new Controller({
      stage: stage.current, area: area.current, bars: bars.current, over: over.current, labels: labels.current, scroller: scroller.current,
      minimap: minimap.current,
    });
    made.onLayout = setLayout;
    made.onHover = setHover;
    made.onSeen = setSeen;
    setLayout(made.layout);
    made.invalidate();
    controller = made;
    const stop = listen(made, stage.current, area.current, minimap.current, scroller.current);
    return () => {
      stop();
      made.dispose();
      controller = null;
    };
  }, []);

  return (
    <section class="timeline" aria-label="Timeline">
      <Tools />
      <div class="minimap-row">
        <div class="minimap-label">
          {duration(span.value.to - span.value.from)}
          <span class="dim">{shownInMinimap()}</span>
        </div>
        <canvas ref={minimap} class="minimap" aria-hidden="true" />
      </div>
      <div class="stage" ref={stage} tabIndex={0} role="application" aria-label="Timeline. W and S zoom, A and D pan, N next step, L slowest step, G longest gap of what is selected, comma and dot previous and next slice. The table below shows what is selected.">
        <div class="gutter">
          <div class="corner" style={{ height: `${kAxisHeight}px` }}>{meta.value && meta.value.ranks.length > 1 ? clockText(meta.value) : ""}</div>
          <div class="labels-box">
            <div class="labels" ref={labels}>
              {layout.rows.slice(seen.first, seen.last + 1).map((row) => <Label key={row.key} row={row} />)}
            </div>
          </div>
        </div>
        <div class="area" ref={area}>
          <canvas ref={bars} aria-hidden="true" />
          <canvas ref={over} aria-hidden="true" />
          {hover && <Tooltip hover={hover} width={area.current?.clientWidth ?? 0} height={area.current?.clientHeight ?? 0} />}
        </div>
        <div class="scroller" ref={scroller} aria-hidden="true"><div /></div>
      </div>
      {panelOpen.value && <Panel />}
    </section>
  );
}

function shownInMinimap(): string {
  const drawn = ranks.value.filter((rank) => rank.rows.some((row) => row.kind === "busy" && row.slices > 0)).length;
  if (drawn === 0) return whyNo("no_device_time") ? "device time not shown" : "no device work";
  return ranks.value.length > 1 ? `${drawn} ${drawn === 1 ? "rank" : "ranks"}, busy` : "device busy";
}
function busyOf(rank: number): string {
  const of = analysis.value?.ranks?.table.find((row) => row.path === ranks.value[rank]?.path);
  const busy = of && busyShare(of);
  return of && busy !== undefined ? `${busyIsLeast(of.path) ? "at least " : ""}${percent(busy)} busy` : "";
}

function Label({ row }: { row: LaidRow }) {
  const style = { top: `${row.top}px`, height: `${row.height}px`, paddingLeft: `${20 + row.depth * 12}px` };
  const detail = row.detail || (row.key === `rank/${row.rank}` ? busyOf(row.rank) : "");
  const lacks = ranks.value[row.rank]?.rows[row.row]?.lacks; // the canvas shows it
  const text = (
    <>
      <span class="label">{row.label}</span>
      {detail && <span class="detail">{detail}</span>}
    </>
  );
  if (row.kind === "heading") {
    return (
      <button type="button" class="row-label heading" style={style} aria-expanded={row.open} title={`${row.label} ${row.detail}`} onClick={() => toggle(row.key)}>
        <span class={row.open ? "chevron open" : "chevron"} aria-hidden="true" />
        {text}
      </button>
    );
  }
  return (
    <div class="row-label" style={style} title={[row.label, row.detail, lacks].filter(Boolean).join(" ")}>
      {text}
      {lacks && <span class="aloud">{lacks}</span>}
      {row.open !== undefined && (
        <button type="button" class="levels" onClick={() => toggle(row.key)}>{row.open ? "fewer levels" : `${row.hidden} more ${row.hidden === 1 ? "level" : "levels"}`}</button>
      )}
    </div>
  );
}

function Tooltip({ hover, width, height }: { hover: Hover; width: number; height: number }) {
  const right = hover.x > width - 380;
  const below = hover.y < height - 110;
  const style = {
    [right ? "right" : "left"]: `${right ? width - hover.x + 12 : hover.x + 12}px`,
    [below ? "top" : "bottom"]: `${below ? hover.y + 16 : height - hover.y + 12}px`,
  };
  const several = hover.count > 1;
  const shown = view.value;
  return (
    <div class="tooltip" style={style}>
      <div class="mono">{hover.name || "…"}</div>
      <div class="dim">
        {several
          ? `longest of ${hover.count.toLocaleString("en")} slices in ${duration(hover.to - hover.from)}${ranks.value[hover.row.rank]?.no_device_time ? "" : `, ${percent(hover.coverage)} busy`}`
          : hover.exact
            ? `${duration(hover.to - hover.from)} at ${pointInTime(hover.from, stepOfTicks((shown.to - shown.from) / 1000))}`
            : `part of a longer slice`}
        {` · ${hover.row.label}${hover.row.detail ? ` ${hover.row.detail}` : ""}`}
      </div>
    </div>
  );
}

// The mouse. Returns what stops listening.
function listen(to: Controller, stage: HTMLElement, area: HTMLElement, minimap: HTMLElement, scroller: HTMLElement): () => void {
  const stop = new AbortController();
  const signal = stop.signal;
  const inArea = (event: MouseEvent) => {
    const box = area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  // From a press to its release, wherever the pointer goes.
  const drag = (event: PointerEvent, move: (event: PointerEvent) => void, done: () => void) => {
    const held = new AbortController();
    const target = event.currentTarget as HTMLElement;
    target.setPointerCapture(event.pointerId);
    target.addEventListener("pointermove", move, { signal: held.signal });
    for (const end of ["pointerup", "pointercancel"])
      target.addEventListener(end, () => {
        held.abort();
        done();
      }, { signal: held.signal });
  };

  area.addEventListener("pointermove", (event) => to.point(inArea(event)), { signal });
  area.addEventListener("pointerleave", () => to.point(null), { signal });
  area.addEventListener("pointerdown", (event) => {
    const start = inArea(event);
    stage.focus({ preventScroll: true });
    if (event.button === 1 || (event.button === 0 && event.shiftKey)) {
      let last = event.clientX;
      event.preventDefault();
      drag(event, (moved) => {
        to.pan(last - moved.clientX);
        last = moved.clientX;
      }, () => {});
    } else if (event.button === 0) {
      const at = to.timeAt(start.x);
      let moved = false;
      drag(event, (now) => {
        const { x } = inArea(now);
        if (!moved && Math.abs(x - start.x) < 4) return;
        moved = true;
        const t = to.timeAt(Math.max(0, Math.min(area.clientWidth, x)));
        to.select({ from: Math.floor(Math.min(at, t)), to: Math.ceil(Math.max(at, t)) });
      }, () => {
        if (!moved) void to.pickAt(start.x, start.y);
      });
    }
  }, { signal });
  area.addEventListener("dblclick", (event) => {
    const { x } = inArea(event);
    to.zoom(0.35, x);
  }, { signal });
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const { x } = inArea(event);
    if (event.ctrlKey || event.altKey || event.metaKey) to.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY * unit)) * 0.004), Math.max(0, x));
    else if (event.shiftKey && event.deltaX === 0) to.pan(event.deltaY * unit);
    else {
      if (event.deltaX) to.pan(event.deltaX * unit);
      if (event.deltaY) to.scrollTo(to.scroll + event.deltaY * unit);
    }
  }, { passive: false, signal });
  scroller.addEventListener("scroll", () => {
    if (Math.abs(scroller.scrollTop - to.scroll) >= 1) to.scrollTo(scroller.scrollTop);
  }, { signal });

  minimap.addEventListener("pointerdown", (event) => {
    const box = minimap.getBoundingClientRect();
    const timeOf = (x: number) => span.value.from + ((x - box.left) / box.width) * (span.value.to - span.value.from);
    const start = timeOf(event.clientX);
    const { from, to: end } = view.value;
    const inside = start >= from && start <= end && end - from < (span.value.to - span.value.from) * 0.98;
    let moved = false;
    drag(event, (now) => {
      const t = timeOf(now.clientX);
      if (Math.abs(now.clientX - event.clientX) > 3) moved = true;
      if (!moved) return;
      if (inside) setView({ from: from + t - start, to: end + t - start });
      else setView({ from: Math.min(start, t), to: Math.max(start, t) });
    }, () => {
      if (!moved && !inside) setView({ from: start - (end - from) / 2, to: start + (end - from) / 2 });
    });
  }, { signal });
  addEventListener("blur", () => to.release(), { signal });
  return () => stop.abort();
}
