#include "analysis/ranks/skew_charges.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tacho {
namespace {

constexpr uint32_t kNoCollective = SkewEvents::kNone;

// Time of one kind that is charged to a rank: the one that came last, or one that it waited for.
struct RankTime {
  uint32_t rank;
  LeadKind kind;
  DurationNs time;
};

void AddTo(std::vector<RankTime>& times, RankTime add) {
  const auto known = std::ranges::find_if(
      times, [&](const RankTime& each) { return each.rank == add.rank && each.kind == add.kind; });
  if (known == times.end())
    times.push_back(add);
  else
    known->time += add.time;
}

// What the waits in a collective were charged to. Needed if a rank that waited there is late for
// another collective: its waiting is then charged on to the same ranks and kinds.
struct Booked {
  bool done = false;
  DurationNs transfer, waits;
  // Adds up to `waits`. Empty if the devices of the collective are in no other set.
  std::vector<RankTime> charges;
};

// Adds up what a device did between two of its communication kernels.
class Account {
 public:
  Account(const SkewEvents& events, const std::vector<Booked>& booked)
      : events_(events), booked_(booked) {}

  // Covers the time from the end of kernel `from` to the start of kernel `to`. Calls `own(kind,
  // time)` for what the device did itself, and `handed(RankTime)` for its waits in collectives,
  // with the rank and the kind to which the wait was charged.
  template <typename Own, typename Handed>
  void ForEach(uint32_t device, uint32_t from, uint32_t to, const Own& own,
               const Handed& handed) const {
    const SkewEvents::Device& of = events_.devices[device];
    for (uint32_t kernel = from + 1; kernel <= to; ++kernel) {
      DurationNs ran;
      const size_t end = of.lead_ups->EndOfParts(kernel);
      for (size_t i = of.lead_ups->FirstPart(kernel); i < end; ++i) {
        const LeadUps::Part part = of.lead_ups->PartAt(i);
        if (part.kind == kLeadCollective)
          ran += part.time;
        else
          own(part.kind, part.time);
      }
      if (kernel < to) SplitCollective(of.collectives[kernel], ran, own, handed);
    }
  }

 private:
  template <typename Own, typename Handed>
  void SplitCollective(uint32_t collective, DurationNs ran, const Own& own,
                       const Handed& handed) const {
    const Booked* booked = collective == kNoCollective ? nullptr : &booked_[collective];
    if (booked == nullptr || !booked->done || booked->waits.ns == 0) {
      own(kLeadCollective, ran);
      return;
    }
    const DurationNs transfer = std::min(ran, booked->transfer);
    own(kLeadCollective, transfer);
    const double share =
        static_cast<double>((ran - transfer).ns) / static_cast<double>(booked->waits.ns);
    for (const RankTime& charge : booked->charges)
      handed(RankTime{charge.rank,
                      charge.kind,
                      {static_cast<int64_t>(static_cast<double>(charge.time.ns) * share)}});
  }

  const SkewEvents& events_;
  const std::vector<Booked>& booked_;
};

// Twice the median of `sorted` without `own`, which is one of its two or more entries. The median
// of an even number of entries is the mean of the middle two.
DurationNs TwiceMedianOfOthers(const std::vector<DurationNs>& sorted, DurationNs own) {
  const auto other = [&](size_t i) { return sorted[i] < own ? sorted[i] : sorted[i + 1]; };
  return other((sorted.size() - 2) / 2) + other((sorted.size() - 1) / 2);
}

// Idle time that a rank has only until its host is ahead of its device.
bool IsOfHost(LeadKind kind) {
  return kind == static_cast<LeadKind>(IdleCause::kHostLate) ||
         kind == static_cast<LeadKind>(IdleCause::kInLaunchCall) ||
         kind == static_cast<LeadKind>(IdleCause::kLaunchLatency) ||
         kind == static_cast<LeadKind>(IdleCause::kBetweenSteps);
}

class Charger {
 public:
  Charger(const SkewEvents& events, size_t ranks, size_t kinds, DurationNs resolution)
      : events_(events),
        resolution_(resolution),
        booked_(events.set_of.size()),
        account_of_(events, booked_),
        last_shared_(events.sets.size()),
        balances_(events.sets.size()),
        slots_(kinds, kNoCollective) {
    charges_.ranks.resize(ranks);
    charges_.collectives.resize(events.set_of.size());
    for (SkewCharges::OfRank& rank : charges_.ranks) rank.caused_by.resize(kinds);
  }

