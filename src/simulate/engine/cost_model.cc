#include "simulate/engine/cost_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tacho::simulate {
namespace {

constexpr ModelShape kModels[] = {
    {"tiny", "sim/tiny-4-layers", 4, 1024, 3072, 16, 8, 128, 32000},
    {"small", "Qwen/Qwen3-0.6B", 28, 1024, 3072, 16, 8, 128, 151936},
    {"8b", "Qwen/Qwen3-8B", 36, 4096, 12288, 32, 8, 128, 151936},
    {"32b", "Qwen/Qwen3-32B", 64, 5120, 25600, 64, 8, 128, 151936},
    {"70b", "meta-llama/Llama-3.1-70B", 80, 8192, 28672, 64, 8, 128, 128256},
    {"30b-a3b", "Qwen/Qwen3-30B-A3B", 48, 2048, 768, 32, 4, 128, 151936, 128, 8},
    {"14b-a3b", "Qwen/Qwen1.5-MoE-A2.7B", 24, 2048, 1408, 16, 16, 128, 151936, 60, 4, 5632},
};

constexpr Hardware kHardware[] = {
    {"h100", "NVIDIA H100 80GB HBM3", 620e12, 2.7e12, 380e9, 85018279936, 9, 0, 132},
    {"h200", "NVIDIA H200", 640e12, 3.9e12, 380e9, 150109880320, 9, 0, 132},
    {"b200", "NVIDIA B200", 1500e12, 6.4e12, 760e9, 191503138816, 10, 0, 148},
    {"a100", "NVIDIA A100-SXM4-80GB", 240e12, 1.7e12, 240e9, 85017624576, 8, 0, 108},
    {"l4", "NVIDIA L4", 90e12, 0.24e12, 14e9, 23580639232, 8, 9, 58},
};

constexpr double kBytesPerNumber = 2;     // size of a bfloat16
constexpr double kSmallestKernel = 1100;  // ns; no kernel on a GPU is faster
// Bytes; NCCL's ring algorithm is faster from this size on.
constexpr int64_t kLargeMessage = 512 << 10;

template <typename List>
auto FindByName(const List& list, std::string_view name, std::string_view what)
    -> Result<typename List::value_type> {
  const auto found = std::ranges::find(list, name, [](const auto& row) { return row.name; });
  if (found != list.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& row : list) names.push_back(row.name);
  return Fail(ErrorKind::kUsage,
              fmt::format("no {} '{}'; known are {}", what, name, fmt::join(names, ", ")));
}

int64_t InTicks(double ns) {
  return std::max<int64_t>(1, static_cast<int64_t>(ns) / kTickNs) * kTickNs;
}

class Kernels {
 public:
  Kernels(const CostModel& cost, Random random, double factor)
      : cost_(cost), random_(random), factor_(factor) {}

  void Add(std::vector<KernelWork>& list, KernelRole role, double mean_ns, int64_t rows) {
    double ns = std::max(mean_ns, kSmallestKernel);
    ns *= static_cast<double>(random_.Between(950, 1050)) / 1000;
    if (random_.Between(0, 99) == 0) ns *= static_cast<double>(random_.Between(1000, 2000)) / 1000;
    list.push_back({role, InTicks(ns * factor_ / cost_.speed), rows, place_++});
  }

