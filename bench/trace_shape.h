// What one step of an LLM engine looks like to a profiler: call trees of the host (call_trees.cc),
// operators (op_shapes.cc), kernels, copies and the calls that start them (device_shapes.cc). The
// names are those that real traces of vLLM on an H100 carry; the trees are cut to the proportions
// that such traces have. Data only: step_model.h gives it times.
#pragma once

#include <cstdint>
#include <span>

namespace tacho::bench {

enum class NodeKind : std::uint8_t {
  kPython,      // a Python frame
  kOp,          // a cpu_op
  kAnnotation,  // the user_annotation of the step; its name is made from the batch
  kKernel,      // a launch call and the kernel it starts; name is a KernelShape's key
  kCopy,        // a copy call and the copy it starts; name is a CopyShape's key
  kCall,        // a runtime call that starts no work on the device
  kWait,        // a runtime call that returns when the device has finished
  kModel,       // stands for the layers of the model: either all of them or one graph launch
};

// A call tree in preorder: a node is the child of the nearest one before it with a smaller depth.
// In names of Python frames '#' stands for the layer, '%' for the address of a short-lived object
// and '@' for that of a long-lived one.
struct Node {
  int depth;
  NodeKind kind;
  const char* name;
};

struct KernelShape {
  const char* key;
  const char* name;
  const char* launch;  // the runtime or driver call that starts it
  int registers;
  int shared_memory;
  int grid_fixed;  // grid x = grid_fixed + grid_per_row * rows of the batch
  int grid_per_row;
  int grid_y;
  int block;
  int occupancy;
  std::int64_t mean_ns;
};

struct CopyShape {
  const char* key;
  const char* name;
  int stream;
  int bytes_fixed;  // bytes = bytes_fixed + bytes_per_row * rows of the batch
  int bytes_per_row;
};

// What --shapes adds to the args of an operator; '$' stands for the rows of the batch.
struct OpShape {
  const char* name;
  const char* inputs;
};

struct CallShape {
  const char* name;
  const char* category;
  int cbid;
  bool flow_start;  // Kineto draws the flow of such a call as a start, of the others as an end
  std::int64_t mean_ns;
};

inline constexpr int kLayers = 36;
inline constexpr int kComputeStream = 7;
inline constexpr int kCopyStream = 20;

std::span<const KernelShape> KernelShapes();
std::span<const CopyShape> CopyShapes();
std::span<const OpShape> OpShapes();
std::span<const CallShape> CallShapes();

std::span<const char* const> RootFrames();    // around the whole trace, outermost first
std::span<const Node> StepNodes();            // one turn of the engine's loop
std::span<const Node> LayerNodes();           // one layer, run operator by operator
std::span<const Node> GraphNodes();           // the frames around a graph launch
std::span<const char* const> LayerKernels();  // the kernels of one layer, in order

}  // namespace tacho::bench