  SkewCharges Run() && {
    for (const uint32_t collective : events_.by_end) ChargeOne(collective);
    for (uint32_t set = 0; set < balances_.size(); ++set) CloseBalances(set);
    return std::move(charges_);
  }

 private:
  using Part = SkewEvents::Part;
  // What each rank caused less what it suffered, in the collectives of one set and step.
  struct Balances {
    uint32_t device = 0, step = kNoStep;
    size_t ranks = 0;            // of the set
    std::vector<DurationNs> ns;  // by rank; empty: nothing yet
    std::vector<uint32_t> touched;
    std::vector<uint8_t> is_touched;  // by rank
  };
  struct Record {
    uint32_t step = kNoStep;
    int64_t most_behind = 0;
  };
  struct Shared {
    uint32_t collective = kNoCollective;
    size_t order = 0;
  };

  void ChargeOne(uint32_t collective) {
    const SkewEvents::Set& set = events_.sets[events_.set_of[collective]];
    const std::span<const Part> parts = events_.PartsOf(collective);
    const size_t last =
        static_cast<size_t>(std::ranges::min_element(parts, {}, &Part::length) - parts.begin());
    of_ = &booked_[collective];
    of_->transfer = parts[last].length;
    last_rank_ = RankOf(parts[last]);
    const std::vector<uint32_t> from = FromOf(set);
    if (!from.empty()) CollectAccount(parts[last], from[last]);
    OpenBalances(events_.set_of[collective], parts.front());
    paced_.assign(parts.size(), {});
    DurationNs longest;
    for (size_t i = 0; i < parts.size(); ++i) {
      const DurationNs wait = parts[i].length - of_->transfer;
      SkewCharges::OfRank& rank = charges_.ranks[RankOf(parts[i])];
      ++rank.collectives;
      rank.transfer += of_->transfer;
      rank.suffered += wait;
      of_->waits += wait;
      longest = std::max(longest, wait);
      if (wait.ns == 0) continue;
      if (from.empty() || wait <= resolution_)
        Book({last_rank_, from.empty() ? kLeadUnknown : kLeadTooShort, wait}, set.overlaps);
      else
        paced_[i] = ChargeWait(parts[i], from[i], wait, parts[last], from[last], set.overlaps);
    }
    if (longest.ns > 0) ++charges_.ranks[last_rank_].last;
    charges_.collectives[collective] = {
        {of_->transfer.ns * static_cast<int64_t>(parts.size())}, of_->waits, longest};
    const DurationNs paced = std::accumulate(paced_.begin(), paced_.end(), DurationNs{});
    for (const Part& part : parts) {
      charges_.ranks[RankOf(part)].waits_around += of_->waits - paced;
      charges_.ranks[RankOf(part)].parts_around += parts.size();
    }
    if (!from.empty() && longest > resolution_) AddLateness(parts);
    of_->done = true;
    last_shared_[events_.set_of[collective]] = {collective, ++order_};
  }

  [[nodiscard]] uint32_t RankOf(const Part& part) const {
    return events_.devices[part.device].rank;
  }

  // For each device of the set: its kernel in the last collective that all of them shared. Empty if
  // they shared none before.
  [[nodiscard]] std::vector<uint32_t> FromOf(const SkewEvents::Set& set) const {
    std::vector<uint32_t> from;
    const SkewEvents::Set::Wider* latest = nullptr;
    for (const SkewEvents::Set::Wider& wider : set.wider) {
      if (last_shared_[wider.set].collective == kNoCollective) continue;
      if (latest == nullptr || last_shared_[wider.set].order > last_shared_[latest->set].order)
        latest = &wider;
    }
    if (latest == nullptr) return from;
    const auto parts = events_.PartsOf(last_shared_[latest->set].collective);
    for (const uint32_t member : latest->members) from.push_back(parts[member].kernel);
    return from;
  }

