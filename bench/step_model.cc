#include "step_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tacho::bench {
namespace {

constexpr std::int64_t kStartNs = 1'428'625'731'896'179;
constexpr int kFirstRows = 64;
constexpr int kFewestRows = 8;
constexpr int kMostRows = 256;
constexpr int kObjects = 170;  // addresses that a name with a short-lived object goes through

template <typename Shapes, typename Name>
int IndexOf(const Shapes& shapes, const char* key, Name name) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (std::strcmp(name(shapes[i]), key) == 0) return static_cast<int>(i);
  }
  std::fprintf(stderr, "trace_shape.h: no shape named %s\n", key);
  std::abort();
}

int KernelIndex(const char* key) {
  return IndexOf(KernelShapes(), key, [](const KernelShape& shape) { return shape.key; });
}

int CallIndex(const char* name) {
  return IndexOf(CallShapes(), name, [](const CallShape& shape) { return shape.name; });
}

FrameName SplitName(const std::string& name) {
  const std::size_t at = name.find_first_of("#%@");
  if (at == std::string::npos) return {name, "", 0};
  return {name.substr(0, at), name.substr(at + 1), name[at]};
}

}  // namespace

StepModel::StepModel(std::uint64_t seed)
    : seed_(seed),
      step_nodes_(Resolve(StepNodes())),
      layer_nodes_(Resolve(LayerNodes())),
      graph_nodes_(Resolve(GraphNodes())),
      memcpy_call_(CallIndex("cudaMemcpyAsync")) {
  for (const char* key : LayerKernels()) layer_kernels_.push_back(KernelIndex(key));
  Restart();
}

std::int64_t StepModel::start_ns() const { return kStartNs; }

void StepModel::Restart() {
  index_ = 0;
  rows_ = kFirstRows;
  clock_ = kStartNs + 150'000;
  compute_free_ns_ = copy_free_ns_ = kStartNs;
  next_external_id_ = 1;
  next_python_id_ = static_cast<std::int64_t>(RootFrames().size()) + 1;
  next_correlation_ = 675'771;
}

const Step& StepModel::Next() {
  // A stream of its own, so that a step depends on nothing but its number.
  random_ = Random::FromState(MixBits(seed_ * kSplitMixStep + static_cast<std::uint64_t>(index_)));
  rows_ = std::clamp(rows_ + static_cast<int>(random_.Between(-2, 2)), kFewestRows, kMostRows);
  step_.eager = index_ % 4 == 0;
  step_.rows = rows_;
  step_.host.clear();
  step_.device.clear();
  step_.annotation_start_ns = 0;
  step_.annotation_end_ns = 0;
  in_annotation_ = false;
  Play(step_nodes_, 0, 0);
  CloseTo(0);
  clock_ += random_.Between(20'000, 60'000);
  ++index_;
  return step_;
}

std::vector<StepModel::Resolved> StepModel::Resolve(std::span<const Node> nodes) {
  std::vector<Resolved> resolved;
  for (const Node& node : nodes) {
    Resolved entry{node.depth, node.kind, 0, 0};
    switch (node.kind) {
      case NodeKind::kPython: {
        const int next = static_cast<int>(frames_.size());
        const auto [it, is_new] = known_frames_.try_emplace(node.name, next);
        if (is_new) frames_.push_back(SplitName(node.name));
        entry.shape = it->second;
        break;
      }
      case NodeKind::kOp:
        entry.shape = IndexOf(OpShapes(), node.name, [](const OpShape& op) { return op.name; });
        break;
      case NodeKind::kKernel:
        entry.shape = KernelIndex(node.name);
        entry.call = CallIndex(KernelShapes()[static_cast<std::size_t>(entry.shape)].launch);
        break;
      case NodeKind::kCopy:
        entry.shape =
            IndexOf(CopyShapes(), node.name, [](const CopyShape& copy) { return copy.key; });
        entry.call = CallIndex("cudaMemcpyAsync");
        break;
      case NodeKind::kCall:
      case NodeKind::kWait:
        entry.call = CallIndex(node.name);
        break;
      case NodeKind::kAnnotation:
      case NodeKind::kModel:
        break;
    }
    resolved.push_back(entry);
  }
  return resolved;
}

void StepModel::Play(const std::vector<Resolved>& nodes, int depth, int layer) {
  for (const Resolved& node : nodes) {
    CloseTo(depth + node.depth);
    OpenNode(node, depth + node.depth, layer);
  }
}

// The layers operator by operator, or all of their kernels in one launch.
void StepModel::PlayModel(int depth) {
  if (step_.eager) {
    for (int layer = 0; layer < kLayers; ++layer) Play(layer_nodes_, depth, layer);
    CloseTo(depth);
    return;
  }
  Play(graph_nodes_, depth, 0);
  const HostEvent& launch = step_.host.back();
  const std::int64_t correlation = launch.id;
  const std::int64_t first_ns = launch.start_ns + launch.dur_ns / 3;
  CloseTo(depth);
  const int padded_rows = (rows_ + 7) / 8 * 8;
  int graph_node = 0;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const int shape : layer_kernels_) {
      Kernel(shape, padded_rows, correlation, 0, ++graph_node, first_ns);
    }
  }
}

