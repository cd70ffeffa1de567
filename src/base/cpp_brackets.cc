#include "base/cpp_brackets.h"

#include <algorithm>
#include <array>

#include "base/words.h"

namespace tacho {
namespace {

constexpr size_t kNone = std::string_view::npos;

char At(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

// A '<' or '>' that may be a bracket.
struct Angle {
  size_t at;
  bool opens;
  int doubt;  // 0: certainly a bracket; the larger, the more it looks like an operator
  bool is_operator = false;
};

// An angle is a '<' or '>'. Goes through `angles` in one direction and marks as operators those
// that have no partner, or that would leave another one without a partner. If an angle closes more
// brackets than were opened before it, either this angle or the last doubtful closing one before it
// is an operator: the one with more doubt, or with equal doubt the inner one.
template <typename Iterator>
void DropStrays(Iterator begin, Iterator end, bool begins) {
  size_t open = 0;
  std::vector<Angle*> doubtful;  // closing angles that may be operators
  for (Iterator angle = begin; angle != end; ++angle) {
    if (angle->is_operator) continue;
    if (angle->opens == begins) {
      ++open;
    } else if (open > 0) {
      --open;
      if (angle->doubt > 0) doubtful.push_back(&*angle);
    } else if (!doubtful.empty() && doubtful.back()->doubt >= angle->doubt + (begins ? 1 : 0)) {
      doubtful.back()->is_operator = true;
      doubtful.pop_back();
      if (angle->doubt > 0) doubtful.push_back(&*angle);
    } else if (angle->doubt > 0 || begins) {
      angle->is_operator = true;
    }
  }
}

enum Reading { kBracket, kOperator, kEither };

// Does the work of CppBrackets: finds the brackets of a text.
class BracketReader {
 public:
  explicit BracketReader(std::string_view text) : text_(text), ends_(text.size()) {}

  std::vector<size_t> Read() {
    MatchRound();
    // For each open round bracket: the index of the first angle inside it.
    std::vector<size_t> levels;
    for (size_t i = 0; i < text_.size(); ++i) {
      if (const size_t name = OperatorNameSize(text_, i); name > 0) {
        i = TakeOperatorName(i + name) - 1;
        continue;
      }
      switch (text_[i]) {
        case '(':
        case '[':
        case '{':
          if (ends_[i] != kNone) levels.push_back(angles_.size());
          break;
        case ')':
        case ']':
        case '}':
          if (opens_[i] != kNone) {
            PairAngles(levels.back(), true);
            levels.pop_back();
          }
          break;
        case '<':
          i = TakeLess(i) - 1;
          break;
        case '>':
          i = TakeGreater(i) - 1;
          break;
        default:
          break;
      }
    }
    PairAngles(0, false);
    return std::move(ends_);
  }

 private:
  // Pairs () [] {}. Outside of an operator's name they are always brackets.
  void MatchRound() {
    opens_.resize(text_.size(), kNone);
    std::vector<size_t> open;
    for (size_t i = 0; i < text_.size(); ++i) {
      if (const size_t name = OperatorNameSize(text_, i); name > 0) {
        i += name - 1;
        continue;
      }
      const size_t opening = std::string_view("([{").find(text_[i]);
      const size_t closing = std::string_view(")]}").find(text_[i]);
      if (opening != kNone) {
        ends_[i] = kNone;
        open.push_back(i);
      } else if (closing != kNone && !open.empty() && text_[open.back()] == "([{"[closing]) {
        ends_[open.back()] = i + 1;
        opens_[i] = open.back();
        open.pop_back();
      }
    }
  }

  // Called after the name of an operator, such as "operator<", that ends before `at`. If template
  // arguments follow, perhaps after a space, stores their '<' as a bracket. Returns the index at
  // which reading continues.
  size_t TakeOperatorName(size_t at) {
    const size_t less = At(text_, at) == ' ' ? at + 1 : at;
    if (At(text_, less) != '<') return at;
    angles_.push_back({less, true, 0});
    return less + 1;
  }

  // Reads the '<' at `at`; if it is the first one of a shift, both. Stores it if it may be a
  // bracket. Returns the index at which reading continues.
  size_t TakeLess(size_t at) {
    const char before = at == 0 ? '\0' : text_[at - 1], after = At(text_, at + 1);
    if (IsNameAt(at)) {
      angles_.push_back({at, true, 0});
    } else if (after == '<' && !IsNameAt(at + 1)) {
      return at + 2;  // a shift
    } else if (before == ']' || (IsIdentifier(before) && after != ' ' && after != '=')) {
      const size_t word = WordBegin(at);
      if (before == ']' || !IsDigit(text_[word])) {
        angles_.push_back({at, true, std::max(DoubtOfWord(word, at), DoubtOfGroup(at + 1))});
      }
    }
    return at + 1;
  }

  // Takes the run of '>' at `at`. Returns the index at which reading continues.
  size_t TakeGreater(size_t at) {
    const size_t end = std::min(text_.find_first_not_of('>', at), text_.size());
    const char before = at == 0 ? '\0' : text_[at - 1], after = At(text_, end);
    if (before == '-') return at + 1;
    Reading reading = before == ' ' && after == ' ' ? kEither : kBracket;
    if (after == '=' || IsIdentifier(after) || (after == '-' && IsDigit(At(text_, end + 1)))) {
      reading = kOperator;
    } else if (after == '(') {
      reading = BeforeGroup(end);
      if (reading == kEither && IsOperand(at)) reading = kOperator;
    }
    // An operator is a comparison or a shift. In a run of one or two '>' that is read as an
    // operator, all are part of it. In a longer run only the last '>' is an operator; those before
    // it are brackets.
    const size_t brackets = reading != kOperator ? end : end - at <= 2 ? at : end - 1;
    for (size_t i = at; i < brackets; ++i)
      angles_.push_back({i, false, reading == kEither ? 1 : 0});
    return end;
  }

  // How to read a '>' before the round brackets at `at`. If the round brackets hold parameters, the
  // '>' is a bracket; if they hold an operand, it is an operator.
  [[nodiscard]] Reading BeforeGroup(size_t at) const {
    const size_t end = ends_[at];
    if (end == kNone || end == at + 2 || IsDeclarator(at)) return kBracket;
    const char after = At(text_, end);
    if (after == '\0' || std::string_view(" :.[").find(after) != kNone) return kBracket;
    return std::string_view(",>)]}").find(after) != kNone ? kEither : kOperator;
  }

  // Whether a '<' begins the name of something unnamed: "<unnamed>", "<lambda(int)>", "<lambda_1>".
  [[nodiscard]] bool IsNameAt(size_t at) const {
    if (At(text_, at) != '<' || (at > 0 && IsIdentifier(text_[at - 1]))) return false;
    return StartsWithAny(text_.substr(at + 1), {"unnamed", "lambda"});
  }

  // The beginning of the word that ends before `at`.
  [[nodiscard]] size_t WordBegin(size_t at) const {
    while (at > 0 && IsIdentifier(text_[at - 1])) --at;
    return at;
  }

  // How much the word from `begin` to `end` looks like a value: 2 for a template parameter as
  // NVIDIA writes it ("T2") or a member of one ("T2::kSize"), 1 for a member of a template's class
  // ("Size<T2>::value"), else 0.
  [[nodiscard]] int DoubtOfWord(size_t begin, size_t end) const {
    if (const std::string_view around = text_.substr(0, begin); around.ends_with("::")) {
      if (around.ends_with(">::")) return around.ends_with("<unnamed>::") ? 0 : 1;
      end = begin - 2;
      begin = WordBegin(end);
    }
    const std::string_view word = text_.substr(begin, end - begin);
    const bool is_parameter =
        word.size() >= 2 && word[0] == 'T' && std::ranges::all_of(word.substr(1), IsDigit);
    return is_parameter ? 2 : 0;
  }

  // 1 if an operand in round brackets is at `at`, such as "(8)" or "(8)<(0)", and not a cast or a
  // name; else 0.
  [[nodiscard]] int DoubtOfGroup(size_t at) const {
    if (At(text_, at) != '(' || ends_[at] == kNone) return 0;
    return IsCast(at) || text_.substr(ends_[at]).starts_with("::") ? 0 : 1;
  }

  // Whether the round brackets that end before `at` are an operand such as "(8)", not parameters as
  // in "void (int)".
  [[nodiscard]] bool IsOperand(size_t at) const {
    if (at == 0 || text_[at - 1] != ')' || opens_[at - 1] == kNone) return false;
    const size_t before = text_.substr(0, opens_[at - 1]).find_last_not_of(' ');
    return before == kNone ||
           (!IsIdentifier(text_[before]) && std::string_view(">)]").find(text_[before]) == kNone);
  }

  // Whether a value follows the round brackets at `at`, as in "(int)8" and "(ns::Kind)-1".
  [[nodiscard]] bool IsCast(size_t at) const {
    const size_t end = ends_[at];
    const char after = At(text_, end);
    return IsIdentifier(after) || after == '(' || (after == '-' && IsDigit(At(text_, end + 1)));
  }

  // Whether the round brackets at `at` hold a declarator: "(*)", "(&)" or "(ns::X::*)". Parameters
  // or an array size follow it.
  [[nodiscard]] bool IsDeclarator(size_t at) const {
    const std::string_view inside = text_.substr(at + 1, ends_[at] - at - 2);
    return inside.starts_with('*') || inside.starts_with('&') || inside.ends_with("::*");
  }

  // Pairs the angles from index `first` on, which are all inside the same round bracket, and
  // removes them from `angles_`. `closed`: whether that round bracket is closed. If not, the text
  // may be cut off.
  void PairAngles(size_t first, bool closed) {
    const auto begin = angles_.begin() + static_cast<std::ptrdiff_t>(first);
    DropStrays(begin, angles_.end(), true);
    DropStrays(angles_.rbegin(), std::make_reverse_iterator(begin), false);
    std::vector<size_t> open;
    for (auto angle = begin; angle != angles_.end(); ++angle) {
      if (angle->is_operator) continue;
      if (angle->opens) {
        open.push_back(angle->at);
      } else if (!open.empty()) {
        ends_[open.back()] = angle->at + 1;
        open.pop_back();
      }
    }
    if (!closed) {
      for (const size_t at : open) ends_[at] = kNone;
    }
    angles_.resize(first);
  }

  const std::string_view text_;
  std::vector<size_t> ends_;
  std::vector<size_t> opens_;  // by index of a closing ) ] or }: the index of its opening bracket
  std::vector<Angle> angles_;
};

}  // namespace

size_t OperatorNameSize(std::string_view text, size_t at) {
  static constexpr std::string_view kOperator = "operator";
  // A symbol stands before all shorter symbols that it begins with.
  static constexpr std::array<std::string_view, 38> kSigns{
      "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<",  ">",
      ",",  "==", "!=",  "&&", "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=",
      "&=", "|=", "+",   "-",  "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!"};
  if (text[at] != 'o' || !text.substr(at).starts_with(kOperator)) return 0;
  if (at > 0 && IsIdentifier(text[at - 1])) return 0;
  std::string_view rest = text.substr(at + kOperator.size());
  if (!rest.empty() && IsIdentifier(rest[0])) return 0;
  const size_t space = rest.starts_with(" ()") || rest.starts_with(" []") ? 1 : 0;
  rest.remove_prefix(space);
  for (const std::string_view sign : kSigns) {
    if (!rest.starts_with(sign)) continue;
    // LLVM writes the name "operator<" with the template arguments <int> as "operator<<int>".
    const char after = At(rest, sign.size());
    if ((sign == "<<" || sign == ">>") && (IsIdentifier(after) || after == ':')) continue;
    return kOperator.size() + space + sign.size();
  }
  return kOperator.size();
}

CppBrackets::CppBrackets(std::string_view text) : ends_(BracketReader(text).Read()) {}

std::vector<std::string_view> SplitArguments(std::string_view list) {
  const CppBrackets brackets(list);
  std::vector<std::string_view> arguments;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size();) {
    if (i < list.size() && list[i] != ',') {
      if (const size_t name = OperatorNameSize(list, i); name > 0) {
        i += name;
      } else {
        i = brackets.Opens(i) ? std::min(brackets.End(i), list.size()) : i + 1;
      }
      continue;
    }
    if (const std::string_view one = Trim(list.substr(begin, i - begin)); !one.empty())
      arguments.push_back(one);
    begin = ++i;
  }
  return arguments;
}

}  // namespace tacho