  // Fills `account_` with what the device of `part`, which came last, did since kernel `from`.
  void CollectAccount(const Part& part, uint32_t from) {
    for (const RankTime& time : account_) {
      if (time.rank == account_owner_) slots_[time.kind] = kNoCollective;
    }
    account_.clear();
    account_owner_ = last_rank_;
    const auto own = [&](LeadKind kind, DurationNs time) {
      if (slots_[kind] == kNoCollective) {
        slots_[kind] = static_cast<uint32_t>(account_.size());
        account_.push_back({last_rank_, kind, {}});
      }
      account_[slots_[kind]].time += time;
    };
    account_of_.ForEach(part.device, from, part.kernel, own, [&](const RankTime& handed) {
      if (handed.rank == last_rank_)
        own(handed.kind, handed.time);
      else
        AddTo(account_, handed);
    });
  }

  // The host of the last rank may launch later in a step than the host of a waiting rank. Returns
  // by how much it is further behind at this collective than at any earlier one of the step; 0 if
  // it is not. Only such new maxima count, because launches differ by chance, both ways. Absent
  // unless each host launched, in one step, its kernels of this collective and of the last shared
  // one (`last_from`, `waiting_from`).
  [[nodiscard]] std::optional<DurationNs> NewlyBehind(const Part& last, uint32_t last_from,
                                                      const Part& waiting, uint32_t waiting_from) {
    const auto& of_last = events_.devices[last.device].lead_ups->launches;
    const auto& of_waiting = events_.devices[waiting.device].lead_ups->launches;
    const uint32_t step = of_last[last.kernel].step;
    if (step == kNoStep || step != of_last[last_from].step ||
        of_waiting[waiting.kernel].step == kNoStep ||
        of_waiting[waiting.kernel].step != of_waiting[waiting_from].step)
      return std::nullopt;
    const auto behind = [&](uint32_t kernel, uint32_t of_waiting_kernel) {
      return int64_t{of_last[kernel].after_ns} - int64_t{of_waiting[of_waiting_kernel].after_ns};
    };
    Record& record = records_[uint64_t{last.device} << 32 | waiting.device];
    if (record.step != step) record = {step, behind(last_from, waiting_from)};
    const int64_t before = record.most_behind;
    record.most_behind = std::max(before, behind(last.kernel, waiting.kernel));
    return DurationNs{record.most_behind - before};
  }

  // Returns how much of the wait is kLeadPace.
  DurationNs ChargeWait(const Part& part, uint32_t from, DurationNs wait, const Part& last,
                        uint32_t last_from, bool overlaps) {
    excess_ = account_;
    account_of_.ForEach(
        part.device, from, part.kernel,
        [&](LeadKind kind, DurationNs time) {
          if (slots_[kind] != kNoCollective) excess_[slots_[kind]].time -= time;
        },
        [&](RankTime handed) {
          handed.time = -handed.time;
          const auto same = std::ranges::find_if(excess_, [&](const RankTime& each) {
            return each.rank == handed.rank && each.kind == handed.kind;
          });
          if (same != excess_.end()) same->time += handed.time;
        });
    std::ranges::sort(excess_, [](const RankTime& a, const RankTime& b) {
      return std::tie(b.time, a.rank, a.kind) < std::tie(a.time, b.rank, b.kind);
    });
    const uint32_t waiting = RankOf(part);
    std::optional<DurationNs> of_host = NewlyBehind(last, last_from, part, from);
    DurationNs rest = wait, paced;
    for (const RankTime& each : excess_) {
      if (rest.ns == 0 || each.time.ns <= 0) break;
      // A rank is not charged for its own waiting, unless one of its devices waits for another.
      if (each.rank == waiting && waiting != last_rank_) continue;
      DurationNs paid = std::min(rest, each.time);
      rest -= paid;
      if (of_host && each.rank == last_rank_ && IsOfHost(each.kind)) {
        const DurationNs late = std::min(paid, *of_host);
        *of_host -= late;
        paced += paid - late;
        paid = late;
        if (paid.ns == 0) continue;
      }
      Book({each.rank, each.kind, paid}, overlaps);
      Touch(each.rank, paid);
    }
    if (rest.ns > 0) {
      Book({last_rank_, kLeadUnknown, rest}, overlaps);
      Touch(last_rank_, rest);
    }
    if (paced.ns > 0) {
      Book({last_rank_, kLeadPace, paced}, overlaps);
      charges_.ranks[last_rank_].paced += paced;
    }
    Touch(waiting, paced - wait);
    return paced;
  }