  // Time of a matrix product (rows x inner) * (inner x columns).
  double Product(int64_t rows, int64_t inner, int64_t columns) const {
    const double work =
        2.0 * static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns);
    const double bytes =
        kBytesPerNumber * (static_cast<double>(inner) * static_cast<double>(columns) +
                           static_cast<double>(rows * (inner + columns)));
    return 1800 +
           std::max(work / cost_.hardware.flops, bytes / cost_.hardware.memory_bytes_s) * 1e9;
  }
  // Time of such products for all of this rank's experts, with the tokens that are routed to them.
  double GroupedProduct(int64_t rows, int64_t inner, int64_t columns) const {
    const ModelShape& m = cost_.model;
    const double share = static_cast<double>(m.experts_per_token) / static_cast<double>(m.experts);
    const double own = static_cast<double>(m.experts) / cost_.tensor_parallel;
    const double routed = static_cast<double>(rows) * share * own;
    const double used = own * (1 - std::pow(1 - share, static_cast<double>(rows)));
    const auto size = static_cast<double>(inner * columns);
    const double work = 2 * routed * size;
    const double bytes =
        kBytesPerNumber * (used * size + routed * static_cast<double>(inner + columns));
    return 1800 +
           std::max(work / cost_.hardware.flops, bytes / cost_.hardware.memory_bytes_s) * 1e9;
  }
  double Memory(int64_t numbers) const {
    return 1300 +
           static_cast<double>(numbers) * kBytesPerNumber / cost_.hardware.memory_bytes_s * 1e9;
  }
  double Attention(const StepLoad& load) const {
    const ModelShape& m = cost_.model;
    const int64_t heads = std::max<int64_t>(1, m.heads / cost_.tensor_parallel);
    const int64_t kv_heads = std::max<int64_t>(1, m.kv_heads / cost_.tensor_parallel);
    const double work = 4.0 * static_cast<double>(load.context.tokens_times_kv) *
                        static_cast<double>(heads * m.head_dim) * 0.5;
    const double cache = 2 * kBytesPerNumber * static_cast<double>(load.generation.kv) *
                         static_cast<double>(kv_heads * m.head_dim);
    return 3000 +
           (work / (cost_.hardware.flops * 0.6) + cache / cost_.hardware.memory_bytes_s) * 1e9;
  }
  double Collective(int64_t bytes) const {
    const int ranks = cost_.tensor_parallel;
    const double moved = 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes);
    return 5200 + moved / cost_.hardware.link_bytes_s * 1e9;
  }

  // Time of an exchange in which each rank sends to all others; `bytes` leave each rank.
  double Exchange(int64_t bytes) const {
    const int ranks = cost_.tensor_parallel;
    const double moved = static_cast<double>(ranks - 1) / ranks * static_cast<double>(bytes);
    return 7400 + moved / cost_.hardware.link_bytes_s * 1e9;
  }

 private:
  const CostModel& cost_;
  Random random_;
  double factor_;
  uint64_t place_ = 1;
};

// `width`: of the MLP, on all ranks together.
void AddDense(const ModelShape& m, int64_t width, int64_t tp, int64_t rows, Kernels& kernels,
              std::vector<KernelWork>& list) {
  const int64_t inner = width / tp;
  kernels.Add(list, KernelRole::kGateUp, kernels.Product(rows, m.hidden, 2 * inner), rows);
  kernels.Add(list, KernelRole::kActivation, kernels.Memory(3 * rows * inner), rows);
  kernels.Add(list, KernelRole::kDown, kernels.Product(rows, inner, m.hidden), rows);
}

void AddExperts(const CostModel& cost, int64_t rows, Kernels& kernels,
                std::vector<KernelWork>& list) {
  const ModelShape& m = cost.model;
  const bool sends = cost.sends_tokens && cost.tensor_parallel > 1;
  const int64_t routed = std::max<int64_t>(1, rows * m.experts_per_token / cost.tensor_parallel);
  const auto add = [&](KernelRole role, double ns) { kernels.Add(list, role, ns, rows); };
  if (m.shared > 0) {
    const int64_t inner = m.shared / cost.tensor_parallel;
    add(KernelRole::kSharedGateUp, kernels.Product(rows, m.hidden, 2 * inner));
    add(KernelRole::kSharedActivation, kernels.Memory(3 * rows * inner));
    add(KernelRole::kSharedDown, kernels.Product(rows, inner, m.hidden));
  }
  add(KernelRole::kRouter, kernels.Product(rows, m.hidden, m.experts));
  add(KernelRole::kTopK, kernels.Memory(2 * rows * m.experts));
  if (sends) add(KernelRole::kDispatch, kernels.Exchange(routed * m.hidden * 2));
  add(KernelRole::kExpertGateUp, kernels.GroupedProduct(rows, m.hidden, 2 * m.intermediate));
  add(KernelRole::kActivation, kernels.Memory(3 * routed * m.intermediate));
  add(KernelRole::kExpertDown, kernels.GroupedProduct(rows, m.intermediate, m.hidden));
  if (sends) add(KernelRole::kCombine, kernels.Exchange(routed * m.hidden * 2));
}

