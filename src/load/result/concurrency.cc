#include "load/result/concurrency.h"

#include <algorithm>

#include "base/time.h"

namespace tacho {
namespace {

constexpr double kOfLevel = 0.95;

// A moment at which a request begins or ends. In `count`, EdgesOf first stores 1 (begins) or -1
// (ends), and later the number of requests in flight from this moment on.
struct Edge {
  int64_t at_ns = 0;
  int64_t count = 0;
};

std::vector<Edge> EdgesOf(std::span<const RequestRecord> requests) {
  std::vector<Edge> edges;
  for (const RequestRecord& request : requests) {
    if (request.sent_ns == 0 || request.ended_ns <= request.sent_ns) continue;
    edges.push_back({request.sent_ns, 1});
    edges.push_back({request.ended_ns, -1});
  }
  // At equal times ends come before beginnings, because intervals are half-open.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.count < b.count;
  });
  int64_t count = 0;
  for (Edge& edge : edges) edge.count = count += edge.count;
  return edges;
}

double MedianCount(std::span<const Edge> edges, int64_t from_ns, int64_t to_ns) {
  std::vector<std::pair<int64_t, int64_t>> spans;  // number in flight, and for how long
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    const int64_t begin = std::max(edges[i].at_ns, from_ns);
    const int64_t end = std::min(edges[i + 1].at_ns, to_ns);
    if (end > begin) spans.emplace_back(edges[i].count, end - begin);
  }
  std::sort(spans.begin(), spans.end());
  int64_t left = (to_ns - from_ns) / 2;
  for (const auto& [count, time] : spans) {
    if ((left -= time) <= 0) return static_cast<double>(count);
  }
  return spans.empty() ? 0 : static_cast<double>(spans.back().first);
}

}  // namespace

Concurrency ConcurrencyOf(std::span<const RequestRecord> requests, int64_t started_ns) {
  Concurrency all;
  const std::vector<Edge> edges = EdgesOf(requests);
  if (edges.empty()) return all;
  double area = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    const auto count = static_cast<double>(edges[i].count);
    all.peak = std::max(all.peak, static_cast<uint64_t>(edges[i].count));
    area += count * static_cast<double>(edges[i + 1].at_ns - edges[i].at_ns);
    int64_t from = std::max(edges[i].at_ns, started_ns);
    while (from < edges[i + 1].at_ns) {
      const auto second = static_cast<size_t>((from - started_ns) / kNsPerSecond);
      const int64_t to = std::min(edges[i + 1].at_ns,
                                  started_ns + static_cast<int64_t>(second + 1) * kNsPerSecond);
      if (all.each_second.size() <= second) all.each_second.resize(second + 1);
      all.each_second[second] += count * static_cast<double>(to - from) / kNsPerSecond;
      from = to;
    }
  }
  const int64_t span = edges.back().at_ns - edges.front().at_ns;
  if (span > 0) all.mean = area / static_cast<double>(span);
  return all;
}

std::optional<SteadyWindow> SteadyWindowOf(std::span<const RequestRecord> requests,
                                           uint64_t most_at_once) {
  const std::vector<Edge> edges = EdgesOf(requests);
  if (edges.empty()) return std::nullopt;
  int64_t last_sent = 0;
  for (const RequestRecord& request : requests) last_sent = std::max(last_sent, request.sent_ns);
  const double median = MedianCount(edges, edges.front().at_ns, last_sent);
  const double bound = static_cast<double>(most_at_once) * kOfLevel;
  const double level = most_at_once > 0 && median >= bound ? bound : median * kOfLevel;
  SteadyWindow window;
  window.level = level;
  bool begun = false;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    if (static_cast<double>(edges[i].count) < level) continue;
    if (!begun) window.from_ns = edges[i].at_ns;
    begun = true;
    window.to_ns = edges[i + 1].at_ns;
  }
  if (!begun) return std::nullopt;
  return window;
}

}  // namespace tacho
