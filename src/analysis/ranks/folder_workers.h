#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/rank_identity.h"

namespace tacho {

struct TraceOfWorker {
  std::string_view path;
  std::optional<Interval> when;  // on the clock of Unix; absent: unknown
  RankIdentity* identity = nullptr;
};

// Names the workers of traces that name none, where engines beside each other gave their files the
// same names, each in a folder of its own, as on the nodes of a cluster. Such a folder has all
// ranks of its engine, and a trace of another one has the same identity at the same time. The name
// is the part of the path that differs: "node-1" of "node-1:/tmp/profile" and of
// "fetched/node-1/tmp/profile". Cost: O(n log n), and O(f^2) for f such folders.
void NameWorkersByFolder(const std::vector<TraceOfWorker>& traces);

}  // namespace tacho
