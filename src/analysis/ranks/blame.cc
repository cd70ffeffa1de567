#include "analysis/ranks/blame.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/ranks/comm_groups.h"
#include "analysis/ranks/skew_charges.h"

namespace tacho {
namespace {

// The class of collectives by the share of waiting in their time. kInconclusive if the class would
// change if each of `parts` waits were shorter by `residual`, or if each were longer by it.
SkewClass ClassOf(DurationNs transfer, DurationNs waits, size_t parts, DurationNs residual) {
  const auto all = static_cast<double>(transfer.ns) + static_cast<double>(waits.ns);
  if (all <= 0) return SkewClass::kInconclusive;
  const double error = static_cast<double>(residual.ns) * static_cast<double>(parts);
  const auto class_of = [&](double waited) {
    const double share = std::clamp(waited / all, 0.0, 1.0);
    return 3 * share <= 1   ? SkewClass::kTransfer
           : 3 * share >= 2 ? SkewClass::kArrivalSkew
                            : SkewClass::kMixed;
  };
  const auto waited = static_cast<double>(waits.ns);
  const SkewClass least = class_of(waited - error);
  return least == class_of(waited + error) ? least : SkewClass::kInconclusive;
}

SkewCause CauseOf(size_t kind, DurationNs time, const std::vector<std::string>& categories) {
  using Of = SkewCause::Kind;
  SkewCause cause{.time = time};
  if (kind < kLeadCopies) {
    cause.kind = Of::kIdle;
    cause.idle = static_cast<IdleCause>(kind);
  } else if (kind >= kLeadFirstCategory) {
    cause.kind = Of::kCompute;
    cause.category = categories[kind - kLeadFirstCategory];
  } else {
    cause.kind = kind == kLeadCopies       ? Of::kCopies
                 : kind == kLeadCollective ? Of::kCollectives
                 : kind == kLeadPace       ? Of::kPace
                 : kind == kLeadTooShort   ? Of::kTooShort
                                           : Of::kUnknown;
  }
  return cause;
}

std::vector<SkewCause> CausesOf(const SkewCharges::OfRank& rank,
                                const std::vector<std::string>& categories) {
  std::vector<SkewCause> causes;
  for (size_t kind = 0; kind < rank.caused_by.size(); ++kind) {
    if (rank.caused_by[kind].ns > 0)
      causes.push_back(CauseOf(kind, rank.caused_by[kind], categories));
  }
  std::ranges::sort(causes, [](const SkewCause& a, const SkewCause& b) {
    return a.time != b.time ? a.time > b.time : a.Id() < b.Id();
  });
  return causes;
}

// Whether a rank caused more waiting than chance explains: it came last again and again, not once,
// and a good part of the waiting in its collectives was for it. If all ranks come last by turns,
// none stands out; if only two of many ranks come last, both stand out.
bool StandsOut(const SkewCharges::OfRank& rank) {
  constexpr double kDeviations = 4, kLeastTimes = 4, kLeastShare = 0.1, kTimesFairShare = 1.5;
  if (rank.excess <= 0 || rank.twice_late.ns <= 0 || rank.parts_around == 0) return false;
  const double fair_share =
      static_cast<double>(rank.collectives) / static_cast<double>(rank.parts_around);
  const double share = static_cast<double>((rank.caused - rank.paced).ns) /
                       static_cast<double>(std::max<int64_t>(1, rank.waits_around.ns));
  return rank.excess >= kDeviations * std::sqrt(rank.variance) &&
         // `kLeastTimes` collectives with equal balances give this ratio; a single one gives 1.
         rank.excess * rank.excess >= kLeastTimes * rank.squares &&
         share >= std::max(kLeastShare, std::min(kTimesFairShare * fair_share, 0.75));
}

void AddTable(const SkewCharges& charges, const std::vector<std::string>& categories,
              RankBlame& blame) {
  for (size_t i = 0; i < charges.ranks.size(); ++i) {
    const SkewCharges::OfRank& rank = charges.ranks[i];
    if (rank.collectives == 0) continue;
    RankBlame::Row& row = blame.table.emplace_back();
    row.rank = i;
    row.collectives = rank.collectives;
    row.last = rank.last;
    row.transfer = rank.transfer;
    row.suffered = rank.suffered;
    row.caused = rank.caused;
    row.paced = rank.paced;
    row.late = {rank.twice_late.ns / 2};
    row.caused_by = CausesOf(rank, categories);
    row.stands_out = StandsOut(rank);
    blame.transfer += rank.transfer;
    blame.waits += rank.suffered;
  }
}

void AddGroups(const CommGroups& names, const MatchedCollectives& matched, const SkewEvents& events,
               const SkewCharges& charges, RankBlame& blame) {
  std::map<std::tuple<uint32_t, GroupKind, std::string>, RankBlame::Group> groups;
  size_t all_parts = 0;
  for (const uint32_t i : events.by_end) {
    const Collective& collective = matched.collectives[i];
    const CommGroups::Name name = names.Of(collective);
    RankBlame::Group& group = groups[{events.set_of[i], name.kind, name.name}];
    if (group.collectives++ == 0) {
      group.kind = name.kind;
      group.name = name.name;
      std::set<size_t> members;
      for (const Collective::Part& part : collective.parts) members.insert(part.rank);
      group.ranks.assign(members.begin(), members.end());
    }
    const SkewCharges::OfCollective& of = charges.collectives[i];
    group.transfer += of.transfer;
    group.waits += of.waits;
    const size_t parts = collective.parts.size() - 1;
    all_parts += parts;
    ++blame.of_class[static_cast<size_t>(ClassOf(of.transfer, of.waits, parts, blame.residual))];
  }
  blame.collectives = events.by_end.size();
  blame.type = ClassOf(blame.transfer, blame.waits, all_parts, blame.residual);
  for (auto& [key, group] : groups) {
    const size_t parts = group.collectives * (events.sets[std::get<0>(key)].devices.size() - 1);
    group.type = ClassOf(group.transfer, group.waits, parts, blame.residual);
    blame.groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(blame.groups, {}, [](const RankBlame::Group& group) {
    return std::tuple(group.kind, group.ranks.front(), std::string_view(group.name));
  });
}

const std::vector<std::string>* CategoriesOf(const DigestsOfRanks& digests) {
  for (const TraceDigest* digest : digests) {
    if (digest != nullptr && !digest->lead_ups.empty()) return &digest->categories;
  }
  return nullptr;
}

}  // namespace

std::string_view SkewClassId(SkewClass type) {
  switch (type) {
    case SkewClass::kTransfer:
      return "transfer";
    case SkewClass::kArrivalSkew:
      return "arrival-skew";
    case SkewClass::kMixed:
      return "mixed";
    case SkewClass::kInconclusive:
    case SkewClass::kCount:
      break;
  }
  return "inconclusive";
}

std::string SkewCause::Id() const {
  switch (kind) {
    case Kind::kIdle:
      return "idle." + std::string(IdleCauseId(idle));
    case Kind::kCompute:
      return "compute." + category;
    case Kind::kCopies:
      return "copies";
    case Kind::kCollectives:
      return "collectives";
    case Kind::kPace:
      return "launch-pace";
    case Kind::kTooShort:
      return "too-short";
    case Kind::kUnknown:
      break;
  }
  return "unknown";
}

bool SkewCause::IsHost() const {
  return kind == Kind::kIdle && (idle == IdleCause::kHostLate || idle == IdleCause::kInLaunchCall ||
                                 idle == IdleCause::kBetweenSteps);
}

RankBlame BlameRanks(const std::vector<CommRank>& ranks, const DigestsOfRanks& digests) {
  RankBlame blame;
  constexpr size_t kMostSizes = 1'000;
  const std::vector<std::string>* categories = CategoriesOf(digests);
  if (ranks.size() < 2 || categories == nullptr) return blame;
  const MatchedCollectives matched = MatchCollectives(ranks);
  blame.absent = matched.kernels == 0          ? RankBlame::Absent::kNoCollectives
                 : matched.candidates == 0     ? RankBlame::Absent::kNoMatch
                 : matched.collectives.empty() ? RankBlame::Absent::kClocks
                                               : RankBlame::Absent::kNo;
  if (blame.absent != RankBlame::Absent::kNo) return blame;
  blame.matched_share = static_cast<double>(matched.kernels - matched.unmatched) /
                        static_cast<double>(matched.kernels);
  for (const ClockResidual& residual : matched.residuals)
    blame.residual = std::max(blame.residual, residual.spread);
  const SkewEvents events = CollectSkewEvents(digests, matched);
  if (events.by_end.empty()) {
    blame.absent = RankBlame::Absent::kOutside;
    return blame;
  }
  const SkewCharges charges =
      ChargeSkew(events, ranks.size(), kLeadFirstCategory + categories->size(), blame.residual);
  AddTable(charges, *categories, blame);
  const CommGroups names(ranks);
  AddGroups(names, matched, events, charges, blame);
  blame.sizes = SizeCollectives(ranks, matched, events, names);
  if (blame.sizes.size() > kMostSizes) {
    blame.sizes_left_out = blame.sizes.size() - kMostSizes;
    blame.sizes.resize(kMostSizes);
  }
  blame.experts = BalanceExperts(matched, events, charges, names, *categories);
  for (const TraceDigest* digest : digests) {
    if (digest != nullptr)
      blame.experts.steps = std::max(blame.experts.steps, digest->steps.size());
  }
  return blame;
}

}  // namespace tacho
