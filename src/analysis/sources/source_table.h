#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/layers/layer_blocks.h"
#include "analysis/prepared_trace.h"
#include "analysis/sources/launch_sites.h"

namespace tacho {

// How often each launch site launched a kind of work; most often first.
struct SiteCounts {
  std::vector<std::pair<LaunchSite, uint64_t>> sites;

  void Add(const LaunchSite& site, uint64_t count);
  void Sort();
};

// From which code the work of a trace with Python frames was launched: of each kernel, and of each
// category, by block of the model. `LayerBlock::kCount` stands for work without a block.
struct SourceMap {
  std::map<std::pair<LayerBlock, std::string>, SiteCounts> by_kernel, by_category;
  std::map<std::string, SiteCounts> by_name;  // of each kernel in all blocks
  bool has_layers = false;

  [[nodiscard]] bool empty() const { return by_kernel.empty(); }
  // Adds the sites of another trace of the same engine.
  void Add(const SourceMap& other);
};
// Empty if the trace has no Python frames. Work that a graph launched does not count, because its
// launch call does not show where a kernel comes from. Launch calls that name their kernel (ROCm)
// count even without work: a recording of graph capture has only such calls, outside of all blocks.
// Cost: O(n log n).
SourceMap MapSources(const PreparedTrace& prepared);

struct SourcesAsked {
  bool asked = false;
  // Of a mapping recording, and its path; null: of the trace itself.
  std::shared_ptr<const SourceMap> map = {};
  std::string path = {};
};

// Whether sources are known; if not, why.
enum class SourcesState : uint8_t {
  kNotAsked,
  kFound,
  kNoFrames,  // no Python frame of user code is known that launched work
  kNoMatch,   // the mapping recording has no kernel with a name of the trace's
  kCount,
};
std::string_view SourcesStateId(SourcesState state);

// What connects a kernel with its sites.
enum class SourceEvidence : uint8_t {
  kKernel,    // the mapping has a kernel of this name in this block; without layers, anywhere
  kCategory,  // it has other kernels of this category in this block
  kNone,
  kCount,
};
std::string_view SourceEvidenceId(SourceEvidence evidence);  // "kernel", "category", ""

// A place in the code, and the modules in which it launches the work of a row, sorted.
struct SourceSite {
  std::string frame;
  std::vector<std::string> modules;
};

// The work of one kernel in one block of the model.
struct SourceRow {
  std::string kernel;
  std::optional<LayerBlock> block;  // absent: not in a step, or in a step without layers
  uint64_t count = 0;
  DurationNs device;  // sum of the durations
  DurationNs gap;     // time right before its work in which the device ran nothing
  SourceEvidence evidence = SourceEvidence::kNone;
  // The code that launches it, most often first; at most kMostSites. Several: it is one of them.
  std::vector<SourceSite> sites;
  uint64_t more_sites = 0;
};
inline constexpr size_t kMostSites = 4;

struct SourceTable {
  SourcesState state = SourcesState::kNotAsked;
  std::string map;                  // path of the mapping recording; "": the trace itself
  DurationNs device, one, several;  // of all rows; of rows with one site, and with several
  DurationNs by_category;           // part of `one` + `several` with SourceEvidence::kCategory
  std::vector<SourceRow> rows;      // longest first, then by kernel and block
};
// Joins the work of a trace with a map, by block of the model and kernel. `map`: of a mapping
// recording, which was made with Python stacks and without graphs, or of the trace itself. Cost:
// O(n).
SourceTable FindSources(const PreparedTrace& prepared, const SourceMap& map);

}  // namespace tacho
