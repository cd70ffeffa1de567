#include "analysis/ranks/collective_sizes.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace tacho {
namespace {

struct OpRow {
  CollectiveOp op;
  std::string_view id;
};
constexpr std::array<OpRow, 9> kOps = {{{CollectiveOp::kAllReduce, "all-reduce"},
                                        {CollectiveOp::kAllGather, "all-gather"},
                                        {CollectiveOp::kReduceScatter, "reduce-scatter"},
                                        {CollectiveOp::kAllToAll, "all-to-all"},
                                        {CollectiveOp::kBroadcast, "broadcast"},
                                        {CollectiveOp::kReduce, "reduce"},
                                        {CollectiveOp::kGather, "gather"},
                                        {CollectiveOp::kScatter, "scatter"},
                                        {CollectiveOp::kOther, ""}}};

// The size of what crosses each rank's links, divided by the size of the data.
double BusFactor(CollectiveOp op, int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveOp::kAllGather:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kAllToAll:
    case CollectiveOp::kGather:
    case CollectiveOp::kScatter:
      return (n - 1) / n;
    case CollectiveOp::kBroadcast:
    case CollectiveOp::kReduce:
    case CollectiveOp::kOther:
      break;
  }
  return 1;
}

// What the kernels of a collective say about its size. `differs`: they contradict each other.
struct Size {
  CollectiveOp op = CollectiveOp::kOther;
  bool differs = false;
  uint32_t parts = 0;
  int64_t ranks = 0, bytes = 0;

  void Add(CollectiveOp of, const CommMessage& message) {
    const int64_t most = std::max(message.in_bytes, message.out_bytes);
    if (parts++ > 0) {
      differs = differs || of != op || message.ranks != ranks ||
                (most != bytes && of != CollectiveOp::kAllToAll);
    }
    op = of;
    ranks = message.ranks;
    bytes = std::max(bytes, most);
  }
};

// Adds to `sizes` what the kernels of one rank say about the sizes of their collectives. `place`:
// the first entry of this rank in `places`; this function moves it past the last one.
void AddSizesOf(uint32_t rank, const std::vector<CommSeries>& all,
                std::vector<MatchedCollectives::Place>::const_iterator& place,
                const std::vector<MatchedCollectives::Place>& places, std::vector<Size>& sizes) {
  struct Sized {
    uint32_t row;
    CollectiveOp op;
    const CommMessage* message;
  };
  std::vector<Sized> kernels;
  for (const CommSeries& series : all) {
    const CollectiveOp op = CollectiveOpOf(series.name);
    if (op == CollectiveOp::kOther) continue;
    for (const CommKernel& kernel : series.kernels) {
      if (kernel.message != CommKernel::kNoMessage)
        kernels.push_back({kernel.row, op, &series.messages[kernel.message]});
    }
  }
  std::ranges::sort(kernels, {}, &Sized::row);
  auto kernel = kernels.begin();
  for (; place != places.end() && place->rank == rank; ++place) {
    while (kernel != kernels.end() && kernel->row < place->row) ++kernel;
    if (kernel != kernels.end() && kernel->row == place->row)
      sizes[place->collective].Add(kernel->op, *kernel->message);
  }
}

std::vector<Size> SizesOf(const std::vector<CommRank>& ranks, const MatchedCollectives& matched) {
  const bool any = std::ranges::any_of(ranks, [](const CommRank& rank) {
    return rank.series && std::ranges::any_of(*rank.series, [](const CommSeries& series) {
             return !series.messages.empty();
           });
  });
  if (!any) return {};
  std::vector<Size> sizes(matched.collectives.size());
  auto place = matched.places().begin();
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    while (place != matched.places().end() && place->rank < rank) ++place;
    if (ranks[rank].series) AddSizesOf(rank, *ranks[rank].series, place, matched.places(), sizes);
  }
  return sizes;
}

