#include "session/http/flush_progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho {
namespace {

constexpr size_t kMostLines = 8;

std::string Megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string Line(const FlushState& worker) {
  std::string text = fmt::format("\n  {}", worker.url);
  if (worker.took_ns) text += fmt::format("  done after {}", SecondsText(*worker.took_ns));
  if (worker.bytes) text += fmt::format("  {}", Megabytes(*worker.bytes));
  if (!worker.took_ns && worker.expected_ns)
    text += fmt::format("  of {} expected", SecondsText(*worker.expected_ns));
  if (!worker.doing.empty() && !worker.took_ns) text += fmt::format("  {}", worker.doing);
  if (!worker.said.empty() && !worker.took_ns) text += fmt::format("  log: {}", worker.said);
  return text;
}

}  // namespace

std::string SecondsText(int64_t ns) {
  return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

std::string FlushText(int64_t elapsed_ns, std::vector<FlushState> workers) {
  std::stable_partition(workers.begin(), workers.end(),
                        [](const FlushState& worker) { return !worker.took_ns; });
  std::string text = SecondsText(elapsed_ns);
  for (size_t i = 0; i < std::min(workers.size(), kMostLines); ++i) text += Line(workers[i]);
  if (workers.size() > kMostLines)
    text += fmt::format("\n  and {} more", workers.size() - kMostLines);
  return text;
}

std::string LateText(int64_t elapsed_ns, const FlushState& worker) {
  std::string text = fmt::format("{}: its flush has taken {}", worker.url, SecondsText(elapsed_ns));
  if (worker.expected_ns)
    text += fmt::format(" where {} were expected", SecondsText(*worker.expected_ns));
  if (!worker.doing.empty()) text += ": " + worker.doing;
  if (worker.bytes) text += fmt::format(" ({})", Megabytes(*worker.bytes));
  if (!worker.said.empty()) text += "; its log: " + worker.said;
  return text;
}

std::string FlushSummary(int64_t elapsed_ns, const std::vector<FlushState>& workers) {
  std::string text = SecondsText(elapsed_ns);
  uint64_t bytes = 0;
  const FlushState* slowest = nullptr;
  for (const FlushState& worker : workers) {
    bytes += worker.bytes.value_or(0);
    if (worker.took_ns && (slowest == nullptr || *worker.took_ns > *slowest->took_ns))
      slowest = &worker;
  }
  if (bytes > 0) text += fmt::format(", {}", Megabytes(bytes));
  if (slowest != nullptr && workers.size() > 1)
    text += fmt::format("; longest {}, {}", slowest->url, SecondsText(*slowest->took_ns));
  return text;
}

}  // namespace tacho
