// The classifier: any text as user rules, then any text as a kernel's name.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/classifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\0');
  const std::string_view rules = text.substr(0, cut);
  const std::string_view name = cut == std::string_view::npos ? text : text.substr(cut + 1);
  const auto classifier = tacho::Classifier::Create(rules);
  if (!classifier) {
    if (classifier.error().message.empty()) std::abort();
    return 0;
  }
  if (classifier->OfKernel(name) >= classifier->categories().size()) std::abort();
  if (classifier->OfOperator(name) >= classifier->categories().size()) std::abort();
  if (tacho::ShortKernelName(name, 40).size() > 40 * 4) std::abort();
  tacho::DemangledName(name);
  return 0;
}
