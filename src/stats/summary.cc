#include "stats/summary.h"

#include <algorithm>
#include <utility>

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

std::vector<StatsGroups::Group> StatsGroups::Finish() && {
  std::vector<Group> groups;
  for (auto& [key, id] : ids_) {
    if (!values_[id].empty()) groups.push_back({key, FiguresOf(values_[id])});
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
                  const std::vector<TableColumn>& texts, StatsGroups groups) {
  Table table{name,
              {StatsNumber("Time (%)").Adds(), StatsInteger("Total Time (ns)").Adds(),
               StatsInteger(count).Adds(), StatsNumber("Avg (ns)"),
               StatsNumber("Med (ns)").GivesWay(1), StatsInteger("Min (ns)").GivesWay(2),
               StatsInteger("Max (ns)").GivesWay(2), StatsNumber("StdDev (ns)").GivesWay(3)},
              {}};
  table.columns.insert(table.columns.end(), texts.begin(), texts.end());
  const auto rows = std::move(groups).Finish();
  int64_t total = 0;
  for (const auto& row : rows) total += row.figures.total;
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
