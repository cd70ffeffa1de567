#include "analysis/kernel_name.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/classifier.h"
#include "analysis/demangle.h"
#include "base/cpp_brackets.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

// Reads a name from left to right; see ParseKernelName.
class NameParser {
 public:
  explicit NameParser(std::string_view text) : text_(text) {}

  KernelName Parse() {
    while (at_ < text_.size() && Step()) {
    }
    EndPart(at_);
    const bool is_function = closed_by_parameters_ || !saw_space_;
    if (parts_.empty() || !is_function) {
      // A space that no parameter list follows: not C++, so the words belong together.
      std::string_view plain = text_;
      if (plain.starts_with("void ")) plain.remove_prefix(5);
      return {{{plain, {}}}, plain};
    }
    return {std::move(parts_), text_.substr(name_begin_, name_end_ - name_begin_)};
  }

 private:
  // Takes one character or bracketed group; false at the end of the name.
  bool Step() {
    const std::string_view rest = text_.substr(at_);
    if (at_ == part_begin_ && rest.starts_with(kAnonymous)) {
      at_ += kAnonymous.size();
      skip_part_ = true;
      return true;
    }
    switch (rest[0]) {
      case '(':
        return Parentheses();
      case '<':
        return Arguments();
      case '{':
      case '[': {
        const size_t end = SkipBrackets(text_, at_);
        at_ = end == std::string_view::npos ? text_.size() : end;
        return true;
      }
      case ' ':
        return Space(rest);
      case ':':
        if (rest.starts_with("::")) {
          EndPart(at_);
          at_ += 2;
          part_begin_ = at_;
          return true;
        }
        [[fallthrough]];
      default:
        ++at_;
        return true;
    }
  }

  bool Parentheses() {
    if (PartText(at_).ends_with("operator") && text_.substr(at_).starts_with("()")) {
      at_ += 2;
      return true;
    }
    const size_t end = SkipBrackets(text_, at_);
    if (end == std::string_view::npos) {  // cut off inside the parameters
      closed_by_parameters_ = at_ > part_begin_;
      return false;
    }
    std::string_view rest = text_.substr(end);
    if (rest.starts_with(" const::")) rest.remove_prefix(6);
    if (rest.starts_with("::")) {  // the function around a local entity
      EndPart(at_);
      at_ = text_.size() - rest.size() + 2;
      part_begin_ = at_;
      return true;
    }
    if (rest.starts_with(' ') && !StartsWithAny(rest, {" const", " volatile", " &", " [", " ("})) {
      Restart(end + 1);  // part of a return type, "decltype (x) f(int)"
      return true;
    }
    closed_by_parameters_ = at_ > part_begin_;
    return false;
  }

  bool Arguments() {
    if (!OpensArguments(text_, at_)) {
      ++at_;
      return true;
    }
    const size_t end = SkipBrackets(text_, at_);
    const size_t close = end == std::string_view::npos ? text_.size() : end - 1;
    name_part_end_ = at_;
    arguments_ = text_.substr(at_ + 1, close - at_ - 1);
    at_ = end == std::string_view::npos ? text_.size() : end;
    return true;
  }

  bool Space(std::string_view rest) {
    if (PartText(at_).ends_with("operator")) {  // a conversion: "operator bool"
      ++at_;
    } else if (StartsWithAny(rest, {" [clone", " (."})) {
      return false;
    } else {
      saw_space_ = true;
      Restart(at_ + 1);
    }
    return true;
  }

  // What came before was the return type.
  void Restart(size_t at) {
    parts_.clear();
    at_ = part_begin_ = name_begin_ = at;
    ResetPart();
  }

  void EndPart(size_t end) {
    name_end_ = end;
    const std::string_view name = PartText(end);
    if (!name.empty() && !skip_part_) parts_.push_back({name, arguments_});
    ResetPart();
  }

  void ResetPart() {
    arguments_ = {};
    name_part_end_ = std::string_view::npos;
    skip_part_ = false;
  }

