#include "text/distinct_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "text/fit_name.h"

namespace tacho {
namespace {

// The length in bytes of the common beginning of `a` and `b`, in whole characters.
size_t CommonPrefix(std::string_view a, std::string_view b) {
  size_t common = 0;
  while (common < a.size() && common < b.size()) {
    const size_t length = DecodeUtf8(a, common).length;
    if (a.substr(common, length) != b.substr(common, length)) break;
    common += length;
  }
  return common;
}

// Rows whose cut texts still look the same.
struct Alike {
  std::vector<size_t> rows;
  size_t depth = 0;  // how many rounds have tried to separate them
};

// The texts of `rows`, each cut to `width` so that it shows the part from about byte `from` on,
// where the texts begin to differ.
std::vector<std::string> LooksFrom(const std::vector<std::string>& texts,
                                   const std::vector<size_t>& rows, size_t from, size_t width,
                                   bool unicode) {
  std::vector<std::string> whole_words, exact;
  for (const size_t row : rows) {
    const std::string& text = texts[row];
    whole_words.push_back(FitNameFrom(text, TokenBegin(text, from), width, unicode));
    exact.push_back(FitNameFrom(text, from, width, unicode));
  }
  const auto different = [](const std::vector<std::string>& looks) {
    return std::set<std::string_view>(looks.begin(), looks.end()).size();
  };
  return different(whole_words) >= different(exact) ? whole_words : exact;
}

}  // namespace

std::vector<std::string> FitDistinct(const std::vector<std::string>& cells,
                                     const std::vector<std::string>& texts, size_t width,
                                     bool unicode) {
  constexpr size_t kDeepest = 8;  // nested groups; rows that still look the same are numbered
  std::map<std::string, std::vector<size_t>> looks;  // by look: one row for each cell that has it
  std::set<std::string_view> seen;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (seen.insert(cells[i]).second) looks[FitName(texts[i], width, unicode)].push_back(i);
  }
  std::map<std::string_view, std::string> shown;  // keyed by cell
  std::set<std::string> taken;
  std::unordered_map<std::string, size_t> numbers;  // by look: the last number given
  std::vector<Alike> open;
  // Rows whose look is unique are done.
  const auto sort_out = [&](std::map<std::string, std::vector<size_t>>& by_look, size_t depth) {
    for (auto& [look, rows] : by_look) {
      if (rows.size() == 1 && taken.insert(look).second) {
        shown[cells[rows[0]]] = look;
      } else {
        open.push_back({std::move(rows), depth});
      }
    }
  };
  sort_out(looks, 0);
  while (!open.empty()) {
    const Alike alike = std::move(open.back());
    open.pop_back();
    const std::string& first = texts[alike.rows[0]];
    size_t common = first.size();
    for (const size_t row : alike.rows) common = std::min(common, CommonPrefix(first, texts[row]));
    const bool differ = alike.depth < kDeepest && alike.rows.size() > 1;
    if (differ) {
      std::map<std::string, std::vector<size_t>> closer;
      const auto fitted = LooksFrom(texts, alike.rows, common, width, unicode);
      for (size_t i = 0; i < fitted.size(); ++i) closer[fitted[i]].push_back(alike.rows[i]);
      if (closer.size() > 1) {
        sort_out(closer, alike.depth + 1);
        continue;
      }
    }
    for (const size_t row : alike.rows) {
      std::string text = FitName(texts[row], width, unicode);
      size_t& number = numbers.try_emplace(text, 1).first->second;
      while (!taken.insert(text).second) {
        const std::string tail = fmt::format("~{}", ++number);
        text = FitName(texts[row], width - std::min(width, tail.size()), unicode) + tail;
      }
      shown[cells[row]] = std::move(text);
    }
  }
  std::vector<std::string> fitted;
  for (const std::string& cell : cells) fitted.push_back(shown[cell]);
  return fitted;
}

}  // namespace tacho