  void Book(const RankTime& charge, bool overlaps) {
    SkewCharges::OfRank& rank = charges_.ranks[charge.rank];
    rank.caused += charge.time;
    rank.caused_by[charge.kind] += charge.time;
    if (overlaps) AddTo(of_->charges, charge);
  }

  void OpenBalances(uint32_t set, const Part& first) {
    of_set_ = &balances_[set];
    const uint32_t step = events_.devices[first.device].lead_ups->launches[first.kernel].step;
    if (step == kNoStep || step != of_set_->step || first.device != of_set_->device)
      CloseBalances(set);
    of_set_->device = first.device;
    of_set_->step = step;
    of_set_->ranks = events_.sets[set].devices.size();
  }
  void Touch(uint32_t rank, DurationNs by) {
    of_set_->ns.resize(charges_.ranks.size());
    of_set_->is_touched.resize(charges_.ranks.size());
    if (!std::exchange(of_set_->is_touched[rank], uint8_t{1})) of_set_->touched.push_back(rank);
    of_set_->ns[rank] += by;
  }

  // Chance could have given each rank of the set the balance of any other.
  void CloseBalances(uint32_t set) {
    Balances& balances = balances_[set];
    if (balances.touched.empty()) return;
    double squares = 0;
    for (const uint32_t rank : balances.touched) {
      const auto balance = static_cast<double>(balances.ns[rank].ns);
      squares += balance * balance;
    }
    for (const uint32_t device : events_.sets[set].devices) {
      const uint32_t rank = events_.devices[device].rank;
      if (balances.is_touched[rank] == 0)
        charges_.ranks[rank].variance += squares / Count(balances);
    }
    for (const uint32_t rank : balances.touched) {
      const auto balance = static_cast<double>(balances.ns[rank].ns);
      SkewCharges::OfRank& of = charges_.ranks[rank];
      of.excess += balance;
      of.squares += balance * balance;
      of.variance += squares / Count(balances);
      balances.ns[rank] = {};
      balances.is_touched[rank] = 0;
    }
    balances.touched.clear();
  }
  static double Count(const Balances& balances) { return static_cast<double>(balances.ranks); }

  void AddLateness(std::span<const Part> parts) {
    lengths_.clear();
    for (size_t i = 0; i < parts.size(); ++i) lengths_.push_back(parts[i].length - paced_[i]);
    std::vector<DurationNs> sorted = lengths_;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      if (events_.devices[part.device].lead_ups->launches[part.kernel].step == 0) continue;
      charges_.ranks[RankOf(part)].twice_late +=
          TwiceMedianOfOthers(sorted, lengths_[i]) - DurationNs{2 * lengths_[i].ns};
    }
  }

  const SkewEvents& events_;
  const DurationNs resolution_;
  std::vector<Booked> booked_;
  const Account account_of_;
  std::vector<Shared> last_shared_;  // by set
  size_t order_ = 0;
  SkewCharges charges_;
  std::vector<Balances> balances_;                // by set
  std::unordered_map<uint64_t, Record> records_;  // by the devices of the last and the waiting rank

  // State of the collective that is being charged:
  Booked* of_ = nullptr;
  uint32_t last_rank_ = kNoCollective, account_owner_ = kNoCollective;
  std::vector<RankTime> account_, excess_;
  std::vector<uint32_t> slots_;  // by kind: index into `account_` of the last rank's own time
  std::vector<DurationNs> lengths_, paced_;  // by part
  Balances* of_set_ = nullptr;
};

}  // namespace

SkewCharges ChargeSkew(const SkewEvents& events, size_t ranks, size_t kinds,
                       DurationNs resolution) {
  return Charger(events, ranks, kinds, resolution).Run();
}

}  // namespace tacho
