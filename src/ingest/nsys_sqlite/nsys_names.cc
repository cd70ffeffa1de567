#include "ingest/nsys_sqlite/nsys_names.h"

#include <fmt/format.h>

#include <array>

#include "base/parse_number.h"

namespace tacho::nsys {
namespace {

std::string_view CopyKind(int64_t kind) {
  static constexpr std::array<std::string_view, 14> kKinds{
      "Unknown", "HtoD", "DtoH", "HtoA", "AtoH",    "AtoA",    "AtoD",
      "DtoA",    "DtoD", "HtoH", "PtoP", "UvmHtoD", "UvmDtoH", "UvmDtoD"};
  return kind >= 0 && kind < static_cast<int64_t>(kKinds.size()) ? kKinds[static_cast<size_t>(kind)]
                                                                 : kKinds[0];
}

}  // namespace

std::string_view MemoryKind(std::optional<int64_t> kind) {
  static constexpr std::array<std::string_view, 7> kKinds{
      "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
  return kind && *kind >= 0 && *kind < static_cast<int64_t>(kKinds.size())
             ? kKinds[static_cast<size_t>(*kind)]
             : "Unknown";
}

std::string CopyName(int64_t kind, std::optional<int64_t> from, std::optional<int64_t> to) {
  return fmt::format("Memcpy {} ({} -> {})", CopyKind(kind), MemoryKind(from), MemoryKind(to));
}

std::string MemsetName(std::optional<int64_t> memory) {
  return fmt::format("Memset ({})", MemoryKind(memory));
}

CallName SplitCallName(std::string_view full) {
  constexpr size_t kFewestDigits = 4;  // fewer belong to the name, as in "cuMemAlloc_v2"
  const size_t at = full.rfind("_v");
  if (at == std::string_view::npos || full.size() - at - 2 < kFewestDigits) return {full, -1};
  const auto version = ParseWhole<int64_t>(full.substr(at + 2));
  return version && *version >= 0 ? CallName{full.substr(0, at), *version} : CallName{full, -1};
}

}  // namespace tacho::nsys
