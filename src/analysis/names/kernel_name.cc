#include "analysis/names/kernel_name.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/names/classifier.h"
#include "analysis/names/demangle.h"
#include "base/cpp_brackets.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

// How an unnamed namespace is written by demanglers, compilers and NVIDIA's tools.
constexpr std::array<std::string_view, 3> kAnonymous{"(anonymous namespace)", "<unnamed>",
                                                     "{anonymous}"};

// The length of an unnamed namespace at the start of `text`; 0 if there is none.
size_t AnonymousSize(std::string_view text) {
  for (const std::string_view name : kAnonymous) {
    if (text.starts_with(name) && text.substr(name.size()).starts_with("::")) return name.size();
  }
  return 0;
}

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

// Does the work of ParseKernelName: reads a name from left to right.
class NameParser {
 public:
  explicit NameParser(std::string_view text) : text_(text), brackets_(text) {}

  KernelName Parse() {
    while (at_ < text_.size() && Step()) {
    }
    EndPart(at_);
    const bool is_function = has_parameters_ || !saw_space_;
    if (parts_.empty() || !is_function) {
      // The name has a space but no parameter list. So it is not C++, and its words belong
      // together.
      std::string_view plain = text_;
      if (plain.starts_with("void ")) plain.remove_prefix(5);
      return {{{plain, {}}}, plain};
    }
    return {std::move(parts_), text_.substr(name_begin_, name_end_ - name_begin_)};
  }

 private:
  // Reads one character, one bracketed group or one operator's name; false at the end of the name.
  bool Step() {
    const std::string_view rest = text_.substr(at_);
    if (at_ == part_begin_) {
      if (const size_t anonymous = AnonymousSize(rest); anonymous > 0) {
        at_ += anonymous;
        skip_part_ = true;
        return true;
      }
      // In "'lambda'(int)" the parameters are part of the name.
      if (rest.starts_with("'lambda")) {
        at_ = std::min(text_.find('(', at_), text_.size());
        at_ = at_ < text_.size() ? EndOfGroup() : at_;
        return true;
      }
    }
    if (const size_t name = OperatorNameSize(text_, at_); name > 0) return OperatorName(name);
    switch (rest[0]) {
      case '(':
        return Parentheses();
      case '<':
        if (brackets_.Opens(at_) && at_ > part_begin_) {
          Arguments();
        } else {
          at_ = EndOfGroup();  // the name "<lambda(int)>", or an operator
        }
        return true;
      case '{':
      case '[':
        at_ = EndOfGroup();
        return true;
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

  // The position after the bracketed group that opens at the current position. If none opens there,
  // the next position.
  [[nodiscard]] size_t EndOfGroup() const {
    return brackets_.Opens(at_) ? std::min(brackets_.End(at_), text_.size()) : at_ + 1;
  }

  // Reads an operator's name and whatever stands between it and the parameters: template arguments,
  // or the type of a conversion operator.
  bool OperatorName(size_t size) {
    at_ += size;
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with(" <")) {
      name_part_end_ = at_++;
    } else if (rest.starts_with(' ')) {
      while (at_ < text_.size() && text_[at_] != '(') {
        at_ = text_[at_] == '<' ? EndOfGroup() : at_ + 1;
      }
    }
    return true;
  }

  bool Parentheses() {
    const size_t end = brackets_.Opens(at_) ? brackets_.End(at_) : std::string_view::npos;
    if (end == std::string_view::npos) {  // cut off inside the parameters
      has_parameters_ = at_ > part_begin_;
      return false;
    }
    std::string_view rest = text_.substr(end);
    if (rest.starts_with(" const::")) rest.remove_prefix(6);
    // These were the parameters of the function around a local entity.
    if (rest.starts_with("::")) {
      has_parameters_ = true;
      EndPart(at_);
      at_ = text_.size() - rest.size() + 2;
      part_begin_ = at_;
      return true;
    }
    if (rest.starts_with(' ') && !StartsWithAny(rest, {" const", " volatile", " &", " [", " ("})) {
      Restart(end + 1);  // it belonged to a return type: "decltype (x) f(int)"
      return true;
    }
    has_parameters_ = at_ > part_begin_;
    return false;
  }

  void Arguments() {
    const size_t end = EndOfGroup();
    const size_t close = brackets_.End(at_) == std::string_view::npos ? end : end - 1;
    name_part_end_ = std::min(name_part_end_, at_);
    arguments_ = text_.substr(at_ + 1, close - at_ - 1);
    at_ = end;
  }

  bool Space(std::string_view rest) {
    if (StartsWithAny(rest, {" [clone", " (."})) return false;
    saw_space_ = true;
    Restart(at_ + 1);
    return true;
  }

  // Starts again at `at`: the text before it was the return type.
  void Restart(size_t at) {
    parts_.clear();
    at_ = part_begin_ = name_begin_ = at;
    ResetPart();
  }

  void EndPart(size_t end) {
    name_end_ = end;
    const std::string_view name =
        text_.substr(part_begin_, std::min(end, name_part_end_) - part_begin_);
    if (!name.empty() && !skip_part_) parts_.push_back({name, arguments_});
    ResetPart();
  }

  void ResetPart() {
    arguments_ = {};
    name_part_end_ = std::string_view::npos;
    skip_part_ = false;
  }

  const std::string_view text_;
  const CppBrackets brackets_;
  size_t at_ = 0;
  size_t name_begin_ = 0, name_end_ = 0;
  size_t part_begin_ = 0, name_part_end_ = std::string_view::npos;
  std::string_view arguments_;
  bool skip_part_ = false;  // the part is an unnamed namespace
  bool saw_space_ = false;
  bool has_parameters_ = false;
  std::vector<KernelName::Part> parts_;
};

// For a mangled name that the demangler cannot read: the readable names at its front.
// "_ZN2ns1fI..." gives ns and f.
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
    if (!name.starts_with("_GLOBAL__N_")) parts.push_back({name, {}});  // not an unnamed namespace
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
  return StartsWithAny(name, {"{", "[lambda", "<lambda", "'lambda", "operator()", "operator ()"});
}

