#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/names/name_pattern.h"
#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view kernel_rules;
}
namespace {

struct Pattern {
  std::string_view category, field, text;
};

// The patterns of rules, in order.
std::vector<Pattern> PatternsOf(std::string_view rules) {
  std::vector<Pattern> patterns;
  std::string_view category, field;
  EXPECT_TRUE(ReadRuleLines(rules, "", [&](std::string_view line) {
    if (line.starts_with('|')) {
      line.remove_prefix(1);
    } else {
      category = TakeWord(line);
      field = TakeWord(line);
    }
    while (!line.empty()) {
      const size_t bar = std::min(line.find('|'), line.size());
      patterns.push_back({category, field, Trim(line.substr(0, bar))});
      line.remove_prefix(std::min(line.size(), bar + 1));
    }
    return Result<void>();
  }));
  return patterns;
}

// A name that `pattern` matches and that contains nothing else: the letters between and around its
// pieces appear in no pattern. A pattern that matches this name matches every name that `pattern`
// matches.
std::string WitnessOf(std::string_view pattern) {
  constexpr std::string_view kNothing = "zj";
  std::string name;
  if (pattern.starts_with('!')) return std::string(kNothing);
  if (!pattern.starts_with('^')) name += kNothing;
  for (const char c : pattern) {
    if (c == '*') name += kNothing;
    if (c != '*' && c != '^' && c != '$') name += c;
  }
  if (!pattern.ends_with('$')) name += kNothing;
  return name;
}

// Whether `rule` can decide before the later one. Keys and full names belong to kernels; whatever a
// key contains, the full name contains too. Whether a kernel is a wrapper is decided apart from its
// category. An operator is a wrapper if the first matching rule says so; its category comes from
// the first matching rule that has one.
bool DecidesBefore(const Pattern& rule, const Pattern& later) {
  const bool wraps = rule.category == "wrapper", later_wraps = later.category == "wrapper";
  if (wraps != later_wraps && (wraps || later.field != "op")) return false;
  return rule.field == later.field || (rule.field == "full" && later.field == "key");
}

// An earlier pattern that matches whatever the last of `patterns` matches, so that the last one
// never decides; "" if there is none.
std::string HiddenBy(const std::vector<Pattern>& patterns, size_t last) {
  const PatternSubject witness(WitnessOf(patterns[last].text));
  EXPECT_TRUE(NamePattern(patterns[last].text).Matches(witness)) << patterns[last].text;
  for (size_t i = 0; i < last; ++i) {
    // A '!' pattern only excludes names; another name that matches the last pattern may avoid it.
    if (patterns[i].text.starts_with('!') || !DecidesBefore(patterns[i], patterns[last])) continue;
    if (NamePattern(patterns[i].text).Matches(witness))
      return std::string(patterns[i].category) + ' ' + std::string(patterns[i].text);
  }
  return {};
}

TEST(ClassifierRules, NoPatternIsHiddenByOneBeforeIt) {
  const std::vector<Pattern> patterns = PatternsOf(embedded::kernel_rules);
  EXPECT_GT(patterns.size(), 1'000u);
  for (size_t i = 0; i < patterns.size(); ++i) {
    EXPECT_EQ(HiddenBy(patterns, i), "")
        << patterns[i].category << ' ' << patterns[i].field << ' ' << patterns[i].text;
  }
}

TEST(ClassifierRules, AHiddenPatternIsFound) {
  const auto last_of = [](std::string_view rules) {
    const std::vector<Pattern> patterns = PatternsOf(rules);
    return HiddenBy(patterns, patterns.size() - 1);
  };
  EXPECT_EQ(last_of("norm op norm\nrandom op ^aten::normal"), "norm norm");
  EXPECT_EQ(last_of("norm op norm$\nrandom op ^aten::normal"), "");
  EXPECT_EQ(last_of("norm op norm\nrandom key normal_$"), "");
  EXPECT_EQ(last_of("a full x*y\nb key ^ns::x_*y$"), "a x*y");
  EXPECT_EQ(last_of("a key x*y\nb full x_y"), "");
  EXPECT_EQ(last_of("a key ^x\nb key my_x | ns::x"), "a ^x");
  EXPECT_EQ(last_of("a key ^x\nb key my_x"), "");
  EXPECT_EQ(last_of("wrapper key x\nb key x"), "");
  EXPECT_EQ(last_of("wrapper op x\nb op x"), "");
  EXPECT_EQ(last_of("b op x\nwrapper op x"), "b x");
  EXPECT_EQ(last_of("a op !::\nb op x"), "");
}

}  // namespace
}  // namespace tacho