// The draft model's kernels: a dense layer and a head for each token that it proposes.
void AddDraft(const CostModel& cost, const StepLoad& load, Kernels& kernels,
              std::vector<KernelWork>& list) {
  const ModelShape& m = cost.model;
  const int64_t tp = cost.tensor_parallel, rows = load.generation.requests;
  const int64_t q = m.heads * m.head_dim / tp;
  const int64_t kv = std::max<int64_t>(m.head_dim, m.kv_heads * m.head_dim / tp);
  const auto add = [&](KernelRole role, double ns) { kernels.Add(list, role, ns, rows); };
  for (int64_t i = 0; i < load.proposed; ++i) {
    add(KernelRole::kEmbedding, kernels.Memory(rows * m.hidden));
    add(KernelRole::kNorm, kernels.Memory(3 * rows * m.hidden));
    add(KernelRole::kQkv, kernels.Product(rows, m.hidden, q + 2 * kv));
    add(KernelRole::kRope, kernels.Memory(2 * rows * (q + kv)));
    add(KernelRole::kCacheWrite, kernels.Memory(4 * rows * kv));
    add(KernelRole::kAttention, kernels.Attention(load));
    add(KernelRole::kOutProjection, kernels.Product(rows, q, m.hidden));
    add(KernelRole::kNorm, kernels.Memory(3 * rows * m.hidden));
    AddDense(m, 4 * m.hidden, tp, rows, kernels, list);
    add(KernelRole::kNorm, kernels.Memory(3 * rows * m.hidden));
    add(KernelRole::kLmHead, kernels.Product(rows, m.hidden, m.vocabulary / tp));
    add(KernelRole::kArgmax, 6000 + kernels.Memory(rows * m.vocabulary));
  }
}

void Fuse(std::vector<KernelWork>& list, KernelRole role) {
  for (size_t i = 0; i + 1 < list.size(); ++i) {
    if (list[i].role != role) continue;
    const auto both = static_cast<double>(list[i].duration_ns + list[i + 1].duration_ns);
    list[i].role = FusedRole(role);
    list[i].duration_ns = InTicks(both * 0.8);
    list.erase(list.begin() + static_cast<ptrdiff_t>(i) + 1);
  }
}

void CallMoreOften(std::vector<KernelWork>& list, KernelRole role, int64_t more) {
  std::vector<KernelWork> longer;
  for (const KernelWork& work : list) {
    longer.push_back(work);
    if (work.role != role) continue;
    for (int64_t i = 1; i <= more; ++i) {
      longer.push_back(work);
      // Gives each copy random numbers of its own.
      longer.back().place += static_cast<uint64_t>(i) << 32;
    }
  }
  list = std::move(longer);
}

// Applies a change to a finished list of kernels, so that the step can be compared with the same
// step without the change.
void Make(const Change& change, std::vector<KernelWork>& list) {
  const auto slow = [&](auto&& which) {
    for (KernelWork& work : list) {
      if (!which(work.role)) continue;
      work.duration_ns = InTicks(
          static_cast<double>(work.duration_ns) * (1 + change.percent / 100) + 0.5 * kTickNs);
    }
  };
  switch (change.kind) {
    case ChangeKind::kSlower:
      return slow([&](KernelRole role) { return role == change.role; });
    case ChangeKind::kCommSlower:
      return slow(IsCollective);
    case ChangeKind::kFused:
      return Fuse(list, change.role);
    case ChangeKind::kRenamed:
      for (KernelWork& work : list) {
        if (work.role == change.role) work.role = RenamedRole(change.role);
      }
      return;
    case ChangeKind::kMore:
      return CallMoreOften(list, change.role, change.amount);
    default:
      return;  // the change does not affect kernels
  }
}

}  // namespace

