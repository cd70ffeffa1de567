// A flame graph that hangs down: below each name what it holds, as wide as that took. A click zooms in.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getJson, ServerError } from "./api";
import { colorOf, inkOn } from "./colors";
import { flameBoxes, layerLabels, type FlameBox } from "./flame_layout";
import { meta, theme } from "./state";
import { kInks } from "./timeline/scene";
import type { FlameRow, PaletteName, Window } from "./types";
import { coreName, count, duration, percent } from "./units";

const kRow = 19;
const kLeastPixels = 0.5;

interface Props {
  rank: number;
  row: number;
  window: Window;
  palette: PaletteName;
  of: string; // whose time it is: "of this thread"
  top?: string; // the child of the root that is shown at first; the root if absent
  inOrder?: boolean; // not the longest first
  children?: (nodes: readonly FlameRow[]) => ComponentChildren; // below
}
export function Icicle({ rank, row, window, palette, of, top, inOrder, children }: Props) {
  const [nodes, setNodes] = useState<FlameRow[]>([]);
  const [why, setWhy] = useState("");
  const [root, setRoot] = useState(0);
  const [over, setOver] = useState<FlameBox | null>(null);
  const [width, setWidth] = useState(1200);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);

  useEffect(() => {
    const stop = new AbortController();
    const wait = setTimeout(() => {
      const [from, to] = [Math.floor(window.from), Math.ceil(window.to)];
      const least = Math.floor(((to - from) / Math.max(400, width)) * kLeastPixels * 0.2);
      getJson<{ nodes: FlameRow[] }>(`api/v1/flame?rank=${rank}&row=${row}&from=${from}&to=${to}&least=${least}`, stop.signal)
        .then((found) => {
          setNodes(found.nodes);
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
  }, [rank, row, window.from, window.to, meta.value?.read.read]);
  useEffect(() => setRoot(top === undefined ? 0 : Math.max(0, nodes.findIndex(([name, , parent], i) => i > 0 && parent === 0 && name === top))), [nodes, top]);

  useEffect(() => {
    const shown = box.current;
    if (!shown) return;
    const watch = new ResizeObserver(() => setWidth(shown.clientWidth));
    watch.observe(shown);
    return () => watch.disconnect();
  }, []);

  const boxes = useMemo(() => flameBoxes(nodes, root, width, kLeastPixels, inOrder), [nodes, root, width, inOrder]);
  const depth = boxes.reduce((most, one) => Math.max(most, one.depth + 1), 1);
  useEffect(() => paint(canvas.current, boxes, nodes, palette, width, depth * kRow, over), [boxes, theme.value, over]);

  const at = (event: MouseEvent): FlameBox | null => {
    const drawn = canvas.current?.getBoundingClientRect();
    if (!drawn) return null;
    const [x, line] = [event.clientX - drawn.left, Math.floor((event.clientY - drawn.top) / kRow)];
    return boxes.find((one) => one.depth === line && x >= one.x && x < one.x + Math.max(1, one.width)) ?? null;
  };
  const whole = nodes[0]?.[4] ?? 0;
  const hovered = over ? nodes[over.node] : undefined;
  const path: number[] = [];
  for (let node = root; node > 0; node = nodes[node]?.[2] ?? 0) path.unshift(node);
  return (
    <>
      <div class="flame-line">
        {path.length > 0 && (
          <span class="crumbs">
            <button type="button" class="link" onClick={() => setRoot(0)}>all</button>
            {path.slice(-4).map((node) => <button key={node} type="button" class="link mono" onClick={() => setRoot(node)}>› {coreName(nodes[node]?.[0] ?? "").slice(0, 60)}</button>)}
          </span>
        )}
        {why ? <span class="bad">{why}</span> : hovered ? (
          <><span class="mono">{hovered[0] || "all"}</span><span class="dim">{` ${duration(hovered[4])}, ${percent(hovered[4] / Math.max(1, whole))} · its own ${duration(hovered[5])} · ${count(hovered[3])} times`}</span></>
        ) : (
          <span class="dim">{duration(nodes[root]?.[4] ?? 0)} {of}, widest where most time went. A click zooms in.</span>
        )}
      </div>
      <div class="flame-box" ref={box} onMouseMove={(event) => setOver(at(event))} onMouseLeave={() => setOver(null)} onClick={(event) => {
        const hit = at(event);
        if (hit) setRoot(hit.node === root ? (nodes[root]?.[2] ?? 0) : hit.node);
      }}>
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      {children?.(nodes)}
    </>
  );
}

function paint(canvas: HTMLCanvasElement | null, boxes: readonly FlameBox[], nodes: readonly FlameRow[], palette: PaletteName, width: number, height: number, over: FlameBox | null): void {
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
    const ground = box.node === 0 ? inks.line : colorOf(theme.peek(), palette, node[1]);
    on.fillStyle = ground;
    on.fillRect(box.x, box.depth * kRow, Math.max(0.5, box.width - (box.width > 3 ? 1 : 0)), kRow - 1);
    if (over?.node === box.node) {
      on.strokeStyle = inks.ink;
      on.strokeRect(box.x + 0.5, box.depth * kRow + 0.5, Math.max(1, box.width - 2), kRow - 2);
    }
    if (box.width < 20) continue;
    const [whole, number] = layerLabels(node[0]) as [string, string];
    const name = node[0] === "" ? "all" : whole !== number && box.width < 60 ? number : coreName(node[0]);
    const letters = Math.floor((box.width - 10) / 6.1);
    const text = name.length <= letters ? name : letters < 4 ? "" : `${name.slice(0, letters - 1)}…`;
    on.fillStyle = inkOn(ground);
    if (text && on.measureText(text).width <= box.width - 8) on.fillText(text, box.x + 5, box.depth * kRow + kRow / 2);
  }
}
