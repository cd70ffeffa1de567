#include "base/closest.h"

#include <algorithm>

namespace tacho {
namespace {

constexpr size_t kLeastBeginning = 3;  // shortest prefix that may stand for a name, in bytes

}  // namespace

std::string Closest(std::string_view word, const std::vector<std::string>& candidates) {
  // A prefix of only one candidate stands for that candidate.
  std::string best;
  size_t begin_so = 0;
  for (const std::string& candidate : candidates) {
    if (!candidate.starts_with(word)) continue;
    best = candidate;
    ++begin_so;
  }
  if (begin_so == 1 && word.size() >= kLeastBeginning) return best;
  best.clear();
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // Computes Levenshtein's distance, one row of its table at a time.
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j <= candidate.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= candidate.size(); ++j) {
        const size_t change = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace tacho
