#include "analysis/sources/source_table.h"

#include <algorithm>
#include <array>
#include <functional>

#include "analysis/layers/step_layers.h"
#include "base/json_text.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(SourcesState::kCount)> kSourcesStateIds =
    {"not-asked", "found", "no-frames", "no-match"};
constexpr std::array<std::string_view, static_cast<size_t>(SourceEvidence::kCount)>
    kSourceEvidenceIds = {"kernel", "category", ""};

// Calls `visit` for each item of each device in the order of time, with its block.
bool EachItemsBlock(const PreparedTrace& prepared, auto visit) {
  const LayeredSteps layers = LayersOfSteps(prepared);
  auto step = layers.steps.begin();
  for (const DeviceItems& device : prepared.work.devices) {
    std::vector<LayerBlock> blocks(device.items.size(), LayerBlock::kCount);
    for (; step != layers.steps.end() && step->of.device == &device; ++step) {
      for (size_t i = 0; i < step->blocks.size(); ++i)
        blocks[static_cast<size_t>(&step->of.Work(i) - device.items.data())] = step->blocks[i];
    }
    for (size_t i = 0; i < device.items.size(); ++i) visit(device, i, blocks[i]);
  }
  return layers.state == LayersState::kFound;
}

void AddSites(auto& to, const auto& from) {
  for (const auto& [key, counts] : from) {
    for (const auto& [site, count] : counts.sites) to[key].Add(site, count);
    to[key].Sort();
  }
}

struct FoundSites {
  const SiteCounts* sites = nullptr;
  SourceEvidence evidence = SourceEvidence::kNone;
};

FoundSites SitesOf(const SourceMap& map, LayerBlock block, const std::string& kernel,
                   const std::string& category) {
  if (const auto at = map.by_kernel.find({block, kernel}); at != map.by_kernel.end())
    return {&at->second, SourceEvidence::kKernel};
  if (const auto at = map.by_name.find(kernel);
      at != map.by_name.end() && (block == LayerBlock::kCount || !map.has_layers))
    return {&at->second, SourceEvidence::kKernel};
  if (const auto at = map.by_category.find({block, category});
      at != map.by_category.end() && block != LayerBlock::kCount)
    return {&at->second, SourceEvidence::kCategory};
  return {};
}

// When and where the code ran that put `item` onto its device; nullopt if that is unknown.
std::optional<std::pair<TrackId, TimeNs>> LaunchedAt(const PreparedTrace& prepared,
                                                     const WorkItem& item) {
  const Trace& trace = prepared.index.trace();
  if (prepared.work.on_host) {
    if (item.row >= trace.host_ops.size()) return std::nullopt;
    return std::pair(trace.host_ops.track[item.row], trace.host_ops.start[item.row]);
  }
  const uint32_t call = prepared.links.call_of_gpu[item.row];
  if (call == LaunchLinks::kNone || IsGraphLaunch(trace.Text(trace.host_calls.name[call])))
    return std::nullopt;
  return std::pair(trace.host_calls.track[call], trace.host_calls.start[call]);
}

// Calls visit(call, kernel) for each launch call that names its kernel (ROCm) and has no work in
// the trace. While a graph is captured, launches run nothing.
void EachWorklessLaunch(const PreparedTrace& prepared, auto visit) {
  const Trace& trace = prepared.index.trace();
  std::vector<bool> has_work(trace.host_calls.size());
  for (const uint32_t call : prepared.links.call_of_gpu) {
    if (call != LaunchLinks::kNone) has_work[call] = true;
  }
  for (uint32_t call = 0; call < has_work.size(); ++call) {
    if (has_work[call] ||
        trace.Text(trace.host_calls.name[call]).find("LaunchKernel") == std::string_view::npos)
      continue;
    if (const auto kernel = ArgText(trace, HostCallArgs(trace, call), "kernel"))
      visit(call, JsonStringOrText(*kernel));
  }
}

std::vector<SourceSite> PlacesOf(const SiteCounts& counts) {
  std::vector<SourceSite> places;
  for (const auto& [site, count] : counts.sites) {
    auto at = std::ranges::find(places, site.frame, &SourceSite::frame);
    if (at == places.end()) at = places.insert(places.end(), {site.frame, {}});
    if (!site.module.empty()) at->modules.push_back(site.module);
  }
  for (SourceSite& place : places) std::ranges::sort(place.modules);
  return places;
}

}  // namespace

