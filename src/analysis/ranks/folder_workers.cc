#include "analysis/ranks/folder_workers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace tacho {
namespace {

using Traces = std::vector<const TraceOfWorker*>;

std::vector<std::string_view> PartsOf(std::string_view folder) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= folder.size();) {
    const size_t end = std::min(folder.find('/', at), folder.size());
    std::string_view part = folder.substr(at, end - at);
    if (part.ends_with(':')) part.remove_suffix(1);  // a node: "node-1:/tmp"
    parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

// Whether the traces are of all ranks of a world.
bool IsWhole(const Traces& traces) {
  std::set<int64_t> ranks;
  for (const TraceOfWorker* trace : traces) {
    if (trace->identity->world_size != traces.front()->identity->world_size) return false;
    ranks.insert(*trace->identity->rank);
  }
  return ranks.size() == static_cast<size_t>(*traces.front()->identity->world_size);
}

bool AreBesideEachOther(const Traces& a, const Traces& b) {
  return std::ranges::any_of(a, [&](const TraceOfWorker* one) {
    return std::ranges::any_of(b, [&](const TraceOfWorker* other) {
      return *one->identity == *other->identity && one->when->start < other->when->end &&
             other->when->start < one->when->end;
    });
  });
}

}  // namespace

void NameWorkersByFolder(const std::vector<TraceOfWorker>& traces) {
  std::map<std::string_view, Traces> folders;
  for (const TraceOfWorker& trace : traces) {
    const RankIdentity& identity = *trace.identity;
    const size_t slash = trace.path.rfind('/');
    if (!identity.worker.empty() || !identity.rank || !identity.world_size || !trace.when ||
        slash == std::string_view::npos)
      continue;
    folders[trace.path.substr(0, slash)].push_back(&trace);
  }
  std::erase_if(folders, [](const auto& folder) { return !IsWhole(folder.second); });
  std::erase_if(folders, [&](const auto& folder) {
    return std::ranges::none_of(folders, [&](const auto& other) {
      return other.first != folder.first && AreBesideEachOther(folder.second, other.second);
    });
  });
  if (folders.size() < 2) return;

  std::vector<std::vector<std::string_view>> parts;
  size_t depth = SIZE_MAX;
  for (const auto& [folder, of_folder] : folders) {
    parts.push_back(PartsOf(folder));
    depth = std::min(depth, parts.back().size());
  }
  for (size_t i = 0; i < depth; ++i) {
    std::set<std::string_view> names;
    for (const auto& of_folder : parts) names.insert(of_folder[i]);
    if (names.size() < folders.size()) continue;
    size_t next = 0;
    for (const auto& [folder, of_folder] : folders) {
      for (const TraceOfWorker* trace : of_folder) trace->identity->worker = parts[next][i];
      ++next;
    }
    return;
  }
}

}  // namespace tacho
