#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/work_times.h"
#include "stats/figures.h"
#include "text/table.h"

namespace tacho {

// Columns with the headings of the CSV files of `nsys stats`, such as "Total Time (ns)". Durations
// are in nanoseconds.
TableColumn StatsInteger(const std::string& name);
TableColumn StatsNumber(const std::string& name, int decimals = 1);
TableColumn StatsText(const std::string& name);  // may be shortened on a screen
TableColumn StatsName(const std::string& name);  // the same, for the column that names the row

// Collects integers in groups. The key of a group is a list of texts.
class StatsGroups {
 public:
  using Key = std::vector<std::string>;
  uint32_t GroupOf(Key key);
  void Add(uint32_t group, int64_t value) { values_[group].own.push_back(value); }
  void Add(uint32_t group, const WorkTimes::Lists& values);  // `values` must outlive this object

  struct Group {
    Key key;
    Figures figures;
  };
  // The figures of all groups that have values, sorted by total, largest first, then by key.
  // `threads`: how many threads to use; 0: one for each core.
  [[nodiscard]] std::vector<Group> Finish(size_t threads) &&;

 private:
  struct Values {
    std::vector<int64_t> own;
    std::vector<FigureList> lists;
  };
  std::map<Key, uint32_t> ids_;
  std::vector<Values> values_;
};

// A table with "Time (%)", "Total Time (ns)", `count`, "Avg (ns)", "Med (ns)", "Min (ns)", "Max
// (ns)" and "StdDev (ns)", then the texts of the group's key in the columns `texts`. "Time (%)" is
// the row's share of the total of all rows.
Table TimeSummary(const std::string& name, const std::string& count,
                  const std::vector<TableColumn>& texts, StatsGroups groups, size_t threads = 1);

// Appends Avg, Med, Min, Max and StdDev, rounded to one decimal as nsys does.
void AppendFigures(const Figures& figures, std::vector<Cell>& cells);

}  // namespace tacho
