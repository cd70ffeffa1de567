// The ranks of a run: whom they waited for, their experts, and the collectives by size.
#include <algorithm>

#include "report/tables/result_tables.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"

namespace tacho {

Table RankBlameTable(const RankTable& ranks, std::string title) {
  Table table{"rank_blame",
              {TableColumn{"rank"}.FileOnly(), TableColumn{"path"}.FileOnly(),
               TableColumn{"name", std::move(title)}
                   .Means("name of the rank: `w0 TP1`, or its path")
                   .Stretches(),
               TableColumn{"collectives", "collectives", Unit::kCount}.GivesWay(),
               TableColumn{"last", "came last", Unit::kCount}.GivesWay(),
               TableColumn{"transfer_ns", "transfer", Unit::kDuration}.GivesWay(),
               TableColumn{"suffered_ns", "waited", Unit::kDuration},
               TableColumn{"caused_ns", "waited for", Unit::kDuration},
               TableColumn{"late_ns", "late", Unit::kDuration},
               TableColumn{"", "mostly for"}.ScreenOnly(), TableColumn{"stands_out"}.FileOnly(),
               TableColumn{"cause"}
                   .Means("largest cause, as in `ranks.blame.table[].caused_by`")
                   .FileOnly(),
               TableColumn{"cause_ns", "", Unit::kDuration}.Means("time of that cause").FileOnly()},
              {}};
  const std::vector<Straggler> stragglers = FindStragglers(ranks);
  for (const RankBlame::Row& row : ranks.blame.table) {
    const RankRow& rank = ranks.rows[row.rank];
    const SkewCause* main = row.caused_by.empty() ? nullptr : &row.caused_by.front();
    table.Add(
        {CellOf(rank.rank), rank.path, RankLabel(ranks, rank), CountCell(row.collectives),
         CountCell(row.last), row.transfer.ns, row.suffered.ns, row.caused.ns, row.late.ns,
         main == nullptr ? Cell() : Cell(SkewCauseText(*main)),
         std::string(row.stands_out ? "yes" : "no"), main == nullptr ? Cell() : Cell(main->Id()),
         main == nullptr ? Cell() : Cell(main->time.ns)},
        std::ranges::find(stragglers, row.rank, &Straggler::row) != stragglers.end()
            ? Paint::kRed
            : Paint::kPlain);
  }
  return table;
}

Table RankExpertsTable(const RankTable& ranks, std::string title) {
  Table table{"rank_experts",
              {TableColumn{"rank"}.FileOnly(), TableColumn{"path"}.FileOnly(),
               TableColumn{"name", std::move(title)}
                   .Means("name of the rank: `w0 TP1`, or its path")
                   .Stretches(),
               TableColumn{"layers", "layers", Unit::kCount},
               TableColumn{"longest", "longest in", Unit::kCount},
               TableColumn{"gemms_ns", "grouped GEMMs", Unit::kDuration},
               TableColumn{"longer_ns", "longer by", Unit::kDuration},
               TableColumn{"caused_ns", "waited for", Unit::kDuration},
               TableColumn{"cost_a_step_ns", "each, a step", Unit::kDuration},
               TableColumn{"stands_out"}.FileOnly()},
              {}};
  const ExpertBalance& experts = ranks.blame.experts;
  for (const ExpertBalance::Row& row : experts.table) {
    const RankRow& rank = ranks.rows[row.rank];
    const auto cost = experts.cost_a_step(row);
    table.Add({CellOf(rank.rank), rank.path, RankLabel(ranks, rank), CountCell(row.layers),
               CountCell(row.longest), row.gemms.ns, row.longer.ns, row.caused.ns,
               cost ? Cell(cost->ns) : Cell(), std::string(row.stands_out ? "yes" : "no")},
              row.stands_out ? Paint::kRed : Paint::kPlain);
  }
  return table;
}

Table CollectiveSizesTable(const RankBlame& blame, std::string title) {
  Table table{
      "collective_sizes",
      {TableColumn{"op", std::move(title)}.Stretches(), TableColumn{"group", "group"},
       TableColumn{"ranks", "ranks", Unit::kCount}, TableColumn{"bytes", "bytes", Unit::kBytes},
       TableColumn{"count", "count", Unit::kCount},
       TableColumn{"transfer_ns", "transfer", Unit::kDuration},
       TableColumn{"transfer_sum_ns", "sum", Unit::kDuration}.GivesWay(),
       TableColumn{"algbw_gigabytes_per_second", "algbw GB/s", Unit::kNumber},
       TableColumn{"busbw_gigabytes_per_second", "busbw GB/s", Unit::kNumber}},
      {}};
  for (const CollectiveSize& size : blame.sizes) {
    table.Add({std::string(CollectiveOpId(size.op)), std::string(GroupKindId(size.group)),
               size.ranks, size.bytes, CountCell(size.count), size.transfer.ns, size.total.ns,
               size.algorithm_bandwidth(), size.bus_bandwidth()});
  }
  return table;
}

}  // namespace tacho
