#include "report/words/kernel_names.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/names/classifier.h"

namespace tacho {

std::vector<std::string> ShownKernelNames(const std::vector<std::string_view>& names,
                                          const TextStyle& style) {
  std::vector<std::string> shown;
  for (const std::string_view name : names) {
    shown.push_back(style.whole_names ? DemangledName(name) : ShortKernelName(name));
  }
  // Lengthens names that different kernels share; returns whether a name changed.
  const auto replace_alike = [&](auto longer) {
    bool changed = false;
    std::unordered_map<std::string, std::set<std::string_view>> named;
    for (size_t i = 0; i < names.size(); ++i) named[shown[i]].insert(names[i]);
    for (size_t i = 0; i < names.size(); ++i) {
      if (named[shown[i]].size() == 1) continue;
      std::string other = longer(names[i]);
      changed = changed || other != shown[i];
      shown[i] = std::move(other);
    }
    return changed;
  };
  if (!style.whole_names) {
    replace_alike(NestedKernelName);
    replace_alike(WholeKernelName);
    replace_alike(DemangledName);
  }
  while (replace_alike([](std::string_view name) { return std::string(name); })) {
  }
  return shown;
}

}  // namespace tacho
