// What a thread did in the selection, as an icicle: below each name what it called, as wide as it took. Slices of one name with the same
// slices around them are one box.
import { useMemo, useState } from "preact/hooks";
import { Icicle } from "../icicle";
import { ranks, scope } from "../state";
import { detailOf, labelOf } from "../timeline/layout";
import type { FlameRow } from "../types";
import { count, duration, percent } from "../units";
import { notShownOr } from "../untold";
import { findSlice } from "./links";

const kMostThreads = 1000; // to choose from; the server has those that launch first

export function Flame() {
  const threads = useMemo(
    () => ranks.value.flatMap((rank, r) => rank.rows.map((row, i) => ({ r, i, row, rank }))).filter(({ row, rank }) => row.kind === "thread" && row.slices > 0 && !rank.no_figures).slice(0, kMostThreads),
    [ranks.value],
  );
  const [chosen, setChosen] = useState(0);
  const thread = threads[Math.min(chosen, threads.length - 1)];
  return (
    <div class="page flame">
      <div class="filter">
        <label>
          <span class="dim">thread </span>
          <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {threads.map(({ row, rank }, i) => <option key={i} value={i}>{`${ranks.value.length > 1 ? `${rank.label} · ` : ""}${[labelOf(row), detailOf(row)].filter(Boolean).join(" · ")}`}</option>)}
          </select>
        </label>
      </div>
      {!thread ? (
        <p class="dim">{notShownOr("no thread has slices: the profiler recorded no host activity")}</p>
      ) : (
        <Icicle rank={thread.r} row={thread.i} window={scope.value} palette="host" of="of this thread">{(nodes) => <SelfTimes nodes={nodes} />}</Icicle>
      )}
    </div>
  );
}

function SelfTimes({ nodes }: { nodes: readonly FlameRow[] }) {
  const top = useMemo(() => selfTimes(nodes), [nodes]);
  const whole = nodes[0]?.[4] ?? 0;
  return (
    <>
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
