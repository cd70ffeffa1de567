// Everything that is known of one slice.
import type { ComponentChildren } from "preact";
import { around, pick, ranks, search, selection, setView, slice } from "./state";
import { detailOf, labelOf } from "./timeline/layout";
import { reveal } from "./timeline/reveal";
import type { At, InLayers, NamedPlace, Slice } from "./types";
import { count, duration, percentFigure, pointInTime } from "./units";

const kMostLinks = 12;

export function SliceDetail({ of }: { of: Slice }) {
  const row = ranks.value[of.rank]?.rows[of.row];
  const rank = ranks.value.length > 1 ? `${labelOfRank(of.rank)} · ` : "";
  return (
    <article class="slice-detail" aria-label="The slice" tabIndex={0}>
      <header>
        <h3 class="mono">{of.name}</h3>
        <button type="button" class="quiet" onClick={() => (slice.value = null)}>close (Esc)</button>
      </header>
      <dl>
        <Fact what="kind">{of.category && of.category !== of.kind ? `${of.kind}, ${of.category}` : of.kind}</Fact>
        {of.annotation && <Fact what="annotation"><span class="mono">{of.annotation}</span></Fact>}
        <Fact what="on">{rank}{row ? [labelOf(row), detailOf(row)].filter(Boolean).join(" · ") : ""}</Fact>
        <Fact what="starts">{pointInTime(of.from_ns, 1)}</Fact>
        <Fact what="lasts"><b>{duration(of.to_ns - of.from_ns)}</b>{of.self_ns !== undefined && of.self_ns !== of.to_ns - of.from_ns ? `, of it ${duration(of.self_ns)} its own` : ""}</Fact>
        {of.in_block && <Fact what="block">{of.in_block.layer !== undefined && `layer ${of.in_block.layer}, `}<Jump to={of.in_block} /></Fact>}
        {of.layers && <LayerFacts of={of.layers} />}
        {of.step && <Fact what="step"><Jump to={{ name: `${of.step.phase} ${of.step.number}`, at: of.step.at }} /></Fact>}
        {of.launch && (
          <Fact what="launched by">
            <Jump to={of.launch} />
            {of.launch.delay_ns !== undefined && <span class="dim"> {duration(of.launch.delay_ns)} before it ran</span>}
          </Fact>
        )}
        {of.launched && of.launched.length > 0 && (
          <Fact what="launched">
            {of.launched.slice(0, kMostLinks).map((work, i) => <div key={i}><Jump to={work} /></div>)}
            {(of.launched_count ?? of.launched.length) > kMostLinks && <span class="dim">and {count((of.launched_count ?? of.launched.length) - kMostLinks)} more</span>}
          </Fact>
        )}
        {of.collective && (
          <Fact what="collective">
            <div>{waited(of.rank, of.collective)}</div>
            {of.collective.at.slice(0, kMostLinks).map((at, i) => <span key={i}>{i > 0 && ", "}<Jump to={{ name: labelOfRank(at.rank), at }} /></span>)}
            {of.collective.ranks - 1 > kMostLinks && <span class="dim"> and {count(of.collective.ranks - 1 - kMostLinks)} more</span>}
          </Fact>
        )}
        {of.stack && of.stack.length > 0 && (
          <Fact what="inside">{of.stack.map((frame, i) => <div key={i}><Jump to={frame} /></div>)}</Fact>
        )}
        {of.args?.map(({ key, value }) => <Fact key={key} what={key}><span class="mono">{value}</span></Fact>)}
        {of.cut && <Fact what=""><span class="dim">more arguments are in the file</span></Fact>}
      </dl>
      <footer>
        <button type="button" class="quiet" onClick={() => (selection.value = { from: of.from_ns, to: Math.max(of.to_ns, of.from_ns + 1) })}>select its time (R)</button>
        <button type="button" class="quiet" onClick={() => setView(around({ from: of.from_ns, to: of.to_ns }))}>zoom to it (F)</button>
        <button type="button" class="quiet" onClick={() => (search.value = of.name)}>find all of its name</button>
      </footer>
    </article>
  );
}

function labelOfRank(rank: number): string {
  return ranks.value[rank]?.label ?? String(rank);
}
function waited(rank: number, { ranks, last_start_rank, wait_ns }: NonNullable<Slice["collective"]>): string {
  if (last_start_rank === rank) return `of ${count(ranks)} ranks, started last`;
  return `of ${count(ranks)} ranks, waited ${duration(wait_ns)} for ${labelOfRank(last_start_rank)}`;
}

// The work in its step, beside the mean of the steps, so that the odd one is seen.
function LayerFacts({ of }: { of: InLayers }) {
  const several = of.steps > 1;
  const more = of.mean_device_ns > 0 ? of.device_ns / of.mean_device_ns - 1 : 0;
  return (
    <>
      {of.layer !== undefined && <Fact what="layer">{`${of.layer}: ${of.layer_kind ?? ""}`}</Fact>}
      {of.block && <Fact what="block">{`${of.block}${of.layer === undefined ? ", outside of layers" : ""}`}</Fact>}
      <Fact what="device time">
        <b>{duration(of.device_ns)}</b>{` in ${count(of.count)} ${of.count === 1 ? "piece" : "pieces"} of work`}
        <div class="dim">{several ? `mean of ${count(of.steps)} ${of.phase} steps: ${duration(of.mean_device_ns)}, this one ${more < 0 ? "−" : "+"}${percentFigure(Math.abs(more))} %` : `the only ${of.phase} step whose layers are known`}</div>
      </Fact>
      <Fact what="gaps">{duration(of.gap_ns)}{several && <div class="dim">{`mean ${duration(of.mean_gap_ns)}`}</div>}</Fact>
    </>
  );
}
function Fact({ what, children }: { what: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{what}</dt>
      <dd>{children}</dd>
    </>
  );
}
function Jump({ to }: { to: NamedPlace }) {
  return <button type="button" class="link mono" onClick={() => void jumpTo(to.at)}>{to.name}</button>;
}
async function jumpTo(at: At): Promise<void> {
  const found = await pick(at);
  if (found) reveal(found);
}
