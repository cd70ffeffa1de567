#include "analysis/schema/trace_fields.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/utf8.h"

namespace tacho::schema {

std::vector<Note> RowsOf(const Notes& notes) { return notes.list(); }

void Set(const std::vector<Note>& rows, Notes& notes) {
  for (const Note& row : rows) notes.Add(row.id, row.where, row.count);
}

std::string_view NoteName(NoteId id) { return KindOf(id).id; }

std::string ComputeCapability(const DeviceProperties& device) {
  return device.compute_major > 0 ? fmt::format("{}.{}", device.compute_major, device.compute_minor)
                                  : "";
}

void SetComputeCapability(std::string_view text, DeviceProperties& device) {
  const size_t point = text.find('.');
  device.compute_major = ParseWhole<int64_t>(text.substr(0, point)).value_or(0);
  if (point != std::string_view::npos)
    device.compute_minor = ParseWhole<int64_t>(text.substr(point + 1)).value_or(0);
}

std::map<std::string, uint64_t> Printed(const NamedCounts& counts) {
  std::map<std::string, uint64_t> printed;
  for (const auto& [name, count] : counts) printed[ValidUtf8(name)] += count;
  return printed;
}

}  // namespace tacho::schema
