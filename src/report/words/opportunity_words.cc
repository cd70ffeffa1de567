#include "report/words/opportunity_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "report/words/kernel_names.h"

namespace tacho {
namespace {

// "rotary_embedding_kernel" of "vllm::rotary_embedding_kernel<BFloat16, true>".
std::string BaseOf(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const size_t scope = name.rfind("::");
  return std::string(scope == std::string_view::npos ? name : name.substr(scope + 2));
}

}  // namespace

std::string OpportunityText(const Opportunity& of, bool base) {
  if (of.kind == OpportunityKind::kOverlap) return "shared expert beside dispatch, combine";
  std::vector<std::string> names =
      ShownKernelNames(std::vector<std::string_view>(of.kernels.begin(), of.kernels.end()), {});
  if (base) std::ranges::transform(names, names.begin(), BaseOf);
  return fmt::format("{}", fmt::join(names, " + "));
}

}  // namespace tacho
