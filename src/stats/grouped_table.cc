#include "stats/grouped_table.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "base/time.h"

namespace tacho {

TableColumn StatsInteger(const std::string& name) { return {name, name, Unit::kExact}; }

TableColumn StatsNumber(const std::string& name, int decimals) {
  return TableColumn{name, name, Unit::kExact}.Decimals(decimals);
}

TableColumn StatsText(const std::string& name) { return {name, name}; }

TableColumn StatsName(const std::string& name) {
  return TableColumn{name, name}.Stretches().Distinct();
}

uint32_t StatsGroups::GroupOf(Key key) {
  const auto [known, added] = ids_.try_emplace(std::move(key), values_.size());
  if (added) values_.emplace_back();
  return known->second;
}

void StatsGroups::Add(uint32_t group, const WorkTimes::Lists& values) {
  for (const Column<int64_t>& list : values) {
    if (list.size() > 0) values_[group].lists.push_back({{list.begin(), list.size()}});
  }
}

std::vector<StatsGroups::Group> StatsGroups::Finish(size_t threads) && {
  std::vector<Group> groups;
  std::vector<std::pair<size_t, size_t>> by_size;  // number of values, index of the group
  std::vector<const Values*> values;
  for (auto& [key, id] : ids_) {
    Values& of_key = values_[id];
    if (!of_key.own.empty()) of_key.lists.push_back({of_key.own});
    if (of_key.lists.empty()) continue;
    size_t count = 0;
    for (const FigureList& list : of_key.lists) count += list.values.size();
    by_size.emplace_back(count, groups.size());
    values.push_back(&of_key);
    groups.push_back({key, {}});
  }
  std::ranges::sort(by_size, std::greater());
  // Only large groups are worth a thread; most recordings have none.
  constexpr size_t kLarge = 50'000;
  const auto first_small = std::ranges::partition_point(
      by_size, [](const auto& group) { return group.first >= kLarge; });
  const auto large = static_cast<size_t>(first_small - by_size.begin());
  ParallelFor(large, threads, [&](size_t i) {
    const size_t group = by_size[i].second;
    groups[group].figures = FiguresOf(values[group]->lists);
  });
  for (size_t i = large; i < by_size.size(); ++i) {
    const size_t group = by_size[i].second;
    groups[group].figures = FiguresOf(values[group]->lists);
  }
  std::ranges::stable_sort(groups, std::greater(),
                           [](const Group& group) { return group.figures.total; });
  return groups;
}

void AppendFigures(const Figures& figures, std::vector<Cell>& cells) {
  cells.emplace_back(RoundAsSqlite(figures.avg, 1));
  cells.emplace_back(RoundAsSqlite(figures.med, 1));
  cells.emplace_back(figures.min);
  cells.emplace_back(figures.max);
  cells.emplace_back(RoundAsSqlite(figures.stddev, 1));
}

Table TimeSummary(const std::string& name, const std::string& count,
                  const std::vector<TableColumn>& texts, StatsGroups groups, size_t threads) {
  Table table{name,
              {StatsNumber("Time (%)").Adds(), StatsInteger("Total Time (ns)").Adds(),
               StatsInteger(count).Adds(), StatsNumber("Avg (ns)"),
               StatsNumber("Med (ns)").GivesWay(2), StatsInteger("Min (ns)").GivesWay(2),
               StatsInteger("Max (ns)").GivesWay(1), StatsNumber("StdDev (ns)").GivesWay(3)},
              {}};
  table.columns.insert(table.columns.end(), texts.begin(), texts.end());
  const auto rows = std::move(groups).Finish(threads);
  int64_t total = 0;
  for (const auto& row : rows) total = AddSaturated(total, row.figures.total);
  for (const auto& row : rows) {
    const double share =
        static_cast<double>(row.figures.total) * 100.0 / static_cast<double>(total);
    std::vector<Cell> cells{total == 0 ? Cell() : Cell(RoundAsSqlite(share, 1)), row.figures.total,
                            row.figures.count};
    AppendFigures(row.figures, cells);
    for (const std::string& text : row.key) cells.emplace_back(text);
    table.Add(std::move(cells));
  }
  return table;
}

}  // namespace tacho