std::string ShortArguments(std::string_view list, bool nested, int depth);

// The index of the template argument that holds the functor, if `adapter` is one of PyTorch's
// adapters. The functor names the kernel, because an adapter's own name tells nothing.
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

// Shortens a template argument for people to read: to its last name that is not a lambda, without
// namespaces. With `nested` the name keeps its own template arguments, as NestedKernelName needs.
std::string ShortArgument(std::string_view argument, bool nested, int depth = 0) {
  constexpr int kDeepest = 12;
  if (argument.find_first_of(":<(") == std::string_view::npos || depth > kDeepest)
    return std::string(argument);
  if (argument.starts_with('(') && AnonymousSize(argument) == 0) {  // a cast, such as "(ns::Enum)1"
    const size_t end = CppBrackets(argument).End(0);
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
  // The suffix of a kernel descriptor in ROCm.
  if (name.ends_with(".kd")) text.resize(text.size() - 3);
  // libstdc++ before 13 cannot read bfloat16, and version 14 calls it std::bfloat16_t. So it is
  // first replaced by a type that no kernel uses (decimal128).
  const bool has_bfloat16 = text.find("DF16b") != std::string_view::npos;
  if (has_bfloat16) ReplaceAll(text, "DF16b", "De");
  std::string demangled = Demangle(text);
  if (has_bfloat16) ReplaceAll(demangled, "decimal128", "__bf16");
  return demangled.empty() ? std::string(name) : demangled;
}

std::string ShortKernelName(std::string_view name) { return ShortName(name, false); }

std::string NestedKernelName(std::string_view name) { return ShortName(name, true); }

std::string WholeKernelName(std::string_view name) {
  const std::string demangled = DemangledName(name);
  return std::string(ParseKernelName(demangled).whole);
}

}  // namespace tacho
