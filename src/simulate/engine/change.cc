#include "simulate/engine/change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/parse_number.h"
#include "simulate/engine/cost_model.h"
#include "simulate/engine/faults.h"

namespace tacho::simulate {
namespace {

// In the order of KernelRole.
constexpr std::string_view kRoleNames[] = {"slot-mapping",
                                           "attention-metadata",
                                           "embedding",
                                           "norm",
                                           "qkv",
                                           "rope",
                                           "kv-write",
                                           "attention",
                                           "out",
                                           "all-reduce",
                                           "nccl-all-reduce",
                                           "gate-up",
                                           "activation",
                                           "down",
                                           "gather",
                                           "lm-head",
                                           "all-gather",
                                           "argmax",
                                           "router",
                                           "top-k",
                                           "dispatch",
                                           "expert-gate-up",
                                           "expert-down",
                                           "combine",
                                           "shared-gate-up",
                                           "shared-activation",
                                           "shared-down",
                                           "rope+kv-write",
                                           "all-reduce+norm",
                                           "attention-triton",
                                           "gate-up-cutlass"};
static_assert(std::size(kRoleNames) == static_cast<size_t>(KernelRole::kCount));

struct Replaced {
  KernelRole role, by;
};
constexpr Replaced kFusions[] = {{KernelRole::kRope, KernelRole::kRopeAndCacheWrite},
                                 {KernelRole::kAllReduce, KernelRole::kAllReduceAndNorm}};
constexpr Replaced kOtherNames[] = {{KernelRole::kAttention, KernelRole::kAttentionTriton},
                                    {KernelRole::kGateUp, KernelRole::kGateUpCutlass}};

template <size_t N>
KernelRole ReplacedBy(const Replaced (&list)[N], KernelRole role) {
  const auto* found = std::ranges::find(list, role, &Replaced::role);
  return found == std::end(list) ? KernelRole::kCount : found->by;
}

template <size_t N>
std::string RolesOf(const Replaced (&list)[N]) {
  std::vector<std::string_view> names;
  for (const Replaced& row : list) names.push_back(RoleName(row.role));
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<int64_t> CountIn(std::string_view text, int64_t most) {
  const auto value = ParseWhole<int64_t>(text);
  if (value && *value >= 0 && *value <= most) return *value;
  return Fail(ErrorKind::kUsage,
              fmt::format("'{}' is not a whole number from 0 to {}", text, most));
}

Result<double> PercentIn(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  const auto value = ParseWhole<double>(text);
  if (value && *value >= -90 && *value <= 1000) return *value;
  return Fail(ErrorKind::kUsage, fmt::format("'{}' is not a percentage from -90 to 1000", text));
}

Result<KernelRole> RoleIn(std::string_view text) {
  const auto* found = std::ranges::find(kRoleNames, text);
  if (found != std::end(kRoleNames)) {
    return static_cast<KernelRole>(std::distance(std::begin(kRoleNames), found));
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("no kernel '{}'; known are {}", text, fmt::join(kRoleNames, ", ")));
}

Result<void> ReadWhere(const ChangeRow& row, std::string_view where, Change& change) {
  if (row.where.empty() != where.empty()) {
    return Fail(ErrorKind::kUsage,
                row.where.empty() ? "takes no @WHERE" : fmt::format("needs @{}", row.where));
  }
  if (row.where == "RANK") {
    TACHO_ASSIGN_OR_RETURN(change.rank, CountIn(where, 63));
  } else if (row.where == "KERNEL") {
    TACHO_ASSIGN_OR_RETURN(change.role, RoleIn(where));
  }
  if (row.kind == ChangeKind::kFused && FusedRole(change.role) == KernelRole::kCount)
    return Fail(ErrorKind::kUsage, "known for " + RolesOf(kFusions));
  if (row.kind == ChangeKind::kRenamed && RenamedRole(change.role) == KernelRole::kCount)
    return Fail(ErrorKind::kUsage, "known for " + RolesOf(kOtherNames));
  return {};
}

Result<void> ReadAmount(const ChangeRow& row, std::string_view text, Change& change) {
  if (row.argument == "PERCENT") {
    TACHO_ASSIGN_OR_RETURN(change.percent, PercentIn(text));
  } else if (row.argument == "TIME") {
    TACHO_ASSIGN_OR_RETURN(change.amount, ParseTime(text));
    if (change.amount < 0 || change.amount > 1'000'000'000)
      return Fail(ErrorKind::kUsage, "takes a time of at most 1s");
  } else if (row.argument == "COUNT") {
    constexpr int64_t kMost = 100'000;
    TACHO_ASSIGN_OR_RETURN(change.amount, CountIn(text, kMost));
    const bool at_least_one = row.kind != ChangeKind::kMore;
    if (at_least_one && change.amount == 0) return Fail(ErrorKind::kUsage, "must not be 0");
    if (row.kind == ChangeKind::kMore && change.amount > 100)
      return Fail(ErrorKind::kUsage, "at most 100");
    if (row.kind == ChangeKind::kLayers && change.amount > 1000)
      return Fail(ErrorKind::kUsage, "at most 1000");
  } else if (row.argument == "NAME") {
    TACHO_RETURN_IF_ERROR(FindModelShape(text));
    change.model = text;
  } else if (!text.empty()) {
    return Fail(ErrorKind::kUsage, "takes no argument");
  }
  return {};
}

}  // namespace

const std::vector<ChangeRow>& ChangeRows() {
  static const std::vector<ChangeRow> rows = {
      {ChangeKind::kSlower, "slower", "KERNEL", "PERCENT", "5%", "a kernel takes longer"},
      {ChangeKind::kFused, "fused", "KERNEL", "", "",
       "a kernel and the next become one, a fifth shorter than both"},
      {ChangeKind::kRenamed, "renamed", "KERNEL", "", "", "a kernel has another name"},
      {ChangeKind::kMore, "more", "KERNEL", "COUNT", "1", "a kernel is called COUNT more times"},
      {ChangeKind::kCommSlower, "comm-slower", "", "PERCENT", "20%", "all collectives take longer"},
      {ChangeKind::kSerial, "serial", "", "", "",
       "the shared expert runs on the main stream, not beside the other experts"},
      {ChangeKind::kEager, "eager", "", "", "", "decode without CUDA graphs"},
      {ChangeKind::kLateRank, "late-rank", "RANK", "TIME", "200us", "a rank begins each step late"},
      {ChangeKind::kHostLate, "host-late", "", "TIME", "200us",
       "the host launches late, inside each step"},
      {ChangeKind::kSchedulerLate, "scheduler-late", "", "TIME", "200us",
       "the host is late before each step"},
      {ChangeKind::kSlowExperts, "slow-experts", "RANK", "TIME", "200us",
       "the grouped products of a rank take so much longer in each step"},
      {ChangeKind::kRequests, "requests", "", "COUNT", "64", "other batches: requests in flight"},
      {ChangeKind::kPrompts, "prompts", "", "COUNT", "1024", "other prompts: mean tokens"},
      {ChangeKind::kModel, "model", "", "NAME", "32b", "another model"},
      {ChangeKind::kLayers, "layers", "", "COUNT", "5", "another number of layers"},
  };
  return rows;
}

std::string_view RoleName(KernelRole role) { return kRoleNames[static_cast<size_t>(role)]; }
KernelRole FusedRole(KernelRole role) { return ReplacedBy(kFusions, role); }
KernelRole RenamedRole(KernelRole role) { return ReplacedBy(kOtherNames, role); }

bool ChangesWholeRun(ChangeKind kind) { return kind >= ChangeKind::kRequests; }
bool ChangesOneRank(ChangeKind kind) {
  return kind == ChangeKind::kLateRank || kind == ChangeKind::kSlowExperts;
}

Result<Change> ParseChange(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view head = text.substr(0, colon);
  const size_t at = head.find('@');
  const auto row = std::ranges::find(ChangeRows(), head.substr(0, at), &ChangeRow::name);
  if (row == ChangeRows().end()) {
    std::vector<std::string_view> names;
    for (const ChangeRow& known : ChangeRows()) names.push_back(known.name);
    return Fail(ErrorKind::kUsage, fmt::format("no change '{}'; known are {}", head.substr(0, at),
                                               fmt::join(names, ", ")));
  }
  Change change;
  change.kind = row->kind;
  const std::string context = fmt::format("change {}", row->name);
  const std::string_view where = at == std::string_view::npos ? "" : head.substr(at + 1);
  const std::string_view amount =
      colon == std::string_view::npos ? row->fallback : text.substr(colon + 1);
  TACHO_RETURN_IF_ERROR(WithContext(ReadWhere(*row, where, change), context));
  TACHO_RETURN_IF_ERROR(WithContext(ReadAmount(*row, amount, change), context));
  return change;
}

std::string TextOf(const Change& change) {
  const auto row = std::ranges::find(ChangeRows(), change.kind, &ChangeRow::kind);
  if (row == ChangeRows().end()) return "none";
  std::string text(row->name);
  if (row->where == "KERNEL") text += fmt::format("@{}", RoleName(change.role));
  if (row->where == "RANK") text += fmt::format("@{}", change.rank);
  if (row->argument == "PERCENT") text += fmt::format(":{}%", change.percent);
  if (row->argument == "TIME") text += fmt::format(":{}ns", change.amount);
  if (row->argument == "COUNT") text += fmt::format(":{}", change.amount);
  if (row->argument == "NAME") text += ":" + change.model;
  return text;
}

}  // namespace tacho::simulate
