#include "analysis/graphs/graph_batch.h"

#include <algorithm>
#include <string_view>

#include "analysis/names/name_pattern.h"
#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view token_rules;
}
namespace {

const std::vector<NamePattern>& TokenBlockPatterns() {
  static const std::vector<NamePattern> patterns = [] {
    std::vector<NamePattern> read;
    ReadBuiltInRules(embedded::token_rules, "rules/token_blocks.rules",
                     [&](std::string_view line) -> Result<void> {
                       read.emplace_back(line);
                       return {};
                     });
    return read;
  }();
  return patterns;
}

}  // namespace

bool GraphBatches::HasABlockForEachToken(StringId name) {
  if (names_.empty()) names_.resize(trace_.words.strings.size(), IsByToken::kUnknown);
  IsByToken& known = names_[Index(name)];
  if (known == IsByToken::kUnknown) {
    const PatternSubject subject(trace_.Text(name));
    const bool is = std::ranges::any_of(
        TokenBlockPatterns(), [&](const NamePattern& pattern) { return pattern.Matches(subject); });
    known = is ? IsByToken::kYes : IsByToken::kNo;
  }
  return known == IsByToken::kYes;
}

std::optional<int64_t> GraphBatches::BatchOf(const Replays& replays, const ReplayedGraph& graph) {
  std::vector<uint8_t> by_token;  // by node
  for (const uint32_t row : graph.nodes)
    by_token.push_back(HasABlockForEachToken(trace_.gpu.name[row]) ? 1 : 0);
  std::optional<int64_t> batch;
  LaunchId last = LaunchId::kNone;
  for (const uint32_t i : graph.replays) {
    const Replay& replay = replays.all[i];
    for (size_t at = replay.begin; at < replay.end; ++at) {
      const uint32_t node = replays.nodes[at];
      if (node == Replays::kUnplaced || by_token[node] == 0) continue;
      const LaunchId launch = trace_.gpu.launch[replays.rows[at]];
      if (launch == last || !trace_.words[launch].grid) continue;
      const auto [x, y, z] = *trace_.words[launch].grid;
      if (y != 1 || z != 1 || (batch && *batch != x)) return std::nullopt;
      batch = x;
      last = launch;
    }
  }
  return batch;
}

}  // namespace tacho
