#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace tacho {

// What a launch's pieces of work are, without ids: hashes of their names, grids and streams.
struct WorkShape {
  uint64_t in_order = 0;   // the sequence of each stream
  uint64_t by_stream = 0;  // the pieces of each stream, in any order
  uint64_t any_order = 0;  // the pieces of each device, in any order
};
// `rows`: rows of Trace::gpu, in order of time. Cost: O(n s) for s streams.
WorkShape ShapeOfWork(const Trace& trace, std::span<const uint32_t> rows);

// Where a launch's rows may be cut off.
enum class CutAt : uint8_t { kStart, kEnd, kAnywhere };

// The kernels of a graph in the order of one of its replays, to find the nodes of other replays.
class ReplayOrder {
 public:
  // `rows`: of the replay, in order of time; they must live as long as this object.
  ReplayOrder(const Trace& trace, std::span<const uint32_t> rows);

  [[nodiscard]] std::span<const uint32_t> rows() const { return rows_; }
  [[nodiscard]] const WorkShape& shape() const { return shape_; }
  // For a launch with the same pieces: sets the node of each of its rows, an index into rows().
  void PlaceAll(std::span<const uint32_t> rows, const WorkShape& shape, std::span<uint32_t> nodes);
  // For a launch that lacks pieces: the node of each row, or Replays::kUnplaced if the row fits
  // several. nullopt: they do not fit. Cost: O(rows()).
  [[nodiscard]] std::optional<std::vector<uint32_t>> Fit(std::span<const uint32_t> rows,
                                                         CutAt cut) const;

 private:
  using NodesOfKey = std::unordered_map<uint64_t, std::vector<uint32_t>>;

  void PlaceByKey(std::span<const uint32_t> rows, NodesOfKey& nodes_of, bool with_stream,
                  std::span<uint32_t> nodes) const;

  const Trace& trace_;
  std::span<const uint32_t> rows_;
  WorkShape shape_;
  std::vector<std::pair<StreamId, std::vector<uint32_t>>> streams_;  // nodes, in order
  NodesOfKey by_stream_, any_order_;                                 // made when needed
};

}  // namespace tacho