void StepModel::CloseTo(int depth) {
  while (!open_.empty() && open_.back().depth >= depth) {
    HostEvent& event = step_.host[open_.back().event];
    clock_ +=
        event.kind == NodeKind::kPython ? random_.Between(120, 620) : random_.Between(500, 1500);
    event.dur_ns = clock_ - event.start_ns;
    if (event.kind == NodeKind::kAnnotation) in_annotation_ = false;
    open_.pop_back();
  }
}

void StepModel::OpenNode(const Resolved& node, int depth, int layer) {
  std::int64_t caller = static_cast<std::int64_t>(RootFrames().size());
  std::int64_t external_id = 0;
  for (const Open& open : open_) {
    const HostEvent& event = step_.host[open.event];
    (event.kind == NodeKind::kPython ? caller : external_id) = event.id;
  }
  HostEvent event{node.kind, node.shape, rows_, 0, 0, 0, 0};
  switch (node.kind) {
    case NodeKind::kPython: {
      clock_ += random_.Between(250, 1350);
      const char placeholder = frames_[static_cast<std::size_t>(node.shape)].placeholder;
      event.detail =
          placeholder == '%' ? static_cast<int>(random_.Between(0, kObjects - 1)) : layer;
      event.id = next_python_id_++;
      event.parent = caller;
      break;
    }
    case NodeKind::kAnnotation:
      in_annotation_ = true;
      step_.annotation_id = next_external_id_;
      [[fallthrough]];
    case NodeKind::kOp:
      clock_ += random_.Between(900, 3300);
      event.id = next_external_id_++;
      break;
    case NodeKind::kKernel: {
      const std::int64_t correlation = Call(node.call, external_id, 0);
      Kernel(node.shape, rows_, correlation, external_id, 0, clock_ + random_.Between(900, 2400));
      return;
    }
    case NodeKind::kCopy: {
      const std::int64_t correlation = Call(memcpy_call_, external_id, 0);
      Copy(node.shape, correlation, external_id, clock_ + random_.Between(900, 2400));
      return;
    }
    case NodeKind::kCall: {
      // A graph's launch has no operator: neither the call nor its kernels carry an External id.
      const bool is_graph = step_.host.size() > 0 && &node == &graph_nodes_.back();
      Call(node.call, is_graph ? 0 : external_id, 0);
      return;
    }
    case NodeKind::kWait:
      Call(node.call, external_id, std::max(compute_free_ns_, copy_free_ns_) + 1800);
      return;
    case NodeKind::kModel:
      PlayModel(depth);
      return;
  }
  event.start_ns = clock_;
  open_.push_back({depth, step_.host.size()});
  step_.host.push_back(event);
}

std::int64_t StepModel::Call(int call, std::int64_t external_id, std::int64_t not_before_ns) {
  clock_ += random_.Between(200, 900);
  const std::int64_t mean_ns = CallShapes()[static_cast<std::size_t>(call)].mean_ns;
  const std::int64_t start_ns = clock_;
  clock_ = std::max(clock_ + random_.Between(mean_ns * 8 / 10, mean_ns * 13 / 10), not_before_ns);
  const std::int64_t correlation = next_correlation_;
  next_correlation_ += random_.Between(1, 5);
  step_.host.push_back(
      {NodeKind::kCall, call, rows_, start_ns, clock_ - start_ns, correlation, external_id});
  return correlation;
}

void StepModel::Kernel(int shape, int rows, std::int64_t correlation, std::int64_t external_id,
                       int graph_node, std::int64_t ready_ns) {
  const std::int64_t mean_ns = KernelShapes()[static_cast<std::size_t>(shape)].mean_ns;
  const std::int64_t start_ns = std::max(ready_ns, compute_free_ns_ + random_.Between(640, 1150));
  std::int64_t dur_ns = random_.Between(mean_ns * 92 / 100, mean_ns * 108 / 100);
  if (random_.Between(0, 99) == 0)
    dur_ns += random_.Between(0, mean_ns * 2);  // one in a hundred is late
  dur_ns = dur_ns / 32 * 32;                    // the clock of the device ticks each 32 ns
  compute_free_ns_ = start_ns + dur_ns;
  Record({false, shape, rows, graph_node, start_ns, dur_ns, correlation, external_id});
}

void StepModel::Copy(int shape, std::int64_t correlation, std::int64_t external_id,
                     std::int64_t ready_ns) {
  const CopyShape& copy = CopyShapes()[static_cast<std::size_t>(shape)];
  const bool on_copy_stream = copy.stream == kCopyStream;
  const std::int64_t bytes = copy.bytes_fixed + std::int64_t{copy.bytes_per_row} * rows_;
  const std::int64_t free_ns = std::max(compute_free_ns_, on_copy_stream ? copy_free_ns_ : 0);
  const std::int64_t start_ns = std::max(ready_ns, free_ns + random_.Between(640, 1150));
  const std::int64_t dur_ns = (random_.Between(960, 1400) + bytes / 24) / 32 * 32;
  (on_copy_stream ? copy_free_ns_ : compute_free_ns_) = start_ns + dur_ns;
  Record({true, shape, rows_, 0, start_ns, dur_ns, correlation, external_id});
}

void StepModel::Record(const DeviceEvent& event) {
  step_.device.push_back(event);
  if (!in_annotation_) return;
  if (step_.annotation_start_ns == 0) step_.annotation_start_ns = event.start_ns;
  step_.annotation_end_ns = std::max(step_.annotation_end_ns, event.start_ns + event.dur_ns);
}

}  // namespace tacho::bench
