#include "analysis/copies.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/arg_reader.h"
#include "analysis/gpu_scope.h"
#include "analysis/name_index.h"

namespace tacho {
namespace {

// "Memcpy HtoD (Pinned -> Device)" is of the kind "HtoD".
std::string_view KindOfCopy(std::string_view name) {
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return name;
  const std::string_view rest = name.substr(kPrefix.size());
  const std::string_view kind = rest.substr(0, rest.find(' '));
  return kind.empty() ? name : kind;
}

void AddBytes(std::optional<int64_t>& to, std::optional<int64_t> more) {
  if (more) to = to.value_or(0) + *more;
}

}  // namespace

std::optional<double> CopyRow::gigabytes_per_second() const {
  if (!bytes || total.ns <= 0) return std::nullopt;
  return static_cast<double>(*bytes) /
         static_cast<double>(total.ns);  // bytes a nanosecond are GB/s
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
    const std::optional<int64_t> moved = bytes.Integer(GpuArgs(trace, row));
    if (kind == SliceKind::kMemset) {
      ++table.memsets.count;
      table.memsets.total += duration;
      AddBytes(table.memsets.bytes, moved);
      continue;
    }
    const uint32_t number = names[trace.gpu.name[row]];
    if (number == by_name.size()) by_name.emplace_back();
    CopyRow& copies = by_name[number];
    ++copies.count;
    copies.total += duration;
    AddBytes(copies.bytes, moved);
  }

  for (size_t i = 0; i < by_name.size(); ++i) {
    const std::string_view name = trace.Text(names.names()[i]);
    const std::string_view kind = KindOfCopy(name);
    auto row = std::find_if(table.copies.begin(), table.copies.end(),
                            [&](const CopyRow& r) { return r.kind == kind; });
    if (row == table.copies.end()) {
      row = table.copies.emplace(row);
      row->kind = kind;
    }
    row->count += by_name[i].count;
    row->total += by_name[i].total;
    AddBytes(row->bytes, by_name[i].bytes);
    if (name.find("Pageable") != std::string_view::npos) row->pageable += by_name[i].count;
  }
  std::sort(table.copies.begin(), table.copies.end(), [](const CopyRow& a, const CopyRow& b) {
    return a.total != b.total ? a.total > b.total : a.kind < b.kind;
  });
  return table;
}

}  // namespace tacho
