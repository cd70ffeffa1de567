// Gives times and ids to the shapes of trace_shape.h: one engine step after the other, the same
// for the same seed. A step holds what the host did and what the device did for it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "trace_shape.h"

namespace tacho::bench {

// A frame's name around the place where a layer or an address stands.
struct FrameName {
  std::string before;
  std::string after;
  char placeholder = 0;  // '#', '%', '@' or none
};

struct HostEvent {
  NodeKind kind;  // kPython, kOp, kAnnotation or kCall
  int shape;      // index of the frame, of the operator or of the call; unused for an annotation
  int detail;     // frame: layer or which object; else the rows of the batch
  std::int64_t start_ns;
  std::int64_t dur_ns;
  std::int64_t id;      // Python id, External id or correlation
  std::int64_t parent;  // frame: Python id of its caller; call: External id or 0
};

struct DeviceEvent {
  bool is_copy;
  int shape;  // index among the kernels or the copies
  int rows;
  int graph_node;  // 0 outside a graph
  std::int64_t start_ns;
  std::int64_t dur_ns;
  std::int64_t correlation;
  std::int64_t external_id;  // 0 when none
};

struct Step {
  bool eager;
  int rows;
  std::vector<HostEvent> host;      // by start
  std::vector<DeviceEvent> device;  // by launch
  std::int64_t annotation_id;
  std::int64_t annotation_start_ns;  // first and last time of the annotation's device events
  std::int64_t annotation_end_ns;
};

class StepModel {
 public:
  explicit StepModel(std::uint64_t seed);

  void Restart();
  const Step& Next();

  const std::vector<FrameName>& frames() const { return frames_; }
  std::int64_t start_ns() const;
  std::int64_t now_ns() const { return clock_; }

 private:
  struct Resolved {
    int depth;
    NodeKind kind;
    int shape;
    int call;  // of a kernel, a copy or a call
  };
  struct Open {
    int depth;
    std::size_t event;
  };

  std::vector<Resolved> Resolve(std::span<const Node> nodes);
  void Play(const std::vector<Resolved>& nodes, int depth, int layer);
  void PlayModel(int depth);
  void CloseTo(int depth);
  void OpenNode(const Resolved& node, int depth, int layer);
  std::int64_t Call(int call, std::int64_t external_id, std::int64_t not_before_ns);
  void Kernel(int shape, int rows, std::int64_t correlation, std::int64_t external_id,
              int graph_node, std::int64_t ready_ns);
  void Copy(int shape, std::int64_t correlation, std::int64_t external_id, std::int64_t ready_ns);
  void Record(const DeviceEvent& event);

  std::uint64_t seed_;
  std::vector<FrameName> frames_;
  std::map<std::string, int> known_frames_;  // one frame however often the trees name it
  std::vector<Resolved> step_nodes_, layer_nodes_, graph_nodes_;
  std::vector<int> layer_kernels_;
  int memcpy_call_ = 0;

  Random random_{0};
  std::int64_t index_ = 0;
  int rows_ = 0;
  std::int64_t clock_ = 0;
  std::int64_t compute_free_ns_ = 0;
  std::int64_t copy_free_ns_ = 0;
  std::int64_t next_external_id_ = 0;
  std::int64_t next_python_id_ = 0;
  std::int64_t next_correlation_ = 0;
  bool in_annotation_ = false;
  std::vector<Open> open_;
  Step step_;
};

}  // namespace tacho::bench
