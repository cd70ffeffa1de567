#include "text/short_paths.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

namespace tacho {
namespace {

// Removes the extensions of a trace file: "x.pt.trace.json.gz" becomes "x". Never returns "".
std::string_view WithoutEndings(std::string_view name) {
  for (const std::string_view ending : {".gz", ".zst", ".json", ".trace", ".pt"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

}  // namespace

std::vector<std::string> ShortPaths(const std::vector<std::string>& paths) {
  if (paths.empty()) return paths;
  size_t common = paths[0].size();
  for (const std::string& path : paths) {
    const auto [mine, theirs] =
        std::mismatch(paths[0].begin(), paths[0].begin() + static_cast<std::ptrdiff_t>(common),
                      path.begin(), path.end());
    common = static_cast<size_t>(mine - paths[0].begin());
  }
  // Several traces in one file are named "FILE#pid=1", "FILE#pid=2".
  const size_t slash = paths[0].substr(0, common).find_last_of(paths.size() > 1 ? "/:#" : "/:");
  std::vector<std::string> shorter;
  std::map<std::string, size_t> uses;
  for (const std::string_view path : paths) {
    const size_t from = slash == std::string::npos ? 0 : slash + 1;
    shorter.emplace_back(WithoutEndings(path.substr(std::min(from, path.size()))));
    ++uses[shorter.back()];
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    if (uses[shorter[i]] > 1) shorter[i] = paths[i];
  }
  return shorter;
}

}  // namespace tacho