std::span<const ModelShape> ModelShapes() { return kModels; }
std::span<const Hardware> HardwarePresets() { return kHardware; }
Result<ModelShape> FindModelShape(std::string_view name) {
  return FindByName(ModelShapes(), name, "model size");
}
Result<Hardware> FindHardware(std::string_view name) {
  return FindByName(HardwarePresets(), name, "hardware");
}

StepKernels KernelsOfStep(const CostModel& cost, const StepLoad& load, int64_t batch, Random random,
                          double factor) {
  StepKernels out;
  if (load.empty()) return out;
  const ModelShape& m = cost.model;
  const int64_t tp = cost.tensor_parallel;
  const int64_t rows = batch;
  const int64_t q = m.heads * m.head_dim / tp;
  const int64_t kv = std::max<int64_t>(m.head_dim, m.kv_heads * m.head_dim / tp);
  const int64_t message = rows * m.hidden * 2;
  const KernelRole reduce =
      message >= kLargeMessage ? KernelRole::kAllReduceLarge : KernelRole::kAllReduce;
  Kernels kernels(cost, random, factor);
  const auto add = [&](std::vector<KernelWork>& list, KernelRole role, double ns) {
    kernels.Add(list, role, ns, rows);
  };
  kernels.Add(out.prepare, KernelRole::kSlotMapping, 2900, load.tokens());
  kernels.Add(out.prepare, KernelRole::kAttentionMetadata, 3100, load.tokens());

  out.forward.reserve(static_cast<size_t>(m.layers) * 12 + 2);
  add(out.forward, KernelRole::kEmbedding, kernels.Memory(rows * m.hidden));
  for (int layer = 0; layer < m.layers; ++layer) {
    add(out.forward, KernelRole::kNorm, kernels.Memory(3 * rows * m.hidden));
    add(out.forward, KernelRole::kQkv, kernels.Product(rows, m.hidden, q + 2 * kv));
    add(out.forward, KernelRole::kRope, kernels.Memory(2 * rows * (q + kv)));
    add(out.forward, KernelRole::kCacheWrite, kernels.Memory(4 * rows * kv));
    add(out.forward, KernelRole::kAttention, kernels.Attention(load));
    add(out.forward, KernelRole::kOutProjection, kernels.Product(rows, q, m.hidden));
    if (tp > 1) add(out.forward, reduce, kernels.Collective(message));
    add(out.forward, KernelRole::kNorm, kernels.Memory(3 * rows * m.hidden));
    const bool sends = m.experts > 0 && cost.sends_tokens && tp > 1;
    m.experts > 0 ? AddExperts(cost, rows, kernels, out.forward)
                  : AddDense(m, m.intermediate, tp, rows, kernels, out.forward);
    if (tp > 1 && !sends) add(out.forward, reduce, kernels.Collective(message));
  }
  add(out.forward, KernelRole::kNorm, kernels.Memory(3 * rows * m.hidden));

  const int64_t sampled = std::max<int64_t>(1, load.sampled);
  const auto sample = [&](KernelRole role, double ns) {
    kernels.Add(out.sample, role, ns, sampled);
  };
  sample(KernelRole::kGather, kernels.Memory(2 * sampled * m.hidden));
  sample(KernelRole::kLmHead, kernels.Product(sampled, m.hidden, m.vocabulary / tp));
  if (tp > 1) sample(KernelRole::kAllGather, kernels.Collective(sampled * m.vocabulary / tp * 2));
  sample(KernelRole::kArgmax, 6000 + kernels.Memory(sampled * m.vocabulary));
  AddDraft(cost, load, kernels, out.draft);
  for (const Change& change : cost.changes) {
    for (auto* list : {&out.prepare, &out.forward, &out.sample, &out.draft}) Make(change, *list);
  }
  return out;
}

}  // namespace tacho::simulate
