// What a thread did in the selection, as an icicle: below each name what it called, as wide as it took. Slices of one name with the same
// slices around them are one box.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getJson, ServerError } from "../api";
import { colorOf, inkOn } from "../colors";
import { meta, ranks, scope, theme } from "../state";
import { detailOf, labelOf } from "../timeline/layout";
import { kInks } from "../timeline/scene";
import type { FlameRow } from "../types";
import { coreName, count, duration, percent } from "../units";
import { notShownOr } from "../untold";
import { findSlice } from "./links";
import { flameBoxes, type FlameBox } from "../flame_layout";

const kRow = 19;
const kLeastPixels = 0.5;
const kMostThreads = 1000; // to choose from; the server has those that launch first

export function Flame() {
  const threads = useMemo(
    () => ranks.value.flatMap((rank, r) => rank.rows.map((row, i) => ({ r, i, row, rank }))).filter(({ row, rank }) => row.kind === "thread" && row.slices > 0 && !rank.no_figures).slice(0, kMostThreads),
    [ranks.value],
  );
  const [chosen, setChosen] = useState(0);
  const [nodes, setNodes] = useState<FlameRow[]>([]);
  const [why, setWhy] = useState("");
  const [root, setRoot] = useState(0);
  const [over, setOver] = useState<FlameBox | null>(null);
  const [width, setWidth] = useState(1200);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const thread = threads[Math.min(chosen, threads.length - 1)];
  const window = scope.value;

  useEffect(() => {
    if (!thread) return;
    const stop = new AbortController();
    const wait = setTimeout(() => {
      const [from, to] = [Math.floor(window.from), Math.ceil(window.to)];
      const least = Math.floor(((to - from) / Math.max(400, width)) * kLeastPixels * 0.2);
      getJson<{ nodes: FlameRow[] }>(`api/v1/flame?rank=${thread.r}&row=${thread.i}&from=${from}&to=${to}&least=${least}`, stop.signal)
        .then((of) => {
          setNodes(of.nodes);
          setRoot(0);
          setWhy("");
        })
        .catch((error: unknown) => {
          if (error instanceof ServerError) setWhy(error.message);
        });
    }, 60);
    return () => {
      clearTimeout(wait);
      stop.abort();
    };
  }, [thread?.r, thread?.i, window.from, window.to, meta.value?.read.read]);

  useEffect(() => {
    const of = box.current;
    if (!of) return;
    const watch = new ResizeObserver(() => setWidth(of.clientWidth));
    watch.observe(of);
    return () => watch.disconnect();
  }, []);

  const boxes = useMemo(() => flameBoxes(nodes, root, width, kLeastPixels), [nodes, root, width]);
  const depth = boxes.reduce((most, one) => Math.max(most, one.depth + 1), 1);
  useEffect(() => paint(canvas.current, boxes, nodes, width, depth * kRow, over), [boxes, theme.value, over]);

  const at = (event: MouseEvent): FlameBox | null => {
    const of = canvas.current?.getBoundingClientRect();
    if (!of) return null;
    const [x, row] = [event.clientX - of.left, Math.floor((event.clientY - of.top) / kRow)];
    return boxes.find((one) => one.depth === row && x >= one.x && x < one.x + Math.max(1, one.width)) ?? null;
  };
  const whole = nodes[0]?.[4] ?? 0;
  const hovered = over ? nodes[over.node] : undefined;
  const top = useMemo(() => selfTimes(nodes), [nodes]);
  const path: number[] = [];
  for (let node = root; node > 0; node = nodes[node]?.[2] ?? 0) path.unshift(node);
  return (
    <div class="page flame">
      <div class="filter">
        <label>
          <span class="dim">thread </span>
          <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {threads.map(({ row, rank }, i) => <option key={i} value={i}>{`${ranks.value.length > 1 ? `${rank.label} · ` : ""}${[labelOf(row), detailOf(row)].filter(Boolean).join(" · ")}`}</option>)}
          </select>
        </label>
        <span class="crumbs">
          {path.length > 0 && <button type="button" class="link" onClick={() => setRoot(0)}>all</button>}
          {path.slice(-4).map((node) => <button key={node} type="button" class="link mono" onClick={() => setRoot(node)}>› {coreName(nodes[node]?.[0] ?? "").slice(0, 60)}</button>)}
        </span>
      </div>
      {threads.length === 0 ? (
        <p class="dim">{notShownOr("no thread has slices: the profiler recorded no host activity")}</p>
      ) : (
        <>
          <div class="flame-line">
            {why ? <span class="bad">{why}</span> : hovered ? (
              <><span class="mono">{hovered[0] || "all"}</span><span class="dim">{` ${duration(hovered[4])}, ${percent(hovered[4] / Math.max(1, whole))} · its own ${duration(hovered[5])} · ${count(hovered[3])} times`}</span></>
            ) : (
              <span class="dim">{duration(whole)} of this thread, widest where most time went. A click zooms in.</span>
            )}
          </div>
          <div class="flame-box" ref={box} onMouseMove={(event) => setOver(at(event))} onMouseLeave={() => setOver(null)} onClick={(event) => {
            const hit = at(event);
            if (hit) setRoot(hit.node === root ? (nodes[root]?.[2] ?? 0) : hit.node);
          }}>
            <canvas ref={canvas} aria-hidden="true" />
          </div>
          <h2>Most time of their own</h2>
          <table class="flame-table" aria-label="Names by their own time">
            <thead><tr><th class="name">name</th><th class="figure">self</th><th class="figure">%</th><th class="figure">count</th></tr></thead>
            <tbody>
              {top.slice(0, 15).map((row) => (
                <tr key={row.name}>
                  <td class="name"><button type="button" class="link mono" onClick={() => void findSlice(row.name)}>{row.name}</button></td>
                  <td class="figure">{duration(row.self)}</td>
                  <td class="figure dim">{percent(row.self / Math.max(1, whole))}</td>
                  <td class="figure">{count(row.count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </div>
  );
}

function selfTimes(nodes: readonly FlameRow[]): { name: string; self: number; count: number }[] {
  const found = new Map<string, { name: string; self: number; count: number }>();
  for (const [name, , , times, , self] of nodes.slice(1)) {
    const of = found.get(name) ?? { name, self: 0, count: 0 };
    found.set(name, { name, self: of.self + self, count: of.count + times });
  }
  return [...found.values()].sort((a, b) => b.self - a.self);
}

function paint(canvas: HTMLCanvasElement | null, boxes: readonly FlameBox[], nodes: readonly FlameRow[], width: number, height: number, over: FlameBox | null): void {
  const on = canvas?.getContext("2d");
  if (!canvas || !on) return;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  on.setTransform(ratio, 0, 0, ratio, 0, 0);
  on.font = "11.5px Inter, system-ui, sans-serif";
  on.textBaseline = "middle";
  const inks = kInks[theme.peek()];
  for (const box of boxes) {
    const node = nodes[box.node];
    if (!node) continue;
    const ground = box.node === 0 ? inks.line : colorOf(theme.peek(), "host", node[1]);
    on.fillStyle = ground;
    on.fillRect(box.x, box.depth * kRow, Math.max(0.5, box.width - (box.width > 3 ? 1 : 0)), kRow - 1);
    if (over?.node === box.node) {
      on.strokeStyle = inks.ink;
      on.strokeRect(box.x + 0.5, box.depth * kRow + 0.5, Math.max(1, box.width - 2), kRow - 2);
    }
    if (box.width < 34) continue;
    const name = node[0] === "" ? "all" : coreName(node[0]);
    const letters = Math.floor((box.width - 10) / 6.1);
    const text = name.length <= letters ? name : letters < 4 ? "" : `${name.slice(0, letters - 1)}…`;
    on.fillStyle = inkOn(ground);
    if (text && on.measureText(text).width <= box.width - 8) on.fillText(text, box.x + 5, box.depth * kRow + kRow / 2);
  }
}
