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

// Columns as `nsys stats` heads them in CSV files: "Total Time (ns)". Durations are nanoseconds.
TableColumn StatsInteger(const std::string& name);
TableColumn StatsNumber(const std::string& name, int decimals = 1);
TableColumn StatsText(const std::string& name);  // shortened on the screen
TableColumn StatsName(const std::string& name);  // the same, for the name of the row

// Groups integers by a key of texts.
class StatsGroups {
 public:
  using Key = std::vector<std::string>;
  uint32_t GroupOf(Key key);
  void Add(uint32_t group, int64_t value) { values_[group].own.push_back(value); }
  void Add(uint32_t group, const WorkTimes::Lists& values);  // `values` must outlive this

  struct Group {
    Key key;
    Figures figures;
  };
  // The groups with a value, by total, largest first, then by key. On `threads` threads; 0: one for
  // each core.
  [[nodiscard]] std::vector<Group> Finish(size_t threads) &&;

 private:
  struct Values {
    std::vector<int64_t> own;
    std::vector<FigureList> lists;
  };
  std::map<Key, uint32_t> ids_;
  std::vector<Values> values_;
};

// "Time (%)", "Total Time (ns)", `count`, "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev
// (ns)", and the texts of the key under the headings `texts`. "Time (%)" is the share of the total
// of all rows.
Table TimeSummary(const std::string& name, const std::string& count,
                  const std::vector<TableColumn>& texts, StatsGroups groups, size_t threads = 1);

// Avg, Med, Min, Max and StdDev, which nsys rounds to one decimal.
void AppendFigures(const Figures& figures, std::vector<Cell>& cells);

}  // namespace tacho
