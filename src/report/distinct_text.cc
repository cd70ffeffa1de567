#include "report/distinct_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/classifier.h"
#include "base/utf8.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

// The length in bytes of the whole characters that both begin with.
size_t CommonPrefix(std::string_view a, std::string_view b) {
  size_t common = 0;
  while (common < a.size() && common < b.size()) {
    const size_t length = DecodeUtf8(a, common).length;
    if (a.substr(common, length) != b.substr(common, length)) break;
    common += length;
  }
  return common;
}

// The first characters of `text` that fit into `width` columns.
std::string_view Head(std::string_view text, size_t width) {
  size_t end = 0;
  while (end < text.size()) {
    const size_t next = end + DecodeUtf8(text, end).length;
    if (DisplayWidth(text.substr(0, next)) > width) break;
    end = next;
  }
  return text.substr(0, end);
}

// `text` with what stands before `from` cut down to its beginning.
std::string CutBefore(std::string_view text, size_t from, size_t width, bool unicode) {
  const std::string_view mark = unicode ? "…" : "..";
  const std::string_view head = Head(text.substr(0, from), width / 3);
  const size_t used = DisplayWidth(head) + DisplayWidth(mark);
  if (head.size() == from || used >= width) return FitText(text, width, unicode);
  return std::string(head) + std::string(mark) + FitText(text.substr(from), width - used, unicode);
}

}  // namespace

std::vector<std::string> ShownKernelNames(const std::vector<std::string_view>& names,
                                          const TextStyle& style) {
  std::vector<std::string> shown;
  for (const std::string_view name : names) {
    shown.push_back(style.whole_names ? DemangledName(name)
                                      : ShortKernelName(name, std::string::npos));
  }
  const auto replace_alike = [&](auto longer) {
    std::unordered_map<std::string, std::set<std::string_view>> named;
    for (size_t i = 0; i < names.size(); ++i) named[shown[i]].insert(names[i]);
    for (size_t i = 0; i < names.size(); ++i) {
      if (named[shown[i]].size() > 1) shown[i] = longer(names[i]);
    }
  };
  if (!style.whole_names) replace_alike(DemangledName);
  replace_alike([](std::string_view name) { return std::string(name); });
  return shown;
}

std::vector<std::string> FitDistinct(const std::vector<std::string>& cells,
                                     const std::vector<std::string>& texts, size_t width,
                                     bool unicode) {
  std::vector<std::string> fitted;
  std::map<std::string, std::vector<size_t>> alike;  // by how they look: one row of each cell
  std::set<std::string_view> seen;
  for (size_t i = 0; i < cells.size(); ++i) {
    fitted.push_back(FitText(texts[i], width, unicode));
    if (seen.insert(cells[i]).second) alike[fitted[i]].push_back(i);
  }
  std::map<std::string_view, std::string> shown;  // by cell
  std::set<std::string> taken;
  for (const auto& [look, rows] : alike) {
    if (rows.size() == 1) taken.insert(shown[cells[rows[0]]] = look);
  }
  for (const auto& [look, rows] : alike) {
    if (rows.size() == 1) continue;
    size_t common = texts[rows[0]].size();
    for (const size_t i : rows) common = std::min(common, CommonPrefix(texts[rows[0]], texts[i]));
    size_t number = 1;
    for (const size_t i : rows) {
      std::string text = CutBefore(texts[i], common, width, unicode);
      while (!taken.insert(text).second) {
        const std::string tail = fmt::format("~{}", ++number);
        text = FitText(texts[i], width - std::min(width, tail.size()), unicode) + tail;
      }
      shown[cells[i]] = std::move(text);
    }
  }
  for (size_t i = 0; i < cells.size(); ++i) fitted[i] = shown[cells[i]];
  return fitted;
}

}  // namespace tacho
