#include "analysis/device/kernels.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "analysis/index/name_index.h"

namespace tacho {
namespace {

constexpr DurationNs kShort{10'000};

// The items of one name on one device.
struct Group {
  StringId name;
  WorkCategory category = Classifier::kUnclassified;
  size_t count = 0;
  std::span<int64_t> durations;  // points into Groups::durations
};
struct Groups {
  std::vector<Group> groups;
  std::vector<int64_t> durations;
};

Groups GroupByName(NameIndex& names, const DeviceWork& work, const DeviceItems& device,
                   const Scope& scope) {
  Groups result;
  std::vector<Group>& groups = result.groups;
  names.Clear();
  const auto counts = [&](const WorkItem& item) {
    return (item.kind == WorkKind::kCompute || item.kind == WorkKind::kCommunication) &&
           !item.continued && scope.Counts(item.when.start);
  };
  size_t total = 0;
  for (const WorkItem& item : device.items) {
    if (!counts(item)) continue;
    const uint32_t group = names[item.name];
    if (group == groups.size()) groups.push_back({item.name, item.category, 0, {}});
    ++groups[group].count;
    ++total;
  }
  result.durations.resize(total);
  int64_t* next = result.durations.data();
  for (Group& group : groups) {
    group.durations = {next, 0};
    next += group.count;
  }
  for (const WorkItem& item : device.items) {
    if (!counts(item)) continue;
    std::span<int64_t>& filled = groups[names[item.name]].durations;
    filled = {filled.data(), filled.size() + 1};
    filled.back() = work.TimeOf(item).ns;
  }
  return result;
}

// Finds percentiles among many durations. It first counts the durations in cells of about 2 %
// width, then looks closely only at the cells that hold a percentile.
class Percentiles {
 public:
  explicit Percentiles(std::span<const int64_t> durations)
      : durations_(durations), counts_(kCells) {
    for (const int64_t ns : durations_) ++counts_[CellOf(ns)];
  }

  // The `rank`-th smallest duration, counted from 0.
  int64_t At(size_t rank) {
    size_t cell = 0;
    while (rank >= counts_[cell]) rank -= counts_[cell++];
    if (inside_.empty() || cell != cell_of_inside_) {
      inside_.clear();
      for (const int64_t ns : durations_) {
        if (CellOf(ns) == cell) inside_.push_back(ns);
      }
      cell_of_inside_ = cell;
    }
    const auto at = inside_.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(inside_.begin(), at, inside_.end());
    return *at;
  }

 private:
  // A cell number keeps this many binary digits after the leading one.
  static constexpr int kDigits = 6;
  static constexpr size_t kCells = size_t{65 - kDigits} << kDigits;

  // The cell of a duration. Longer durations have the same or a higher cell.
  static size_t CellOf(int64_t duration) {
    const auto ns = static_cast<uint64_t>(duration);
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - kDigits - 1);
    return (static_cast<size_t>(shift) << kDigits) + static_cast<size_t>(ns >> shift);
  }

  std::span<const int64_t> durations_;
  std::vector<uint32_t> counts_;  // indexed by cell
  std::vector<int64_t> inside_;   // the durations of one cell
  size_t cell_of_inside_ = 0;
};

DurationStats SummarizeSpan(std::span<int64_t> durations) {
  constexpr size_t kMany = 4096;
  DurationStats stats;
  stats.count = durations.size();
  if (durations.empty()) return stats;
  stats.min.ns = stats.max.ns = durations.front();
  for (const int64_t ns : durations) {
    stats.total += DurationNs{ns};
    stats.min.ns = std::min(stats.min.ns, ns);
    stats.max.ns = std::max(stats.max.ns, ns);
  }
  const auto rank_of = [&](size_t percent) { return (durations.size() * percent + 99) / 100 - 1; };
  if (durations.size() < kMany || stats.min.ns < 0) {
    std::ranges::sort(durations);
    stats.p50.ns = durations[rank_of(50)];
    stats.p90.ns = durations[rank_of(90)];
    stats.p99.ns = durations[rank_of(99)];
    return stats;
  }
  Percentiles percentiles(durations);
  stats.p50.ns = percentiles.At(rank_of(50));
  stats.p90.ns = percentiles.At(rank_of(90));
  stats.p99.ns = percentiles.At(rank_of(99));
  return stats;
}

}  // namespace

DurationStats Summarize(std::vector<int64_t>& durations) { return SummarizeSpan(durations); }

KernelTable TabulateKernels(const Trace& trace, const DeviceWork& work,
                            const Classifier& classifier, const Scope& scope) {
  KernelTable table;
  DurationNs classified;
  std::vector<CategoryRow> by_category(classifier.categories().size());
  for (size_t i = 0; i < by_category.size(); ++i) {
    by_category[i].category = classifier.categories()[i];
  }
  NameIndex names(trace);
  for (const DeviceItems& device : work.devices) {
    if (!scope.device.empty() && device.device != scope.device) continue;
    const Groups groups = GroupByName(names, work, device, scope);
    for (const Group& group : groups.groups) {
      const std::string_view name = trace.Text(group.name);
      table.shorter_than_10us += static_cast<uint64_t>(
          std::ranges::count_if(group.durations, [](int64_t ns) { return ns < kShort.ns; }));
      KernelRow& row = table.rows.emplace_back();
      row.name = name;
      row.category = classifier.categories()[group.category];
      row.device = device.device;
      row.stats = SummarizeSpan(group.durations);
      by_category[group.category].count += row.stats.count;
      by_category[group.category].total += row.stats.total;
      table.total += row.stats.total;
      if (group.category != Classifier::kUnclassified) classified += row.stats.total;
    }
  }
  std::ranges::sort(table.rows, [](const KernelRow& a, const KernelRow& b) {
    if (a.stats.total != b.stats.total) return a.stats.total > b.stats.total;
    return a.name != b.name ? a.name < b.name : a.device < b.device;
  });
  table.categories = SortedCategories(std::move(by_category));
  table.coverage = table.total.ns == 0
                       ? 1.0
                       : static_cast<double>(classified.ns) / static_cast<double>(table.total.ns);
  return table;
}

}  // namespace tacho
