#include "analysis/graphs/replay_order.h"

#include <algorithm>
#include <numeric>

#include "analysis/graphs/replays.h"
#include "base/random.h"

namespace tacho {
namespace {

uint64_t KeyOfWork(const Trace& trace, uint32_t row) {
  return HashNumber(uint64_t{Index(trace.gpu.launch[row])} << 32 | Index(trace.gpu.name[row]));
}

uint64_t KeyOnStream(const Trace& trace, uint32_t row) {
  return HashNumber(KeyOfWork(trace, row) ^ HashNumber(Index(trace.gpu.stream[row])));
}

uint64_t KeyOnDevice(const Trace& trace, uint32_t row) {
  const StringId device = trace.words[trace.gpu.stream[row]].device;
  return HashNumber(KeyOfWork(trace, row) ^ HashNumber(Index(device)));
}

// The element of a short list for `stream`.
template <typename T>
T& OfStream(std::vector<std::pair<StreamId, T>>& list, StreamId stream) {
  const auto at = std::ranges::find(list, stream, &std::pair<StreamId, T>::first);
  return at != list.end() ? at->second : list.emplace_back(stream, T{}).second;
}

}  // namespace

WorkShape ShapeOfWork(const Trace& trace, std::span<const uint32_t> rows) {
  WorkShape shape;
  std::vector<std::pair<StreamId, uint64_t>> streams;
  for (const uint32_t row : rows) {
    const uint64_t key = KeyOnStream(trace, row);
    uint64_t& stream = OfStream(streams, trace.gpu.stream[row]);
    stream = HashNumber(stream ^ key);
    shape.by_stream += key;
    shape.any_order += KeyOnDevice(trace, row);
  }
  for (const auto& [stream, hash] : streams) shape.in_order += hash;
  return shape;
}

ReplayOrder::ReplayOrder(const Trace& trace, std::span<const uint32_t> rows)
    : trace_(trace), rows_(rows), shape_(ShapeOfWork(trace, rows)) {
  for (uint32_t node = 0; node < rows.size(); ++node)
    OfStream(streams_, trace.gpu.stream[rows[node]]).push_back(node);
}

void ReplayOrder::PlaceAll(std::span<const uint32_t> rows, const WorkShape& shape,
                           std::span<uint32_t> nodes) {
  if (shape.in_order != shape_.in_order) {
    const bool with_stream = shape.by_stream == shape_.by_stream;
    PlaceByKey(rows, with_stream ? by_stream_ : any_order_, with_stream, nodes);
    return;
  }
  std::vector<std::pair<StreamId, size_t>> next;
  for (size_t i = 0; i < rows.size(); ++i) {
    const StreamId stream = trace_.gpu.stream[rows[i]];
    nodes[i] = OfStream(streams_, stream)[OfStream(next, stream)++];
  }
}

void ReplayOrder::PlaceByKey(std::span<const uint32_t> rows, NodesOfKey& nodes_of, bool with_stream,
                             std::span<uint32_t> nodes) const {
  const auto key_of = with_stream ? KeyOnStream : KeyOnDevice;
  if (nodes_of.empty()) {
    for (uint32_t node = 0; node < rows_.size(); ++node)
      nodes_of[key_of(trace_, rows_[node])].push_back(node);
  }
  std::unordered_map<uint64_t, size_t> next;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t key = key_of(trace_, rows[i]);
    nodes[i] = nodes_of.at(key)[next[key]++];
  }
}

std::optional<std::vector<uint32_t>> ReplayOrder::Fit(std::span<const uint32_t> rows,
                                                      CutAt cut) const {
  std::vector<uint32_t> nodes(rows.size(), Replays::kUnplaced);
  std::vector<std::pair<StreamId, std::vector<uint32_t>>> given;  // indexes into `rows`
  for (uint32_t i = 0; i < rows.size(); ++i)
    OfStream(given, trace_.gpu.stream[rows[i]]).push_back(i);
  for (const auto& of_stream : given) {
    const std::vector<uint32_t>& part = of_stream.second;
    const auto of =
        std::ranges::find(streams_, of_stream.first, [](const auto& s) { return s.first; });
    if (of == streams_.end() || of->second.size() < part.size()) return std::nullopt;
    const std::vector<uint32_t>& whole = of->second;
    const auto same = [&](size_t given_at, size_t whole_at) {
      return KeyOfWork(trace_, rows[part[given_at]]) == KeyOfWork(trace_, rows_[whole[whole_at]]);
    };
    const size_t left_out = whole.size() - part.size();
    const auto runs_from = [&](size_t first) {
      for (size_t i = 0; i < part.size(); ++i) {
        if (!same(i, first + i)) return false;
      }
      return true;
    };
    const size_t first = cut == CutAt::kStart ? left_out : 0;
    if (cut != CutAt::kAnywhere && runs_from(first)) {
      for (size_t i = 0; i < part.size(); ++i) nodes[part[i]] = whole[first + i];
      continue;
    }
    // The first place where each row may be, if all before it are as early as they can be.
    std::vector<size_t> earliest(part.size());
    size_t at = 0;
    for (size_t i = 0; i < part.size(); ++i, ++at) {
      while (at < whole.size() && !same(i, at)) ++at;
      if (at == whole.size()) return std::nullopt;
      earliest[i] = at;
    }
    // The last place, in the same way from the end. If both are equal, there is no other place.
    at = whole.size();
    for (size_t i = part.size(); i-- > 0;) {
      do --at;
      while (!same(i, at));
      if (at == earliest[i]) nodes[part[i]] = whole[at];
    }
  }
  return nodes;
}

}  // namespace tacho
