// The classifier: any text as user rules, then any text as a kernel's name. An odd first byte: only
// a name, for the built-in rules, which is much faster. A first byte of 255: a name that the bytes
// choose, which must be read as what it was made of.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analysis/names/classifier.h"
#include "analysis/names/kernel_name.h"
#include "base/cpp_brackets.h"
#include "base/cpp_name_for_test.h"
#include "text/fit_name.h"
#include "text/visible_text.h"

namespace {

constexpr size_t kLongestDemangled = 1 << 16;

void Classify(const tacho::Classifier& classifier, std::string_view name) {
  if (classifier.OfKernel(name) >= classifier.categories().size()) std::abort();
  if (classifier.OfOperator(name) >= classifier.categories().size()) std::abort();
  (void)classifier.IsWrapper(name);
  const size_t demangled = tacho::DemangledName(name).size();
  if (demangled > kLongestDemangled + name.size()) std::abort();
  // A blank behind each comma is all that short names add.
  const std::string nested = tacho::NestedKernelName(name);
  if (nested.size() > 2 * demangled || tacho::ShortKernelName(name).size() > 2 * demangled) {
    std::abort();
  }
  for (const size_t width : {size_t{0}, size_t{1}, size_t{7}, size_t{40}}) {
    if (tacho::DisplayWidth(tacho::FitName(nested, width, true)) > width) std::abort();
    if (tacho::DisplayWidth(tacho::FitNameFrom(nested, nested.size() / 2, width, false)) > width) {
      std::abort();
    }
  }
}

void RoundTrip(std::string_view choices) {
  const tacho::CppNameForTest made([&](size_t n) {
    if (choices.empty()) return size_t{0};
    const auto choice = static_cast<unsigned char>(choices[0]);
    choices.remove_prefix(1);
    return choice % n;
  });
  const tacho::CppBrackets brackets(made.text());
  for (size_t i = 0; i < made.text().size(); ++i) {
    const auto end = made.ends().find(i);
    if (brackets.End(i) != (end == made.ends().end() ? 0 : end->second)) std::abort();
  }
  const tacho::KernelName name = tacho::ParseKernelName(made.text());
  if (name.parts.size() != made.parts().size()) std::abort();
  for (size_t i = 0; i < name.parts.size(); ++i) {
    const auto arguments = tacho::SplitArguments(name.parts[i].arguments);
    if (name.parts[i].name != made.parts()[i].name) std::abort();
    if (!std::ranges::equal(arguments, made.parts()[i].arguments)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto built_in = tacho::Classifier::Create();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 255) {
    RoundTrip(text);
    return 0;
  }
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
