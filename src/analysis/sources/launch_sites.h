#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/index/dense_index.h"
#include "analysis/index/host_tree.h"

namespace tacho {

// The Python code that launched a piece of work.
struct LaunchSite {
  std::string frame;   // innermost frame of user code: "vllm/_custom_ops.py(334): rms_norm"
  std::string module;  // innermost nn.Module, without its number: "RMSNorm"; "": no module is open

  auto operator<=>(const LaunchSite&) const = default;
};

// Finds what the threads of a trace with Python frames were running. Cost: O(n log n) for all
// frames and questions; 44 bytes a frame.
class LaunchSites {
 public:
  static constexpr uint32_t kNone = DenseIndex::kNone;

  // `index` must outlive this object.
  explicit LaunchSites(const TrackIndex& index);
  // The site that was open on a thread at a time, as an index into sites(). kNone: no frame of user
  // code was open.
  uint32_t At(TrackId track, TimeNs t);
  [[nodiscard]] const std::vector<LaunchSite>& sites() const { return sites_; }

 private:
  uint32_t SiteOfNode(int32_t node);

  const TrackIndex& index_;
  HostTree frames_;
  std::vector<uint32_t> site_of_node_;  // kUnknown: not looked for yet
  std::vector<LaunchSite> sites_;
};

}  // namespace tacho
