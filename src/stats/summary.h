#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "stats/figures.h"
#include "text/table.h"

namespace tacho {

// Columns as `nsys stats` heads them in CSV files: "Total Time (ns)". Durations are nanoseconds.
TableColumn StatsInteger(const std::string& name);
TableColumn StatsNumber(const std::string& name, int decimals = 1);
TableColumn StatsText(const std::string& name);  // shortened on the screen
TableColumn StatsName(const std::string& name);  // the same, of the row

// Integers by a key of texts.
class StatsGroups {
 public:
  using Key = std::vector<std::string>;
  uint32_t GroupOf(Key key);
  void Add(uint32_t group, int64_t value) { values_[group].push_back(value); }

  struct Group {
    Key key;
    Figures figures;
  };
  // Those with a value, by total, largest first, then by key.
  [[nodiscard]] std::vector<Group> Finish() &&;

 private:
  std::map<Key, uint32_t> ids_;
  std::vector<std::vector<int64_t>> values_;
};

// Caches the group of a small key of one trace.
template <typename Small, typename Hash = std::hash<Small>>
class GroupCache {
 public:
  template <typename Make>
  uint32_t Get(const Small& small, const Make& make) {
    const auto [known, added] = groups_.try_emplace(small, 0);
    if (added) known->second = make();
    return known->second;
  }

 private:
  std::unordered_map<Small, uint32_t, Hash> groups_;
};

// "Time (%)", "Total Time (ns)", `count`, "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)",
// "StdDev (ns)", and the texts of the key, which `texts` heads. The share is that of the total of
// all rows.
Table TimeSummary(const std::string& name, const std::string& count,
                  const std::vector<TableColumn>& texts, StatsGroups groups);

// Avg, Med, Min, Max and StdDev, which nsys rounds to one decimal.
void AppendFigures(const Figures& figures, std::vector<Cell>& cells);

}  // namespace tacho
