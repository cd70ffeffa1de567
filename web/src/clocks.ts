// How far the clocks of the ranks are apart, in words.
import type { Meta, Residual } from "./types";
import { duration } from "./units";

const kShown = 50_000; // ns: well above what the ends of one collective differ by
const kMostSentences = 4;

type Clocks = Pick<Meta, "clock" | "ranks">;

// The residual of a rank; "reference" for one that others are measured against; undefined where it cannot be told.
export function residualOf({ clock }: Clocks, rank: number): Residual | "reference" | undefined {
  const own = clock.residuals?.find((residual) => residual.rank === rank);
  return own ?? (clock.residuals?.some((residual) => residual.against === rank) ? "reference" : undefined);
}

export function clockText(meta: Clocks): string {
  if (!meta.clock.shared) return "ranks: own clocks";
  const read = meta.ranks.map((rank, i) => (rank.state === "read" ? residualOf(meta, i) : "reference"));
  const references = new Set(meta.clock.residuals?.map((residual) => residual.against));
  if (read.includes(undefined) || references.size !== 1) return "ranks: one clock";
  const most = Math.max(...(meta.clock.residuals ?? []).map((residual) => Math.abs(residual.ns)));
  return `one clock, to within ${duration(most)}`;
}

// One sentence for each rank whose rows lie wrong by more than that.
export function clockSentences({ clock, ranks }: Clocks): string[] {
  const wrong = (clock.residuals ?? []).filter((residual) => Math.abs(residual.ns) > kShown);
  wrong.sort((a, b) => Math.abs(b.ns) - Math.abs(a.ns));
  const label = (rank: number) => ranks[rank]?.label ?? String(rank);
  const sentences = wrong.slice(0, kMostSentences).map(({ rank, against, ns, collectives }) =>
    `The rows of ${label(rank)} lie about ${duration(Math.abs(ns))} too ${ns > 0 ? "late" : "early"}: its clock differs from that of ${label(against)}, as the ends of ${collectives} collectives show.`);
  if (wrong.length > kMostSentences) sentences.push(`So do the rows of ${wrong.length - kMostSentences} more; the table says by how much.`);
  return sentences;
}
