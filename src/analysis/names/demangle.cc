#include "analysis/names/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/words.h"

namespace tacho {
namespace {

// The demangler takes about 100 bytes of stack for each byte of the name.
constexpr size_t kLongestMangled = 4096;
constexpr size_t kLongestDemangled = 1 << 16;  // the longest names of PyTorch have 5000 bytes
constexpr double kMostWritten = 1 << 20;

// Computes an upper bound for the length of the text that a demangler writes, without parsing the
// name. Letters of identifiers that look like references count as references.
//
// S_, S0_, ... refer to earlier parts of the name, numbered in the order in which the parts ended.
// T_, T0_, ... refer to template arguments; a list of template arguments ends with an E.
//
// A part has ended before the first reference to it, and before the first reference to any later
// part. So it is not longer than all text written up to the earlier of these two references. A
// reference can double the text only if it refers to a later part than all references before it.
class WriteBound {
 public:
  explicit WriteBound(std::string_view mangled) : mangled_(mangled) {}

  double Count(double arguments) {
    written_ = 0;
    arguments_ = arguments;
    times_ = 1;
    parts_.clear();
    bool in_expression = false;
    for (size_t i = 0; i < mangled_.size();) {
      const std::string_view rest = mangled_.substr(i);
      const size_t reference = ReferenceSize(rest);
      if (reference > 0) {
        written_ +=
            times_ * (rest[0] == 'T' ? arguments_ : PartSize(rest.substr(1, reference - 2)));
        i += reference;
        continue;
      }
      in_expression =
          in_expression || rest[0] == 'X' || rest.starts_with("DT") || rest.starts_with("Dt");
      if (rest.starts_with("Dp") || (in_expression && rest.starts_with("sp"))) Expand(rest);
      // A letter may stand for a type ("m" is "unsigned long"); most are in identifiers.
      constexpr double kLetters = 4;
      written_ += times_ * kLetters;
      if (rest[0] == 'E') arguments_ = std::max(arguments_, written_);
      ++i;
    }
    return written_;
  }

 private:
  // The size of "S_", "S1A_" or "T0_" at the start; 0 if there is no such reference.
  static size_t ReferenceSize(std::string_view text) {
    if (text[0] != 'S' && text[0] != 'T') return 0;
    size_t i = 1;
    while (i < text.size() && (IsDigit(text[i]) || (text[i] >= 'A' && text[i] <= 'Z'))) ++i;
    return i < text.size() && text[i] == '_' ? i + 1 : 0;
  }

  // The size of the part that S`number`_ refers to. Numbers are in base 36 with capital letters: ""
  // is part 0, "0" is part 1.
  double PartSize(std::string_view number) {
    // The number with more digits is the greater one. If both have equally many digits, byte order
    // is the order of the numbers.
    const auto is_earlier = [](std::string_view a, std::string_view b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    };
    for (const auto& [latest, size] : parts_) {
      if (!is_earlier(latest, number)) return size;
    }
    parts_.emplace_back(number, written_);
    return written_;
  }

  // A parameter pack is written once for each of its elements (but a pack inside it does not
  // multiply again). A plain pack such as "DpRKT_" only writes each template argument once.
  void Expand(std::string_view text) {
    const size_t pattern = std::min(text.find_first_not_of("RPOKV", 2), text.size() - 1);
    const bool is_plain = text[pattern] == 'T' && ReferenceSize(text.substr(pattern)) > 0;
    if (!is_plain) times_ = std::max(1.0, static_cast<double>(mangled_.size()) / 2);
  }

  const std::string_view mangled_;
  double written_ = 0, arguments_ = 0, times_ = 1;
  // The parts referred to so far, with their sizes. The last one has the highest number.
  std::vector<std::pair<std::string_view, double>> parts_;
};

bool IsBounded(std::string_view mangled) {
  if (mangled.size() > kLongestMangled) return false;
  WriteBound bound(mangled);
  double most = bound.Count(0);
  // The type of a conversion operator refers to template arguments that come after it. Their size
  // is known only after a first count, so the name is counted twice.
  if (mangled.find("cv") != std::string_view::npos) most = bound.Count(most);
  return most <= kMostWritten;
}

}  // namespace

std::string Demangle(const std::string& mangled) {
  if (!IsBounded(mangled)) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return {};
  const std::string_view text(demangled.get());
  return text.size() <= kLongestDemangled ? std::string(text) : std::string();
}

}  // namespace tacho
