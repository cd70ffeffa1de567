#include "analysis/roofline/kernel_formats.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace tacho {
namespace {

// In lower case. vLLM's cache has "Fp8KVCacheDataType" in the names of all its kernels: that says
// nothing.
std::string NameOf(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (size_t at; (at = text.find("fp8kvcachedatatype")) != text.npos;) text.erase(at, 18);
  return text;
}

// "bmm_MxE4m3...", "...QkvE4m3...".
bool SaysEightBits(std::string_view name) {
  return HasOneOf(name, {"e4m3", "e5m2", "fp8", "float8"});
}

}  // namespace

KernelFormats KernelFormatsOf(const PreparedTrace& prepared) {
  const Trace& trace = prepared.index.trace();
  KernelFormats found;
  std::vector<bool> is_known(trace.words.strings.size());
  for (const DeviceItems& device : prepared.work.devices) {
    for (const WorkItem& item : device.items) {
      if (is_known[Index(item.name)]) continue;
      is_known[Index(item.name)] = true;
      const std::string_view text = trace.Text(item.name);
      const std::string name = NameOf(text);
      if (item.kind == WorkKind::kCommunication && HasOneOf(name, {"reduce"}) &&
          !HasOneOf(name, {"scatter"}))
        (HasOneOf(name, {"multimem"}) ? found.reduces_in_switch : found.reduces_in_ranks) = true;
      if (item.kind != WorkKind::kCompute || !SaysEightBits(name)) continue;
      const std::string_view category = prepared.work.categories[item.category];
      std::string* const of = category == "attention.core" ? &found.eight_bit_attention
                              : category == "moe.gemm"     ? &found.eight_bit_experts
                              : category == "gemm.dense"   ? &found.eight_bit_product
                                                           : nullptr;
      if (of == nullptr) continue;
      if (of->empty()) *of = text;
      // The names of trtllm-gen, and the element type of FlashAttention 3.
      if (of == &found.eight_bit_attention)
        found.attends_in_eight_bits |= HasOneOf(name, {"qkve4m3", "float_e4m3_t"});
    }
  }
  return found;
}

double LinkShare(const KernelFormats& kernels, int64_t ranks) {
  if (ranks < 2) return 0;
  const auto n = static_cast<double>(ranks);
  const double by_ranks = 2 * (n - 1) / n, by_switch = (n + 1) / n;
  if (!kernels.reduces_in_switch) return by_ranks;
  return kernels.reduces_in_ranks ? std::min(by_ranks, by_switch) : by_switch;
}

}  // namespace tacho
