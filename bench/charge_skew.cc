// How long tacho takes to charge the waits of many ranks in many collectives, from digests, as one
// JSON object. It runs on one thread.
//
// usage: charge_skew [RANKS] [COLLECTIVES]     (256 ranks, 100,000 collectives)
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "analysis/ranks/blame.h"

namespace tacho {
namespace {

// Ranks that meet every 60 us or so; each does up to six kinds of work before.
class Digests {
 public:
  Digests(uint32_t ranks, uint32_t collectives) {
    std::vector<std::mt19937> random;
    std::vector<CommSeries> series(ranks);
    std::vector<LeadUps> lead_ups(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) random.emplace_back(rank);
    TimeNs now{1'000'000};
    std::vector<DurationNs> leads(ranks);
    std::vector<std::vector<LeadUps::Part>> parts(ranks);
    for (uint32_t i = 0; i < collectives; ++i) {
      DurationNs longest;
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        leads[rank] = {};
        parts[rank] = {{kLeadCollective, {}}};
        for (LeadKind kind = 0; kind < 6; ++kind) {
          const DurationNs time{1'000 + static_cast<int64_t>(random[rank]() % 9'000)};
          parts[rank].push_back({static_cast<LeadKind>(kind * 3), time});
          leads[rank] += time;
        }
        longest = std::max(longest, leads[rank]);
      }
      const TimeNs end = now + longest + DurationNs{10'000};
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        const Interval when{now + leads[rank], end};
        parts[rank][0].time = when.length();
        series[rank].kernels.push_back({i * 10, 0, when});
        // 65 collectives a step, launched one by one.
        const auto launched = static_cast<uint32_t>(i % 65 * 10'000 + random[rank]() % 2'000);
        lead_ups[rank].Add(i * 10, {i / 65, launched}, parts[rank]);
      }
      now = end;
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      series[rank].key = series[rank].name = "allreduce";
      series[rank].device = "0";
      lead_ups[rank].ShrinkToFit();
      TraceDigest& digest = digests_.emplace_back();
      digest.communication = std::make_shared<const std::vector<CommSeries>>(
          std::vector<CommSeries>{std::move(series[rank])});
      digest.lead_ups.push_back(std::move(lead_ups[rank]));
      digest.categories.assign(40, "gemm");
    }
  }

  [[nodiscard]] std::vector<CommRank> ranks() const {
    std::vector<CommRank> ranks;
    for (size_t i = 0; i < digests_.size(); ++i) {
      CommRank& rank = ranks.emplace_back();
      rank.identity.rank = static_cast<int64_t>(i);
      rank.series = digests_[i].communication;
    }
    return ranks;
  }
  [[nodiscard]] DigestsOfRanks digests() const {
    DigestsOfRanks digests;
    for (const TraceDigest& digest : digests_) digests.push_back(&digest);
    return digests;
  }
  [[nodiscard]] size_t LeadUpBytes() const {
    size_t bytes = 0;
    for (const TraceDigest& digest : digests_) bytes += digest.lead_ups[0].MemoryBytes();
    return bytes;
  }

 private:
  std::vector<TraceDigest> digests_;
};

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace
}  // namespace tacho

int main(int argc, char** argv) {
  const auto number = [&](int i, uint32_t fallback) {
    return argc > i ? static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)) : fallback;
  };
  const uint32_t ranks = number(1, 256), collectives = number(2, 100'000);
  if (ranks < 2 || collectives < 3) {
    fmt::print(stderr, "usage: charge_skew [RANKS] [COLLECTIVES]\n");
    return 1;
  }
  const tacho::Digests digests(ranks, collectives);
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = tacho::CpuSeconds();
  const tacho::RankBlame blame = tacho::BlameRanks(digests.ranks(), digests.digests());
  const double cpu = tacho::CpuSeconds() - cpu_begin;
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double parts = static_cast<double>(ranks) * static_cast<double>(collectives);
  fmt::print(
      "{{\"ranks\": {}, \"collectives\": {}, \"wall_s\": {:.2f}, \"cpu_s\": {:.2f}, "
      "\"bytes_a_part\": {:.1f}, \"charged\": {}}}\n",
      ranks, collectives, wall, cpu, static_cast<double>(digests.LeadUpBytes()) / parts,
      blame.collectives);
  return blame.collectives == collectives ? 0 : 1;
}
