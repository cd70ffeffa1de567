#include "analysis/sources/launch_sites.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analysis/index/host_cover.h"
#include "analysis/names/module_name.h"

namespace tacho {
namespace {

constexpr uint32_t kUnknownSite = LaunchSites::kNone - 1;

HostTree NestedFrames(const TrackIndex& index) {
  std::vector<HostRows> rows;
  rows.emplace_back(SliceKind::kPythonFrame, index.python_frames());
  return NestHostSlices(rows);
}

}  // namespace

LaunchSites::LaunchSites(const TrackIndex& index)
    : index_(index),
      frames_(NestedFrames(index)),
      site_of_node_(frames_.nodes.size(), kUnknownSite) {}

uint32_t LaunchSites::At(TrackId track, TimeNs t) {
  if (Index(track) + 1 >= frames_.track_begin.size()) return kNone;
  const auto nodes = frames_.nodes.begin();
  const auto first = nodes + frames_.track_begin[Index(track)];
  const auto last = nodes + frames_.track_begin[Index(track) + 1];
  const auto next = std::upper_bound(
      first, last, t, [](TimeNs at, const HostTree::Node& node) { return at < node.when.start; });
  if (next == first) return kNone;
  auto node = static_cast<int32_t>(std::distance(nodes, next)) - 1;
  while (node >= 0 && frames_.nodes[static_cast<size_t>(node)].when.end <= t)
    node = frames_.nodes[static_cast<size_t>(node)].parent;
  return node < 0 ? kNone : SiteOfNode(node);
}

uint32_t LaunchSites::SiteOfNode(int32_t node) {
  uint32_t& known = site_of_node_[static_cast<size_t>(node)];
  if (known != kUnknownSite) return known;
  LaunchSite site;
  for (; node >= 0 && (site.frame.empty() || site.module.empty());
       node = frames_.nodes[static_cast<size_t>(node)].parent) {
    const std::string_view name =
        index_.trace().Text(frames_.nodes[static_cast<size_t>(node)].name);
    if (const auto module = ModuleNameOf(name)) {
      if (site.module.empty()) site.module = module->of_class;
    } else if (site.frame.empty() && IsUserCode(name)) {
      site.frame = name;
    }
  }
  if (site.frame.empty()) return known = kNone;
  const auto at = std::ranges::find(sites_, site);
  known = static_cast<uint32_t>(at - sites_.begin());
  if (at == sites_.end()) sites_.push_back(std::move(site));
  return known;
}

}  // namespace tacho
