#include "analysis/ranks/expert_balance.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace tacho {
namespace {

// Whether it is "moe.gemm" or a category below it, which a user's rules may add.
bool IsGroupedGemm(std::string_view category) {
  constexpr std::string_view kCategory = "moe.gemm";
  return category.starts_with(kCategory) &&
         (category.size() == kCategory.size() || category[kCategory.size()] == '.');
}

// The time of the grouped GEMMs of one layer, by part of its collective.
struct Layer {
  std::vector<DurationNs> gemms;
  DurationNs longest, sum;

  [[nodiscard]] DurationNs mean() const { return {sum.ns / static_cast<int64_t>(gemms.size())}; }
};

// A block of consecutive layers. The test whether chance explains who is slow counts blocks, not
// layers, since what makes a rank slow in one layer (a popular expert, a prompt) makes it slow in
// the next one, too.
struct Chance {
  // By part: its time less the mean of the parts, times the number of parts.
  std::vector<int64_t> balances;
  size_t layers = 0;
};
struct Evidence {
  double excess = 0, squares = 0, variance = 0;  // as in SkewCharges::OfRank, but over blocks
  std::set<uint32_t> together;  // ranks that share layers with this one, and itself
};

class Balancer {
 public:
  Balancer(const SkewEvents& events, const SkewCharges& charges,
           const std::vector<std::string>& categories)
      : events_(events),
        charges_(charges),
        rows_(charges.ranks.size()),
        evidence_(charges.ranks.size()),
        is_gemm_(kLeadFirstCategory + categories.size()) {
    for (size_t i = 0; i < categories.size(); ++i)
      is_gemm_[kLeadFirstCategory + i] = IsGroupedGemm(categories[i]) ? 1 : 0;
  }

  [[nodiscard]] bool any() const { return std::ranges::find(is_gemm_, 1) != is_gemm_.end(); }

  ExpertBalance Run(const MatchedCollectives& matched, const CommGroups& names) && {
    ExpertBalance balance;
    std::vector<uint32_t> layers;
    std::vector<size_t> layers_of(events_.sets.size());  // by set
    for (const uint32_t collective : events_.by_end) {
      ReadLayer(collective);
      if (layer_.longest.ns == 0) continue;
      layers.push_back(collective);
      ++layers_of[events_.set_of[collective]];
    }
    std::vector<Chance> chances(events_.sets.size());
    constexpr size_t kMostBlocks = 64;
    for (const uint32_t collective : layers) {
      ReadLayer(collective);
      const uint32_t set = events_.set_of[collective];
      balance.exchanged += names.Of(matched.collectives[collective]).kind == GroupKind::kExpert;
      balance.slowest += layer_.longest;
      balance.above_mean += layer_.longest - layer_.mean();
      AddToRows(events_.PartsOf(collective));
      AddToBlock(chances[set]);
      if (chances[set].layers == (layers_of[set] + kMostBlocks - 1) / kMostBlocks)
        CloseBlock(chances[set], events_.sets[set]);
    }
    for (size_t set = 0; set < chances.size(); ++set) {
      CloseBlock(chances[set], events_.sets[set]);
      if (layers_of[set] > 0) AddTogether(events_.sets[set]);
    }
    balance.layers = layers.size();
    Finish(balance);
    return balance;
  }

 private:
  using Part = SkewEvents::Part;

  [[nodiscard]] uint32_t RankOf(uint32_t device) const { return events_.devices[device].rank; }

  // The time of grouped GEMMs between the device's previous matched collective and this one.
  [[nodiscard]] DurationNs GemmsBefore(const Part& part) const {
    const SkewEvents::Device& device = events_.devices[part.device];
    DurationNs gemms;
    for (uint32_t kernel = part.kernel;; --kernel) {
      const size_t end = device.lead_ups->EndOfParts(kernel);
      for (size_t i = device.lead_ups->FirstPart(kernel); i < end; ++i) {
        const LeadUps::Part each = device.lead_ups->PartAt(i);
        if (is_gemm_[each.kind] != 0) gemms += each.time;
      }
      if (kernel == 0 || device.collectives[kernel - 1] != SkewEvents::kNone) return gemms;
    }
  }

  void ReadLayer(uint32_t collective) {
    layer_.gemms.clear();
    layer_.longest = layer_.sum = {};
    for (const Part& part : events_.PartsOf(collective)) {
      layer_.gemms.push_back(GemmsBefore(part));
      layer_.longest = std::max(layer_.longest, layer_.gemms.back());
      layer_.sum += layer_.gemms.back();
    }
  }