void SiteCounts::Add(const LaunchSite& site, uint64_t count) {
  const auto at = std::ranges::find(sites, site, &std::pair<LaunchSite, uint64_t>::first);
  if (at == sites.end())
    sites.emplace_back(site, count);
  else
    at->second += count;
}
void SiteCounts::Sort() {
  std::ranges::sort(sites, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
}

void SourceMap::Add(const SourceMap& other) {
  AddSites(by_kernel, other.by_kernel);
  AddSites(by_category, other.by_category);
  AddSites(by_name, other.by_name);
  has_layers = has_layers || other.has_layers;
}

SourceMap MapSources(const PreparedTrace& prepared) {
  const Trace& trace = prepared.index.trace();
  SourceMap map;
  if (trace.python_frames.size() == 0) return map;
  LaunchSites sites(prepared.index);
  std::map<std::tuple<LayerBlock, StringId, WorkCategory, uint32_t>, uint64_t> counts;
  map.has_layers =
      EachItemsBlock(prepared, [&](const DeviceItems& device, size_t i, LayerBlock block) {
        const WorkItem& item = device.items[i];
        if (item.continued) return;
        const auto launch = LaunchedAt(prepared, item);
        if (!launch) return;
        const uint32_t site = sites.At(launch->first, launch->second);
        if (site != LaunchSites::kNone) ++counts[{block, item.name, item.category, site}];
      });
  for (const auto& [key, count] : counts) {
    const auto& [block, name, category, site] = key;
    const LaunchSite& at = sites.sites()[site];
    const std::string kernel(trace.Text(name));
    map.by_kernel[{block, kernel}].Add(at, count);
    map.by_name[kernel].Add(at, count);
    map.by_category[{block, prepared.work.categories[category]}].Add(at, count);
  }
  EachWorklessLaunch(prepared, [&](uint32_t call, const std::string& kernel) {
    const uint32_t site = sites.At(trace.host_calls.track[call], trace.host_calls.start[call]);
    if (site == LaunchSites::kNone) return;
    map.by_kernel[{LayerBlock::kCount, kernel}].Add(sites.sites()[site], 1);
    map.by_name[kernel].Add(sites.sites()[site], 1);
  });
  const auto sort = [](auto& of) {
    for (auto& [key, found] : of) found.Sort();
  };
  sort(map.by_kernel);
  sort(map.by_category);
  sort(map.by_name);
  return map;
}

SourceTable FindSources(const PreparedTrace& prepared, const SourceMap& map) {
  const Trace& trace = prepared.index.trace();
  SourceTable table;
  struct Sums {
    uint64_t count = 0;
    DurationNs device, gap;
  };
  std::map<std::tuple<LayerBlock, StringId, WorkCategory>, Sums> sums;
  TimeNs until{};
  EachItemsBlock(prepared, [&](const DeviceItems& device, size_t i, LayerBlock block) {
    const WorkItem& item = device.items[i];
    Sums& of = sums[{block, item.name, item.category}];
    if (!item.continued) ++of.count;
    of.device += item.when.length();
    if (i > 0) of.gap += std::max(DurationNs{}, item.when.start - until);
    until = i > 0 ? std::max(until, item.when.end) : item.when.end;
  });
  for (const auto& [key, of] : sums) {
    const auto& [block, name, category] = key;
    SourceRow& row = table.rows.emplace_back();
    row.kernel = trace.Text(name);
    if (block != LayerBlock::kCount) row.block = block;
    row.count = of.count;
    row.device = of.device;
    row.gap = of.gap;
    const FoundSites found = SitesOf(map, block, row.kernel, prepared.work.categories[category]);
    row.evidence = found.evidence;
    table.device += of.device;
    if (found.sites == nullptr) continue;
    row.sites = PlacesOf(*found.sites);
    if (row.sites.size() > kMostSites) {
      row.more_sites = row.sites.size() - kMostSites;
      row.sites.resize(kMostSites);
    }
    (row.sites.size() == 1 ? table.one : table.several) += of.device;
    if (row.evidence == SourceEvidence::kCategory) table.by_category += of.device;
  }
  std::ranges::sort(table.rows, [](const SourceRow& a, const SourceRow& b) {
    return std::tuple(-a.device.ns, a.kernel, a.block) <
           std::tuple(-b.device.ns, b.kernel, b.block);
  });
  // Without a kernel in common the map is of another engine or another GPU.
  if (table.one + table.several > table.by_category) {
    table.state = SourcesState::kFound;
    return table;
  }
  table.state = map.empty() ? SourcesState::kNoFrames : SourcesState::kNoMatch;
  table.one = table.several = table.by_category = {};
  for (SourceRow& row : table.rows) {
    row.evidence = SourceEvidence::kNone;
    row.sites.clear();
    row.more_sites = 0;
  }
  return table;
}

std::string_view SourcesStateId(SourcesState state) {
  return kSourcesStateIds.at(static_cast<size_t>(state));
}
std::string_view SourceEvidenceId(SourceEvidence evidence) {
  return kSourceEvidenceIds.at(static_cast<size_t>(evidence));
}

}  // namespace tacho
