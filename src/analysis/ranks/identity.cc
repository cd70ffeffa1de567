#include "analysis/ranks/identity.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {
namespace {

// The number after `mark`, if `mark` begins a word: 1 in "x_tp1_y" for the mark "tp".
std::optional<int64_t> NumberAfter(std::string_view name, std::string_view mark) {
  for (size_t at = name.find(mark); at != std::string_view::npos; at = name.find(mark, at + 1)) {
    const char before = at == 0 ? '_' : AsciiLower(name[at - 1]);
    if (IsDigit(before) || (before >= 'a' && before <= 'z')) continue;
    std::string_view digits = name.substr(at + mark.size());
    const auto value = TakeNumber<int64_t>(digits);
    if (value && *value >= 0) return value;
  }
  return std::nullopt;
}

// Removes `part` and the number after it from the front of `text`; false if it does not begin so.
bool TakeNumbered(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  const std::string_view rest = text.substr(part.size());
  const size_t digits = static_cast<size_t>(std::ranges::find_if_not(rest, IsDigit) - rest.begin());
  text = rest.substr(digits);
  return digits > 0;
}

// The part "dp0_pp0_tp1_dcp0_ep1_rank1..." of a file's name; "" unless all six numbers are there,
// so that a name of the user's own ("tp2_rank0") does not count.
std::string_view VllmStem(std::string_view file) {
  for (size_t at = file.find("dp"); at != std::string_view::npos; at = file.find("dp", at + 1)) {
    std::string_view rest = file.substr(at);
    if (TakeNumbered(rest, "dp") && TakeNumbered(rest, "_pp") && TakeNumbered(rest, "_tp") &&
        TakeNumbered(rest, "_dcp") && TakeNumbered(rest, "_ep") && TakeNumbered(rest, "_rank"))
      return file.substr(at);
  }
  return "";
}

// The text itself if it is a worker's name such as "w0"; else "".
std::string WorkerName(std::string_view text) {
  if (text.size() < 2 || text.size() > 6 || text[0] != 'w') return "";
  return std::ranges::all_of(text.substr(1), IsDigit) ? std::string(text) : "";
}

// The worker in a path such as ".../traces/w0/FILE".
std::string WorkerOfFolder(std::string_view path) {
  const size_t at = path.rfind("traces/w");
  if (at == std::string_view::npos || (at > 0 && path[at - 1] != '/')) return "";
  const std::string_view rest = path.substr(at + 7);
  return WorkerName(rest.substr(0, rest.find('/')));
}

// The worker in a recording's key: "w0" in "tacho-20261123-112400-w0_rank0.pt.trace.json".
std::string WorkerOfKey(std::string_view name) {
  constexpr std::string_view kShape = "tacho-########-######-w";
  for (size_t at = name.find("tacho-"); at != std::string_view::npos;
       at = name.find("tacho-", at + 1)) {
    const std::string_view key = name.substr(at);
    if (key.size() <= kShape.size()) return "";
    const bool fits = std::equal(kShape.begin(), kShape.end(), key.begin(), [](char shape, char c) {
      return shape == '#' ? IsDigit(c) : shape == c;
    });
    if (!fits) continue;
    size_t end = kShape.size();
    while (end < key.size() && IsDigit(key[end])) ++end;
    return WorkerName(key.substr(kShape.size() - 1, end - kShape.size() + 1));
  }
  return "";
}

}  // namespace

RankIdentity IdentityOf(std::string_view path, const TraceFacts& facts) {
  const std::string_view file = path.substr(path.find_last_of("/:") + 1);
  RankIdentity identity;
  identity.worker = WorkerOfFolder(path);
  if (identity.worker.empty()) identity.worker = WorkerOfKey(file);
  identity.stage = facts.stage;
  identity.world_size = facts.world_size;
  const std::string_view vllm = VllmStem(file);
  const auto told = [&](std::string_view in_process, std::string_view by_vllm,
                        std::string_view by_sglang) {
    std::optional<int64_t> number;
    for (const std::string& process : facts.process_names) {
      if (!number) number = NumberAfter(process, in_process);
    }
    if (!number) number = NumberAfter(vllm, by_vllm);
    if (!number) number = NumberAfter(file, by_sglang);
    // TokenSpeed's file names ("ID-DP0-TP1.trace.json.gz") are written like process names.
    const bool of_vllm = file.find(".pt.trace.json") != file.npos;
    return number || of_vllm ? number : NumberAfter(file, in_process);
  };
  identity.data_parallel = told("DP", "dp", "DP-");
  identity.pipeline = told("PP", "pp", "PP-");
  identity.tensor = told("TP", "tp", "TP-");
  identity.rank = facts.rank;
  if (!identity.rank) identity.rank = NumberAfter(file, "rank");
  if (!identity.rank) identity.rank = NumberAfter(file, "rank-");
  return identity;
}

}  // namespace tacho
