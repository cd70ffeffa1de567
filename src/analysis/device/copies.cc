#include "analysis/device/copies.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/index/arg_reader.h"
#include "analysis/index/gpu_scope.h"
#include "analysis/index/name_index.h"
#include "base/add_counted.h"

namespace tacho {
namespace {

// The direction of a copy: "HtoD" for "Memcpy HtoD (Pinned -> Device)".
std::string_view KindOfCopy(std::string_view name) {
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return name;
  const std::string_view rest = name.substr(kPrefix.size());
  const std::string_view kind = rest.substr(0, rest.find(' '));
  return kind.empty() ? name : kind;
}

// The bytes that a copy reports; nullopt for a size that no copy can have.
std::optional<int64_t> Plausible(std::optional<int64_t> bytes) {
  constexpr int64_t kMost = int64_t{1} << 50;
  return bytes && *bytes >= 0 && *bytes <= kMost ? bytes : std::nullopt;
}

}  // namespace

std::optional<double> CopyRow::gigabytes_per_second() const {
  if (!bytes || total.ns <= 0) return std::nullopt;
  return static_cast<double>(*bytes) /
         static_cast<double>(total.ns);  // bytes per nanosecond are GB/s
}

CopyTable TabulateCopies(const Trace& trace, const Scope& scope) {
  CopyTable table;
  const ArgReader bytes(trace, "bytes");
  const GpuScope counts(trace, scope);
  NameIndex names(trace);
  std::vector<CopyRow> by_name;
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    const SliceKind kind = trace.gpu.kind[row];
    if (kind == SliceKind::kKernel || !counts.Counts(row)) continue;
    const DurationNs duration{trace.gpu.duration[row]};
    const std::optional<int64_t> moved = Plausible(bytes.Integer(GpuArgs(trace, row)));
    if (kind == SliceKind::kMemset) {
      ++table.memsets.count;
      table.memsets.total += duration;
      AddCounted(table.memsets.bytes, moved);
      continue;
    }
    const uint32_t number = names[trace.gpu.name[row]];
    if (number == by_name.size()) by_name.emplace_back();
    CopyRow& copies = by_name[number];
    ++copies.count;
    copies.total += duration;
    AddCounted(copies.bytes, moved);
  }

  std::unordered_map<std::string_view, size_t> row_of_kind;
  for (size_t i = 0; i < by_name.size(); ++i) {
    const std::string_view name = trace.Text(names.names()[i]);
    const std::string_view kind = KindOfCopy(name);
    const auto [known, added] = row_of_kind.try_emplace(kind, table.copies.size());
    if (added) table.copies.emplace_back().kind = kind;
    CopyRow* const row = &table.copies[known->second];
    row->count += by_name[i].count;
    row->total += by_name[i].total;
    AddCounted(row->bytes, by_name[i].bytes);
    if (name.find("Pageable") != std::string_view::npos) row->pageable += by_name[i].count;
  }
  std::sort(table.copies.begin(), table.copies.end(), [](const CopyRow& a, const CopyRow& b) {
    return a.total != b.total ? a.total > b.total : a.kind < b.kind;
  });
  return table;
}

}  // namespace tacho
