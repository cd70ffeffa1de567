// The classifier: any text as user rules, then any text as a kernel's name. An odd first byte: only
// a name, for the built-in rules, which is much faster.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/classifier.h"

namespace {

constexpr size_t kLongestDemangled = 1 << 16;

void Classify(const tacho::Classifier& classifier, std::string_view name) {
  if (classifier.OfKernel(name) >= classifier.categories().size()) std::abort();
  if (classifier.OfOperator(name) >= classifier.categories().size()) std::abort();
  if (tacho::ShortKernelName(name, 40).size() > 40 * 4) std::abort();
  if (tacho::DemangledName(name).size() > kLongestDemangled + name.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto built_in = tacho::Classifier::Create();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) {
    Classify(*built_in, text);
    return 0;
  }
  const size_t cut = text.find('\0');
  const auto classifier = tacho::Classifier::Create(text.substr(0, cut));
  if (!classifier) {
    if (classifier.error().message.empty()) std::abort();
    return 0;
  }
  Classify(*classifier, cut == std::string_view::npos ? text : text.substr(cut + 1));
  return 0;
}