  [[nodiscard]] std::string_view PartText(size_t end) const {
    return text_.substr(part_begin_, std::min(end, name_part_end_) - part_begin_);
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t name_begin_ = 0, name_end_ = 0;
  size_t part_begin_ = 0, name_part_end_ = std::string_view::npos;
  std::string_view arguments_;
  bool skip_part_ = false;  // an anonymous namespace
  bool saw_space_ = false;
  bool closed_by_parameters_ = false;
  std::vector<KernelName::Part> parts_;
};

// The names in front of a mangled name that the demangler cannot read: "_ZN2ns1fI..." is ns, f.
std::vector<KernelName::Part> MangledParts(std::string_view mangled) {
  std::vector<KernelName::Part> parts;
  std::string_view rest = mangled.substr(2);
  const bool nested = rest.starts_with('N');
  if (nested) rest.remove_prefix(1);
  while (rest.starts_with('K') || rest.starts_with('L')) rest.remove_prefix(1);
  do {
    const auto length = TakeNumber<size_t>(rest);
    if (!length || *length == 0 || *length > rest.size()) break;
    const std::string_view name = rest.substr(0, *length);
    if (!name.starts_with("_GLOBAL__N_")) parts.push_back({name, {}});  // an anonymous namespace
    rest.remove_prefix(*length);
  } while (nested);
  return parts;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

bool IsLocalPart(std::string_view name) {
  return name.starts_with('{') || name.starts_with("operator()") || name.starts_with("'lambda");
}

std::string ShortArguments(std::string_view list, bool nested, int depth);

// PyTorch's adapters say nothing; the functor in this argument of theirs does.
size_t FunctorArgument(std::string_view adapter) {
  static constexpr std::array<std::pair<std::string_view, size_t>, 8> kAdapters{{
      {"gpu_kernel_impl", 0},
      {"gpu_kernel_impl_nocast", 0},
      {"gpu_index_kernel", 0},
      {"ReduceOp", 1},
      {"func_wrapper_t", 1},
      {"AUnaryFunctor", 3},
      {"BUnaryFunctor", 3},
      {"BinaryFunctor", 3},
  }};
  for (const auto& [name, index] : kAdapters) {
    if (adapter == name) return index;
  }
  return std::string_view::npos;
}

// A template argument for people: the last name in it that is no lambda, without namespaces. With
// `nested` its own arguments too, as deep as names for people go.
std::string ShortArgument(std::string_view argument, bool nested, int depth = 0) {
  constexpr int kDeepest = 12;
  if (argument.find_first_of(":<(") == std::string_view::npos || depth > kDeepest)
    return std::string(argument);
  if (argument.starts_with('(') && !argument.starts_with(kAnonymous)) {  // "(ns::Enum)1"
    const size_t end = SkipBrackets(argument, 0);
    if (end == std::string_view::npos) return std::string(argument);
    return '(' + ShortArgument(argument.substr(1, end - 2), nested, depth + 1) + ')' +
           std::string(argument.substr(end));
  }
  const KernelName name = ParseKernelName(argument);
  for (size_t i = name.parts.size(); i-- > 0;) {
    const KernelName::Part& part = name.parts[i];
    if (IsLocalPart(part.name)) continue;
    const size_t functor = FunctorArgument(part.name);
    if (functor != std::string_view::npos && depth < 4) {
      const auto inner = SplitArguments(part.arguments);
      if (functor < inner.size()) return ShortArgument(inner[functor], nested, depth + 1);
    }
    std::string out(part.name);
    if (nested && !part.arguments.empty()) {
      out += '<' + ShortArguments(part.arguments, nested, depth + 1) + '>';
    }
    return out;
  }
  return std::string(argument);
}

std::string ShortArguments(std::string_view list, bool nested, int depth) {
  std::string out;
  for (const std::string_view argument : SplitArguments(list)) {
    if (!out.empty()) out += ", ";
    out += ShortArgument(argument, nested, depth);
  }
  return out;
}

std::string ShortName(std::string_view name, bool nested) {
  const std::string demangled = DemangledName(name);
  const KernelName parsed = ParseKernelName(demangled);
  std::string out;
  for (const KernelName::Part& part : parsed.parts) {
    if (!out.empty()) out += "::";
    out += part.name;
    if (!part.arguments.empty()) out += '<' + ShortArguments(part.arguments, nested, 0) + '>';
  }
  return out;
}

}  // namespace

std::string KernelName::Key() const {
  std::string key;
  for (const Part& part : parts) {
    if (!key.empty()) key += "::";
    key += part.name;
  }
  return key;
}

KernelName ParseKernelName(std::string_view demangled) {
  if (demangled.starts_with("_Z")) {
    KernelName name{MangledParts(demangled), demangled};
    if (!name.parts.empty()) return name;
  }
  return NameParser(demangled).Parse();
}

std::string DemangledName(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  std::string text(name);
  if (name.ends_with(".kd")) text.resize(text.size() - 3);  // the kernel descriptor of ROCm
  std::string demangled = Demangle(text);
  if (demangled.empty() && text.find("DF16b") != std::string_view::npos) {
    // bfloat16, which libstdc++ learnt in version 13: read it as a type that no kernel uses.
    ReplaceAll(text, "DF16b", "De");
    demangled = Demangle(text);
    ReplaceAll(demangled, "decimal128", "__bf16");
  }
  return demangled.empty() ? std::string(name) : demangled;
}

std::string ShortKernelName(std::string_view name) { return ShortName(name, false); }

std::string NestedKernelName(std::string_view name) { return ShortName(name, true); }

std::string WholeKernelName(std::string_view name) {
  const std::string demangled = DemangledName(name);
  return std::string(ParseKernelName(demangled).whole);
}

}  // namespace tacho
