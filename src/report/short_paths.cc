#include "report/short_paths.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tacho {

std::vector<std::string> ShortPaths(const std::vector<std::string>& paths) {
  if (paths.empty()) return paths;
  size_t common = paths[0].size();
  for (const std::string& path : paths) {
    const auto [mine, theirs] =
        std::mismatch(paths[0].begin(), paths[0].begin() + static_cast<std::ptrdiff_t>(common),
                      path.begin(), path.end());
    common = static_cast<size_t>(mine - paths[0].begin());
  }
  const size_t slash = paths[0].substr(0, common).find_last_of("/:");
  std::vector<std::string> shorter;
  for (std::string path : paths) {
    if (slash != std::string::npos) path.erase(0, slash + 1);
    if (path.ends_with(".gz")) path.erase(path.size() - 3);
    for (const std::string_view ending : {".json", ".trace", ".pt"}) {
      if (const size_t at = path.rfind(ending); at != std::string::npos && at > 0)
        path.erase(at, ending.size());
    }
    shorter.push_back(std::move(path));
  }
  return shorter;
}

}  // namespace tacho
