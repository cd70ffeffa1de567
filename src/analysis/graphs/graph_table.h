#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/layers/step_layers.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// Whether replayed graphs were found; if not, why.
enum class GraphsState : uint8_t {
  kFound,
  kNoLaunches,  // no graph was launched
  kNoWork,      // no launch has all its work in the trace
  kAsOne,       // each launch was recorded as one piece, without its kernels
  kTimes,       // the trace's device times are unreliable (integrity)
  kCount,
};
std::string_view GraphsStateId(GraphsState state);  // "found", "no-launches", ...

// A kernel, copy or memset of a graph.
struct GraphNodeRow {
  uint32_t name = 0;  // index into GraphTable::names
  std::string stream;
  // Of its work in steps with layers, if it is the same in all: the layer, and the block of the
  // model. Work outside of all layers has only a block.
  std::optional<uint32_t> layer;
  std::optional<LayerBlock> block;
  uint64_t count = 0;    // replays that have it
  DurationNs total;      // of all these
  DurationNs deviation;  // standard deviation of its durations
  // Time before it in which nothing of the replay ran on its device, summed over whole replays.
  DurationNs gap;
};

// The part of a graph's batch that its launches computed for no token.
struct GraphPadding {
  uint64_t replays = 0;  // launches in steps with known tokens
  uint64_t padded = 0;   // launches in steps of fewer tokens than the graph's batch
  int64_t tokens = 0;    // the sum of the batch minus the step's tokens over these
  // The most that the padding cost, if a larger batch takes no less time: for each padded launch,
  // the mean time of its graph minus that of the largest graph with room for no more than its
  // tokens, at the same place, in the same phase and on the same device. Absent if a padded launch
  // has no such graph.
  std::optional<DurationNs> cost;
};

// The padding of all graphs of decode steps.
struct DecodePadding {
  DurationNs cost;          // sum of GraphPadding::cost where it is known
  uint64_t uncompared = 0;  // padded launches of graphs where it is not
  DurationNs device_time;   // device time of all decode steps
};

struct GraphRow {
  std::string id;  // the file's own number; "": none
  std::string device;
  std::optional<int64_t> place;       // how many graphs its steps launch before it
  std::optional<Phase> phase;         // of its steps, if they have the same
  uint64_t replays = 0, partial = 0;  // with all nodes; with some
  // Tokens that the batch of the graph has room for, as the grids of its kernels say
  // (rules/token_blocks.rules). Absent if they do not, do not agree, or are smaller than a step.
  std::optional<int64_t> batch;
  std::optional<int64_t> least_tokens, most_tokens;  // of its steps, where known
  // Of the whole replays: how long their work ran (as a union), and from first start to last end.
  DurationNs device_time, least, most, deviation, span;
  DurationNs work;        // durations of all work, of partial replays too
  uint64_t unplaced = 0;  // pieces of work whose node is unknown
  DurationNs unplaced_work;
  std::optional<GraphPadding> padding;  // absent: the batch is unknown, or the tokens of all steps
  std::vector<GraphNodeRow>
      nodes;  // in the order of time; their `total`s and `unplaced_work` are `work`
};

// Decode steps without a graph launch, in a trace in which other decode steps have one.
struct EagerSteps {
  uint64_t count = 0, of = 0;     // `of`: decode steps with all their work
  std::vector<uint32_t> indexes;  // of the first ones, in StepTable::steps
};

struct GraphTable {
  GraphsState state = GraphsState::kNoLaunches;
  bool by_id = false;     // nodes are found by their ids; false: by the order of the kernels
  uint64_t launches = 0;  // calls
  uint64_t without_work = 0, unknown = 0;  // see Replays
  std::vector<std::string> names;          // of nodes, as in the file
  std::vector<GraphRow> list;              // sorted by place, then by first replay
  // Tokens of the batches and how many of them were padding, of steps whose graphs agree on one
  // batch; 0: unknown.
  int64_t batch_tokens = 0, padding_tokens = 0;
  std::optional<DecodePadding> decode_padding;  // absent: no graph of decode steps is padded
  std::optional<EagerSteps> eager;              // absent: no decode step launched a graph
};

// Profiles the CUDA and HIP graphs of a trace by node, over all their replays (FindReplays).
// `layers`: LayersOfSteps for the same trace; without it no node has a layer or a block. Cost:
// O(n).
GraphTable TabulateReplays(const PreparedTrace& prepared, const Scope& scope = {},
                           const LayeredSteps& layers = {});

// How many new tokens a step has; nullopt if its annotation does not tell.
std::optional<int64_t> TokensOfStep(const StepLabel& label);

}  // namespace tacho
