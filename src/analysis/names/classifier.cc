#include "analysis/names/classifier.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/names/kernel_name.h"
#include "analysis/names/name_pattern.h"
#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view kernel_rules;
}

namespace {

// What a rule compares its patterns with: a kernel's key, its full name, or an operator's name.
enum class Field : uint8_t { kKey, kFull, kOperator };

struct Rule {
  Field field;
  std::optional<WorkCategory> category;  // unset: the rule marks wrapper operators
  std::vector<NamePattern> patterns;     // the rule matches if one of them does
};

std::optional<Field> FieldNamed(std::string_view name) {
  if (name == "key") return Field::kKey;
  if (name == "full") return Field::kFull;
  if (name == "op") return Field::kOperator;
  return std::nullopt;
}

// Whether the text is "group" or "group.kind" in lower-case letters, digits and underscores.
bool IsCategoryName(std::string_view name) {
  if (std::ranges::count(name, '.') > 1 || name.starts_with('.') || name.ends_with('.'))
    return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

bool AnyMatches(const std::vector<NamePattern>& patterns, const PatternSubject& subject) {
  return std::ranges::any_of(patterns, [&](const NamePattern& p) { return p.Matches(subject); });
}

}  // namespace

struct Classifier::Rules {
  std::vector<std::string> categories{"unclassified"};
  std::unordered_map<std::string, WorkCategory> numbers{{"unclassified", 0}};
  std::vector<bool> communication{false};  // indexed by category
  std::vector<NamePattern> wrappers;       // match kernels whose key tells nothing about their work
  std::vector<Rule> rules;                 // the first that matches wins

  // The number of a category, a new one if needed; nullopt if all numbers are used up.
  std::optional<WorkCategory> Intern(std::string_view category) {
    const auto next = static_cast<WorkCategory>(categories.size());
    const auto [known, added] = numbers.try_emplace(std::string(category), next);
    if (!added) return known->second;
    if (categories.size() > std::numeric_limits<WorkCategory>::max()) return std::nullopt;
    categories.emplace_back(category);
    communication.push_back(category == "comm" || category.starts_with("comm."));
    return next;
  }

  // `last`: the patterns of the previous rule. A line that begins with "|" adds patterns to it.
  Result<void> AddLine(std::string_view line, std::vector<NamePattern>*& last) {
    if (!line.starts_with('|')) {
      const std::string_view category = TakeWord(line), field_name = TakeWord(line);
      if (!IsCategoryName(category)) {
        return Fail(
            ErrorKind::kUsage,
            '"' + std::string(category) +
                "\" is not a category: expected \"group\" or \"group.kind\" in lower-case letters, "
                "digits and underscores");
      }
      const std::optional<Field> field = FieldNamed(field_name);
      if (!field) {
        return Fail(ErrorKind::kUsage, "expected key, full or op after the category, found \"" +
                                           std::string(field_name) + '"');
      }
      if (category == "wrapper") {
        last = *field == Field::kOperator
                   ? &rules.emplace_back(Rule{*field, std::nullopt, {}}).patterns
                   : &wrappers;
      } else {
        const std::optional<WorkCategory> number = Intern(category);
        if (!number) return Fail(ErrorKind::kUsage, "more than 65535 categories");
        last = &rules.emplace_back(Rule{*field, *number, {}}).patterns;
      }
    } else if (last == nullptr) {
      return Fail(ErrorKind::kUsage,
                  "a line that begins with \"|\" continues a rule, but no rule comes before it");
    } else {
      line.remove_prefix(1);
    }
    return AddPatterns(line, *last);
  }

  static Result<void> AddPatterns(std::string_view list, std::vector<NamePattern>& patterns) {
    for (bool more = true; more;) {
      const size_t bar = list.find('|');
      more = bar != std::string_view::npos;
      NamePattern pattern(Trim(list.substr(0, std::min(bar, list.size()))));
      if (pattern.empty()) {
        return Fail(ErrorKind::kUsage, "expected a pattern, such as ^my_gemm_* or foo | bar");
      }
      patterns.push_back(std::move(pattern));
      if (more) list.remove_prefix(bar + 1);
    }
    return {};
  }
};

Result<Classifier> Classifier::Create(std::string_view user_rules) {
  auto rules = std::make_unique<Rules>();
  std::vector<NamePattern>* last = nullptr;
  const auto add = [&](std::string_view line) { return rules->AddLine(line, last); };
  TACHO_RETURN_IF_ERROR(ReadRuleLines(user_rules, "rule", add));
  last = nullptr;
  ReadBuiltInRules(embedded::kernel_rules, "rules/kernels.rules", add);
  return Classifier(std::move(rules));
}

Classifier::Classifier(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;

WorkCategory Classifier::OfKernel(std::string_view name) const {
  const std::string demangled = DemangledName(name);
  const KernelName parsed = ParseKernelName(demangled);
  const PatternSubject key(parsed.Key()), full(parsed.whole);
  const PatternSubject& told = AnyMatches(rules_->wrappers, key) ? full : key;
  for (const Rule& rule : rules_->rules) {
    if (rule.field == Field::kOperator) continue;
    if (AnyMatches(rule.patterns, rule.field == Field::kFull ? full : told)) return *rule.category;
  }
  return kUnclassified;
}

WorkCategory Classifier::OfOperator(std::string_view name) const {
  const PatternSubject subject(name);
  for (const Rule& rule : rules_->rules) {
    if (rule.field != Field::kOperator || !rule.category) continue;
    if (AnyMatches(rule.patterns, subject)) return *rule.category;
  }
  return kUnclassified;
}

bool Classifier::IsWrapper(std::string_view operator_name) const {
  const PatternSubject subject(operator_name);
  for (const Rule& rule : rules_->rules) {
    if (rule.field == Field::kOperator && AnyMatches(rule.patterns, subject)) return !rule.category;
  }
  return false;
}

const std::vector<std::string>& Classifier::categories() const { return rules_->categories; }

bool Classifier::IsCommunication(WorkCategory category) const {
  return rules_->communication[category];
}

}  // namespace tacho
