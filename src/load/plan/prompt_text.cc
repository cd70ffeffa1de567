#include "load/plan/prompt_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/random.h"

namespace tacho {
namespace {

// Common lower-case words. In today's vocabularies each is one token together with its leading
// blank.
constexpr std::array<std::string_view, 64> kWords = {
    "time",   "people", "way",   "water",  "day",    "man",    "world", "life",   "hand",  "part",
    "child",  "eye",    "woman", "place",  "work",   "week",   "case",  "point",  "group", "number",
    "house",  "night",  "area",  "book",   "money",  "story",  "fact",  "month",  "lot",   "right",
    "study",  "job",    "word",  "issue",  "side",   "kind",   "head",  "friend", "power", "hour",
    "game",   "line",   "end",   "city",   "family", "name",   "team",  "minute", "idea",  "body",
    "back",   "face",   "level", "office", "door",   "health", "art",   "war",    "party", "result",
    "change", "reason", "air",   "force"};

// Calls `add` with a random number for each token of the prompt, in the prompt's order.
template <typename Add>
void ForEachToken(const PlannedRequest& request, uint64_t salt, const Add& add) {
  int64_t left = request.prompt_tokens;
  const auto piece = [&](uint64_t seed, int64_t tokens) {
    Random random(seed, salt);
    for (; tokens > 0 && left > 0; --tokens, --left) add(random);
  };
  for (const PromptPiece& shared : request.shared) piece(shared.seed, shared.tokens);
  piece(request.seed, left);
}

}  // namespace

void AppendTokenIds(const PlannedRequest& request, uint64_t salt,
                    std::span<const int64_t> token_ids, std::string& out) {
  out += '[';
  const size_t begin = out.size();
  ForEachToken(request, salt, [&](Random& random) {
    char digits[24];
    const auto [end, error] =
        std::to_chars(digits, digits + sizeof(digits), token_ids[random.Below(token_ids.size())]);
    if (out.size() != begin) out += ',';
    out.append(digits, end);
  });
  out += ']';
}

void AppendWords(const PlannedRequest& request, uint64_t salt, std::string& out) {
  const size_t begin = out.size();
  ForEachToken(request, salt, [&](Random& random) {
    if (out.size() != begin) out += ' ';
    out += kWords[random.Below(kWords.size())];
  });
}

}  // namespace tacho