DurationNs LowerMedian(std::vector<DurationNs>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double GigabytesPerSecond(int64_t bytes, DurationNs time) {
  return time.ns <= 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(time.ns);
}

}  // namespace

std::string_view CollectiveOpId(CollectiveOp op) { return kOps[static_cast<size_t>(op)].id; }

CollectiveOp CollectiveOpOf(std::string_view name) {
  // The names in torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, of all versions.
  constexpr std::array<std::pair<std::string_view, CollectiveOp>, 23> kNames = {{
      {"allreduce", CollectiveOp::kAllReduce},
      {"all_reduce", CollectiveOp::kAllReduce},
      {"allreduce_coalesced", CollectiveOp::kAllReduce},
      {"allgather", CollectiveOp::kAllGather},
      {"all_gather", CollectiveOp::kAllGather},
      {"_allgather_base", CollectiveOp::kAllGather},
      {"allgather_into_tensor_coalesced", CollectiveOp::kAllGather},
      {"all_gather_into_tensor_coalesced", CollectiveOp::kAllGather},
      {"reduce_scatter", CollectiveOp::kReduceScatter},
      {"reducescatter", CollectiveOp::kReduceScatter},
      {"_reduce_scatter_base", CollectiveOp::kReduceScatter},
      {"reduce_scatter_tensor_coalesced", CollectiveOp::kReduceScatter},
      {"all_to_all", CollectiveOp::kAllToAll},
      {"alltoall", CollectiveOp::kAllToAll},
      {"alltoall_base", CollectiveOp::kAllToAll},
      {"all_to_allv", CollectiveOp::kAllToAll},
      {"alltoallv", CollectiveOp::kAllToAll},
      {"broadcast", CollectiveOp::kBroadcast},
      {"_broadcast_oop", CollectiveOp::kBroadcast},
      {"reduce", CollectiveOp::kReduce},
      {"_reduce_oop", CollectiveOp::kReduce},
      {"gather", CollectiveOp::kGather},
      {"scatter", CollectiveOp::kScatter},
  }};
  for (const auto& [known, op] : kNames) {
    if (known == name) return op;
  }
  return CollectiveOp::kOther;
}

double CollectiveSize::algorithm_bandwidth() const { return GigabytesPerSecond(bytes, transfer); }
double CollectiveSize::bus_bandwidth() const {
  return algorithm_bandwidth() * BusFactor(op, ranks);
}

std::vector<CollectiveSize> SizeCollectives(const std::vector<CommRank>& ranks,
                                            const MatchedCollectives& matched,
                                            const SkewEvents& events, const CommGroups& names) {
  const std::vector<Size> sizes = SizesOf(ranks, matched);
  if (sizes.empty()) return {};
  std::map<std::tuple<CollectiveOp, GroupKind, int64_t, int64_t>, std::vector<DurationNs>> times;
  for (const uint32_t i : events.by_end) {
    const Size& size = sizes[i];
    const Collective& collective = matched.collectives[i];
    if (size.parts != collective.parts.size() || size.differs || size.bytes == 0) continue;
    const DurationNs transfer =
        std::ranges::min_element(collective.parts, {}, &Collective::Part::length)->length;
    const int64_t members =
        size.ranks > 0 ? size.ranks : static_cast<int64_t>(collective.parts.size());
    if (transfer.ns > 0)
      times[{size.op, names.Of(collective).kind, members, size.bytes}].push_back(transfer);
  }
  std::vector<CollectiveSize> rows;
  for (auto& [key, transfers] : times) {
    CollectiveSize& row = rows.emplace_back();
    std::tie(row.op, row.group, row.ranks, row.bytes) = key;
    row.count = transfers.size();
    for (const DurationNs transfer : transfers) row.total += transfer;
    row.transfer = LowerMedian(transfers);
  }
  std::ranges::stable_sort(rows, std::greater(), &CollectiveSize::total);
  return rows;
}

}  // namespace tacho