  void AddToRows(std::span<const Part> parts) {
    const auto others = static_cast<int64_t>(parts.size()) - 1;
    for (size_t i = 0; i < parts.size(); ++i) {
      const uint32_t rank = RankOf(parts[i].device);
      ExpertBalance::Row& row = rows_[rank];
      ++row.layers;
      row.gemms += layer_.gemms[i];
      row.longest += layer_.gemms[i] == layer_.longest;
      row.longer += layer_.gemms[i] - DurationNs{(layer_.sum - layer_.gemms[i]).ns / others};
    }
  }

  void AddTogether(const SkewEvents::Set& set) {
    for (const uint32_t device : set.devices) {
      for (const uint32_t other : set.devices)
        evidence_[RankOf(device)].together.insert(RankOf(other));
    }
  }

  void AddToBlock(Chance& block) const {
    const auto count = static_cast<int64_t>(layer_.gemms.size());
    block.balances.resize(layer_.gemms.size());
    for (size_t i = 0; i < layer_.gemms.size(); ++i)
      block.balances[i] += layer_.gemms[i].ns * count - layer_.sum.ns;
    ++block.layers;
  }

  void CloseBlock(Chance& block, const SkewEvents::Set& set) {
    double all = 0;
    for (const int64_t balance : block.balances)
      all += static_cast<double>(balance) * static_cast<double>(balance);
    for (size_t i = 0; i < block.balances.size(); ++i) {
      const auto balance = static_cast<double>(block.balances[i]);
      Evidence& evidence = evidence_[RankOf(set.devices[i])];
      evidence.excess += balance;
      evidence.squares += balance * balance;
      evidence.variance += all / static_cast<double>(block.balances.size());
    }
    block = {};
  }

  [[nodiscard]] bool StandsOut(const ExpertBalance::Row& row) const {
    constexpr double kDeviations = 4, kLeastTimes = 4, kTimesFairShare = 1.5, kMostShare = 0.75;
    constexpr double kLeastLonger = 0.02;
    const Evidence& evidence = evidence_[row.rank];
    DurationNs waits;
    for (const uint32_t rank : evidence.together) waits += rows_[rank].caused;
    const double fair_share = 1 / static_cast<double>(evidence.together.size());
    return evidence.excess > 0 &&
           static_cast<double>(row.longer.ns) >=
               kLeastLonger * static_cast<double>((row.gemms - row.longer).ns) &&
           evidence.excess >= kDeviations * std::sqrt(evidence.variance) &&
           evidence.excess * evidence.excess >= kLeastTimes * evidence.squares &&
           static_cast<double>(row.caused.ns) >=
               std::min(kTimesFairShare * fair_share, kMostShare) * static_cast<double>(waits.ns);
  }

  void Finish(ExpertBalance& balance) {
    for (size_t rank = 0; rank < rows_.size(); ++rank) {
      ExpertBalance::Row& row = rows_[rank];
      if (row.layers == 0) continue;
      row.rank = rank;
      row.others = evidence_[rank].together.size() - 1;
      const std::vector<DurationNs>& caused = charges_.ranks[rank].caused_by;
      for (size_t kind = kLeadFirstCategory; kind < caused.size(); ++kind) {
        if (is_gemm_[kind] != 0) row.caused += caused[kind];
      }
      balance.waits += row.caused;
      balance.table.push_back(row);
    }
    for (ExpertBalance::Row& row : balance.table) row.stands_out = StandsOut(row);
  }

  const SkewEvents& events_;
  const SkewCharges& charges_;
  std::vector<ExpertBalance::Row> rows_;  // by rank
  std::vector<Evidence> evidence_;        // by rank
  std::vector<uint8_t> is_gemm_;          // by LeadKind
  Layer layer_;                           // the layer that ReadLayer read last
};

}  // namespace

double ExpertBalance::imbalance() const {
  const DurationNs mean = slowest - above_mean;
  return mean.ns <= 0 ? 0 : static_cast<double>(slowest.ns) / static_cast<double>(mean.ns);
}

std::optional<DurationNs> ExpertBalance::a_step(DurationNs of) const {
  if (steps == 0) return std::nullopt;
  return DurationNs{of.ns / static_cast<int64_t>(steps)};
}

std::optional<DurationNs> ExpertBalance::cost_a_step(const Row& row) const {
  if (row.others == 0) return std::nullopt;
  return a_step({row.caused.ns / static_cast<int64_t>(row.others)});
}

ExpertBalance BalanceExperts(const MatchedCollectives& matched, const SkewEvents& events,
                             const SkewCharges& charges, const CommGroups& names,
                             const std::vector<std::string>& categories) {
  Balancer balancer(events, charges, categories);
  return balancer.any() ? std::move(balancer).Run(matched, names) : ExpertBalance{};
}

}  // namespace tacho
