#include "ray/node_memory.h"

#include <algorithm>
#include <string>

#include "base/parse_number.h"
#include "io/read_whole.h"

namespace tacho {
namespace {

constexpr uint64_t kLeast = uint64_t{512} << 20, kIfUnknown = uint64_t{2} << 30;

std::string FileText(const std::string& path) {
  constexpr size_t kMost = 1 << 16;
  return ReadWholeFile(path, kMost).value_or("");
}

// The number after `key` at the begin of a line; without a key, the one that the text begins with.
std::optional<uint64_t> NumberIn(const std::string& text, const std::string& key) {
  const size_t at = key.empty() || text.starts_with(key) ? 0 : text.find("\n" + key);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(at + (at == 0 ? 0 : 1) + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return TakeNumber<uint64_t>(rest);
}

// Lowers `memory` to what a container has, by the files that Ray's own monitor reads. Files that
// were read and can be dropped are free.
void LowerTo(const std::string& limit, const std::string& usage, const std::string& stat,
             const char* inactive, NodeMemory& memory) {
  const auto most = NumberIn(FileText(limit), "");
  const auto used = NumberIn(FileText(usage), "");
  if (!most || !used || *most >= memory.total) return;
  const uint64_t files = std::min(*used, NumberIn(FileText(stat), inactive).value_or(0));
  const uint64_t taken = std::min(*most, *used - files);
  memory.total = *most;
  memory.free = std::min(memory.free, *most - taken);
}

}  // namespace

NodeMemory MeasureMemory() {
  const std::string host = FileText("/proc/meminfo");
  NodeMemory memory;
  memory.total = NumberIn(host, "MemTotal:").value_or(0) * 1024;
  memory.free = NumberIn(host, "MemAvailable:").value_or(0) * 1024;
  const std::string groups = "/sys/fs/cgroup/";
  LowerTo(groups + "memory.max", groups + "memory.current", groups + "memory.stat",
          "inactive_file ", memory);
  LowerTo(groups + "memory/memory.limit_in_bytes", groups + "memory/memory.usage_in_bytes",
          groups + "memory/memory.stat", "total_inactive_file ", memory);
  return memory;
}

std::optional<uint64_t> MemoryFor(const NodeMemory& memory) {
  if (memory.total == 0) return kIfUnknown;
  const uint64_t used = memory.total - std::min(memory.total, memory.free);
  const uint64_t most = memory.total / 10 * 9;
  if (most < used + kLeast) return std::nullopt;
  return most - used;
}

}  // namespace tacho
