#pragma once

#include <vector>

#include "analysis/ranks/ranks.h"
#include "analysis/schema/conditions.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"
#include "text/json_writer.h"

namespace tacho::schema {

inline std::string_view SignId(Straggler::Sign sign) {
  switch (sign) {
    case Straggler::Sign::kCausesWaiting:
      return "causes-waiting";
    case Straggler::Sign::kComputesLongest:
      return "computes-longest";
    case Straggler::Sign::kLeastCollectives:
      break;
  }
  return "least-collectives";
}

inline std::string_view AbsentId(RankBlame::Absent absent) {
  switch (absent) {
    case RankBlame::Absent::kNo:
      return "";
    case RankBlame::Absent::kNoEvents:
      return "no-events";
    case RankBlame::Absent::kNoCollectives:
      return "no-collectives";
    case RankBlame::Absent::kNoMatch:
      return "no-match";
    case RankBlame::Absent::kClocks:
      return "clocks";
    case RankBlame::Absent::kOutside:
      return "outside";
    case RankBlame::Absent::kOnHost:
      break;
  }
  return "on-cpu";
}

void StragglerRow(auto& out, const RankTable& ranks) {
  const std::vector<Straggler> stragglers = FindStragglers(ranks);
  if (!Holds(out, !stragglers.empty())) return;
  const Straggler found = stragglers.empty() ? Straggler{} : stragglers.front();
  const RankRow none;
  const RankRow& row = stragglers.empty() ? none : ranks.rows[found.row];
  out.BeginRow(Key{"straggler", "rank that holds the others up; absent if none stands out"});
  out.Field(Key{"name", "name of the rank: `w0 TP1`, or its path"},
            stragglers.empty() ? "" : RankLabel(ranks, row));
  out.Field(Key{"path", "path of its trace"}, row.path);
  out.Field(
      Key{"sign",
          "reason to think so: `causes-waiting` (the others waited for it in collectives), "
          "`computes-longest` (it has the most compute time) or `least-collectives` (it has the "
          "least time in collectives, and the others may be waiting for it). The last two only if "
          "`ranks.blame` is absent or covers less than half of the communication kernels"},
      SignId(found.sign));
  out.Field(Key{"ns",
                "time: with `causes-waiting` what it caused, with `least-collectives` its time in "
                "collectives, else its compute time"},
            found.time);
  const bool causes = found.sign == Straggler::Sign::kCausesWaiting;
  if (Holds(out, !causes))
    out.Field(Key{"median_of_others_ns",
                  "median of the same figure over the other ranks; absent with `causes-waiting`"},
              found.others);
  if (Holds(out, causes)) {
    out.Field(Key{"waiting_share",
                  "share, 0..1, of what it caused in the windows of the ranks that share "
                  "collectives with it; this and the fields below only with `causes-waiting`"},
              ShareOf(found.time, found.others));
    out.Field(Key{"waiting_ranks", "number of these ranks"}, found.waiting_ranks);
    out.Field(Key{"cause", "largest cause, as in `ranks.blame.table[].caused_by`"},
              found.main.Id());
    out.Field(Key{"late_a_step_ns",
                  "time by which it came later than the median of the others, a step after the "
                  "first; absent without steps"},
              found.late_a_step);
  }
  out.End();
}

void BlameRows(auto& out, const RankTable& ranks) {
  out.Rows(
      Key{"table", "ranks that took part, in the order of `ranks.table`"}, ranks.blame.table,
      [&](const RankBlame::Row& row) {
        const RankRow none;
        const RankRow& rank = row.rank < ranks.rows.size() ? ranks.rows[row.rank] : none;
        out.Field(Key{"rank", "rank, as in `ranks.table`"}, rank.rank);
        out.Field(Key{"path", "path of the trace"}, rank.path);
        out.Field(Key{"row", "place in `ranks.table`, from 0"}, row.rank);
        out.Field(Key{"collectives", "number of matched collectives that it took part in"},
                  row.collectives);
        out.Field(Key{"last", "number of those in which others waited for it"}, row.last);
        out.Field(Key{"transfer_ns", "sum of the shortest parts of these collectives"},
                  row.transfer);
        out.Field(Key{"suffered_ns", "time that it waited in them"}, row.suffered);
        out.Field(
            Key{"caused_ns", "time that others waited for it, or for a rank that waited for it"},
            row.caused);
        out.Field(Key{"late_ns",
                      "time by which it came later than the median of the others, summed without "
                      "its first step; below 0: earlier"},
                  Signed(row.late));
        out.Field(
            Key{"stands_out", "`true`: it caused far more than chance explains, again and again"},
            row.stands_out);
        out.Rows(
            Key{"caused_by",
                "causes, longest first: what it did longer than those that waited; they add "
                "up to `caused_ns`"},
            row.caused_by, [&](const SkewCause& cause) {
              out.Field(
                  Key{"id",
                      "cause: `idle.` and an idle cause, `compute.` and a category, "
                      "`copies` (and memsets), `collectives` (other communication), "
                      "`launch-pace` (its host launched later, but no more slowly than that of the "
                      "waiting rank), `too-short` (a wait up to `residual_ns`), `unknown`"},
                  cause.Id());
              out.Field(Key{"ns", "time"}, cause.time);
            });
      });
}

void BlameGroups(auto& out, const RankBlame& blame) {
  out.Rows(
      Key{"groups", "ranks that have collectives in common, by `kind`, then first rank, then name"},
      blame.groups, [&](const RankBlame::Group& group) {
        out.Field(Key{"kind", "kind of the group: `TP`, `EP`, `PP` or `DP`"},
                  UnlessEmpty(GroupKindId(group.kind)));
        out.Field(Key{"name", "name of the process group"}, UnlessEmpty(group.name));
        out.Field(Key{"class", "class of its collectives, as in `ranks.blame`"},
                  SkewClassId(group.type));
        out.Field(Key{"collectives", "number of its collectives"}, group.collectives);
        out.Field(Key{"transfer_ns", "transfer, summed over its ranks"}, group.transfer);
        out.Field(Key{"waiting_ns", "waiting, summed over its ranks"}, group.waits);
        out.List(Key{"rows", "ranks of the group: places in `ranks.table`, from 0"}, group.ranks);
      });
}

void BlameSizes(auto& out, const RankBlame& blame) {
  out.Rows(
      Key{"sizes",
          "collectives whose traces give their size, by kind and size, most transfer time first; "
          "empty if the traces have no sizes (`In msg nelems` of NCCL's kernels)"},
      blame.sizes, [&](const CollectiveSize& size) {
        out.Field(Key{"op",
                      "kind: `all-reduce`, `all-gather`, `reduce-scatter`, `all-to-all`, "
                      "`broadcast`, `reduce`, `gather` or `scatter`"},
                  CollectiveOpId(size.op));
        out.Field(Key{"group", "kind of the group, as in `ranks.blame.groups`"},
                  UnlessEmpty(GroupKindId(size.group)));
        out.Field(Key{"ranks", "number of ranks in the process group, also those without a trace"},
                  size.ranks);
        out.Field(Key{"bytes",
                      "bytes of all data: of the tensor that is reduced, or of what all ranks give "
                      "or get together"},
                  size.bytes);
        out.Field(Key{"count", "number of these collectives"}, size.count);
        out.Field(
            Key{"transfer_ns", "median of their transfer: of the shortest part, without waiting"},
            size.transfer);
        out.Field(Key{"transfer_sum_ns", "sum of their transfer"}, size.total);
        out.Field(Key{"algbw_gigabytes_per_second",
                      "algorithm bandwidth: `bytes` over `transfer_ns`, decimal GB"},
                  size.algorithm_bandwidth());
        out.Field(
            Key{"busbw_gigabytes_per_second",
                "bus bandwidth as nccl-tests define it: the algorithm bandwidth times 2(n-1)/n "
                "for an all-reduce of n ranks, 1 for a broadcast or reduce, (n-1)/n for the "
                "others"},
            size.bus_bandwidth());
      });
  out.Field(Key{"sizes_left_out", "number of kinds and sizes left out: 1,000 are listed"},
            UnlessIs(blame.sizes_left_out, size_t{0}));
}

void ExpertRows(auto& out, const RankTable& ranks) {
  const ExpertBalance& experts = ranks.blame.experts;
  out.Rows(
      Key{"table", "ranks that took part in these layers, in the order of `ranks.table`"},
      experts.table, [&](const ExpertBalance::Row& row) {
        const RankRow none;
        const RankRow& rank = row.rank < ranks.rows.size() ? ranks.rows[row.rank] : none;
        out.Field(Key{"rank", "rank, as in `ranks.table`"}, rank.rank);
        out.Field(Key{"path", "path of the trace"}, rank.path);
        out.Field(Key{"row", "place in `ranks.table`, from 0"}, row.rank);
        out.Field(Key{"layers", "number of layers that it took part in"}, row.layers);
        out.Field(Key{"longest", "number of those in which its grouped GEMMs took longest"},
                  row.longest);
        out.Field(Key{"others", "number of other ranks in these layers"}, row.others);
        out.Field(Key{"gemms_ns", "time of its grouped GEMMs"}, row.gemms);
        out.Field(Key{"longer_ns",
                      "time by which they took longer than the mean of the others', summed over "
                      "layers; below 0: less long"},
                  Signed(row.longer));
        out.Field(Key{"caused_ns", "time that others waited for its grouped GEMMs"}, row.caused);
        out.Field(Key{"cost_a_step_ns",
                      "time that each of the others waited for them, a step; absent without steps"},
                  experts.cost_a_step(row));
        out.Field(Key{"stands_out",
                      "`true`: its grouped GEMMs took longest again and again, by 2 % or more, and "
                      "the others waited for it"},
                  row.stands_out);
      });
}

void Experts(auto& out, const RankTable& ranks) {
  const ExpertBalance& experts = ranks.blame.experts;
  out.BeginObject(Key{"experts",
                      "balance of experts: grouped GEMMs of the ranks, from one matched collective "
                      "to the next (a layer), and the waits for them"});
  const bool known = experts.layers > 0;
  if (Holds(out, !known))
    out.Field(Key{"absent",
                  "reason why there are no figures: `no-grouped-gemms` (none ran before a matched "
                  "collective); then no other field is there"},
              "no-grouped-gemms");
  if (Holds(out, known)) {
    out.Field(Key{"layers", "number of matched collectives with grouped GEMMs before them"},
              experts.layers);
    out.Field(Key{"exchanged",
                  "number of those that are collectives of an expert-parallel group (combine); in "
                  "the others the waits hide in an all-reduce or a barrier"},
              experts.exchanged);
    out.Field(Key{"steps", "number of engine steps, of the rank with most; absent without steps"},
              UnlessIs(experts.steps, size_t{0}));
    out.Field(Key{"slowest_ns", "sum over the layers of the longest time of a rank"},
              experts.slowest);
    out.Field(Key{"above_mean_ns",
                  "time by which that is longer than the mean over the ranks: what equal experts "
                  "would save at most"},
              experts.above_mean);
    out.Field(Key{"above_mean_a_step_ns", "the same, a step; absent without steps"},
              experts.a_step(experts.above_mean));
    out.Field(Key{"imbalance", "ratio of longest time and mean, 1 or more"}, experts.imbalance());
    out.Field(Key{"waiting_ns", "waiting that is charged to grouped GEMMs, over all ranks"},
              experts.waits);
    ExpertRows(out, ranks);
  }
  out.End();
}

void Blame(auto& out, const RankTable& ranks) {
  const RankBlame& blame = ranks.blame;
  out.BeginObject(
      Key{"blame", "waiting in collectives: for whom, and why; if several ranks have traces"});
  const bool known = blame.absent == RankBlame::Absent::kNo;
  if (Holds(out, !known))
    out.Field(Key{"absent",
                  "reason why there are no figures: `no-events` (several results that were read "
                  "back together, or only some of their ranks), "
                  "`no-collectives`, `no-match` (nothing says which kernels of two ranks are one "
                  "collective), `clocks` (their ends do not agree), `outside` (of the window that "
                  "was asked for), `on-cpu` (engines on the CPU, whose waits are not looked at); "
                  "then no other field is there"},
              AbsentId(blame.absent));
  if (Holds(out, known)) {
    out.Field(Key{"method",
                  "`shortest-part`: the shortest part of a collective is its transfer, what "
                  "another part is longer is waiting"},
              "shortest-part");
    out.Field(Key{"class",
                  "class of all: `transfer` (at most a third of the time in collectives was "
                  "waiting), `arrival-skew` (two thirds or more), `mixed` (in between) or "
                  "`inconclusive` (the ends of collectives agree too little to say)"},
              SkewClassId(blame.type));
    out.Field(Key{"transfer_ns",
                  "transfer, summed over all ranks; with `waiting_ns` the time in matched "
                  "collectives"},
              blame.transfer);
    out.Field(Key{"waiting_ns", "waiting, summed over all ranks"}, blame.waits);
    out.Field(Key{"collectives", "number of matched collectives that are charged"},
              blame.collectives);
    out.Field(Key{"matched_share", "share, 0..1, of matched ones in all communication kernels"},
              blame.matched_share);
    out.Field(Key{"residual_ns",
                  "difference between the ends of a collective on two ranks: the median distance "
                  "from the median, where it is largest"},
              blame.residual);
    out.BeginRow(Key{"collectives_of_class", "number of collectives by class"});
    for (size_t i = 0; i < blame.of_class.size(); ++i)
      out.Field(SkewClassId(static_cast<SkewClass>(i)), blame.of_class[i]);
    out.End();
    BlameRows(out, ranks);
    BlameGroups(out, blame);
    BlameSizes(out, blame);
    Experts(out, ranks);
  }
  out.End();
}

}  // namespace tacho::schema
