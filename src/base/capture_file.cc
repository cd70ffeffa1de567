#include "base/capture_file.h"

#include <algorithm>
#include <array>

#include "base/words.h"

namespace tacho {
namespace {

// Finds `mark` followed by digits in `text`. Returns the position after the digits; npos if there
// is none.
size_t BehindNumber(std::string_view text, std::string_view mark) {
  for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    size_t end = at + mark.size();
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (end > at + mark.size()) return end;
  }
  return std::string_view::npos;
}

}  // namespace

bool IsCaptureFile(std::string_view path) {
  static constexpr std::array<std::string_view, 2> kFolders{"graph_capture_profile",
                                                            "capture_traces"};
  const size_t slash = path.find_last_of("/:");
  const std::string_view name = path.substr(slash + 1);
  for (std::string_view rest = path.substr(0, slash == std::string_view::npos ? 0 : slash);
       !rest.empty();) {
    const size_t before = rest.find_last_of("/:");
    if (std::ranges::find(kFolders, rest.substr(before + 1)) != kFolders.end()) return true;
    rest = rest.substr(0, before == std::string_view::npos ? 0 : before);
  }
  if (name.starts_with("cuda_graph_capture-") || name.starts_with("graph_capture_rank_")) {
    return true;
  }
  // The file name, such as "DecodeCudaGraphRunner_bs_8_rank0.json.gz".
  const size_t size = BehindNumber(name, name.starts_with("bs_") ? "bs_" : "_bs_");
  if (size == std::string_view::npos) return false;
  const std::string_view rest = name.substr(size);
  const size_t rank = BehindNumber(rest, "_rank");
  return rank != std::string_view::npos && rest.substr(rank).starts_with(".json");
}

}  // namespace tacho
