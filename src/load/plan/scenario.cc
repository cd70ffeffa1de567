#include "load/plan/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/closest.h"
#include "base/parse_number.h"
#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view scenario_agent, scenario_chat, scenario_code, scenario_longchat,
    scenario_rag, scenario_reasoning, scenario_rl_rollout, scenario_summarisation;
}
namespace {

Scenario ReadTable(std::string_view name, std::string_view text) {
  Scenario scenario;
  scenario.name = name;
  std::vector<double> percent;
  const auto take = [&](std::string_view line) -> Result<void> {
    const std::string_view key = TakeWord(line);
    if (key == "about") {
      scenario.about = line;
      return {};
    }
    std::vector<double> numbers;
    for (std::string_view word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
      const auto number = ParseWhole<double>(word);
      if (!number) return Fail(ErrorKind::kUsage, "expected numbers after the first word");
      numbers.push_back(*number);
    }
    if (numbers.empty() || !std::is_sorted(numbers.begin(), numbers.end()))
      return Fail(ErrorKind::kUsage, "expected one or more numbers in ascending order");
    const std::pair<std::string_view, QuantileTable*> tables[] = {{"prompt", &scenario.prompt},
                                                                  {"output", &scenario.output},
                                                                  {"turns", &scenario.turns},
                                                                  {"think", &scenario.think_ms}};
    for (const auto& [table, target] : tables) {
      if (key != table) continue;
      if (numbers.size() != percent.size())
        return Fail(ErrorKind::kUsage, "expected as many numbers as the line of percents has");
      *target = {percent, numbers};
      return {};
    }
    if (key == "percent") {
      percent = numbers;
    } else if (key == "correlation") {
      scenario.correlation = numbers[0];
    } else if (key == "prefix") {
      scenario.prefix_tokens = static_cast<int64_t>(numbers[0]);
    } else if (key == "samples") {
      scenario.samples = static_cast<int64_t>(numbers[0]);
    } else {
      return Fail(ErrorKind::kUsage, fmt::format("unknown key '{}'", key));
    }
    return {};
  };
  ReadBuiltInRules(text, fmt::format("tables/{}.table", name), take);
  return scenario;
}

double NormalCdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

}  // namespace

double QuantileTable::At(double u) const {
  const double at = u * 100;
  const auto above = std::upper_bound(percent.begin(), percent.end(), at);
  if (above == percent.begin()) return value.front();
  if (above == percent.end()) return value.back();
  const size_t i = static_cast<size_t>(above - percent.begin());
  const double share = (at - percent[i - 1]) / (percent[i] - percent[i - 1]);
  return value[i - 1] + share * (value[i] - value[i - 1]);
}

double QuantileTable::Mean() const {
  double sum = 0;
  for (size_t i = 1; i < value.size(); ++i) {
    sum += (percent[i] - percent[i - 1]) * (value[i] + value[i - 1]) / 2;
  }
  return sum / 100;
}

Scenario::Lengths Scenario::Draw(Random& random) const {
  double u, v;
  if (correlation == 0) {
    u = random.Uniform();
    v = random.Uniform();
  } else {
    const double x = random.Normal(), y = random.Normal();
    u = NormalCdf(x);
    v = NormalCdf(correlation * x + std::sqrt(1 - correlation * correlation) * y);
  }
  return {std::llround(prompt.At(u)), std::max<int64_t>(1, std::llround(output.At(v)))};
}

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> scenarios = {
      ReadTable("chat", embedded::scenario_chat),
      ReadTable("rag", embedded::scenario_rag),
      ReadTable("code", embedded::scenario_code),
      ReadTable("longchat", embedded::scenario_longchat),
      ReadTable("summarisation", embedded::scenario_summarisation),
      ReadTable("reasoning", embedded::scenario_reasoning),
      ReadTable("agent", embedded::scenario_agent),
      ReadTable("rl-rollout", embedded::scenario_rl_rollout),
  };
  return scenarios;
}

Result<const Scenario*> FindScenario(std::string_view name) {
  std::vector<std::string> names;
  for (const Scenario& scenario : Scenarios()) {
    if (scenario.name == name) return &scenario;
    names.push_back(scenario.name);
  }
  const std::string nearest = Closest(name, names);
  return Fail(ErrorKind::kUsage,
              fmt::format("no scenario '{}'{} (there are {})", name,
                          nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest),
                          fmt::join(names, ", ")));
}

Result<Mix> ParseMix(std::string_view text) {
  Mix mix;
  const bool lone = text.find_first_of("=:,") == std::string_view::npos;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t sign = part.find_first_of("=:");
    const auto weight = lone ? 100
                        : sign == std::string_view::npos
                            ? std::nullopt
                            : ParseWhole<double>(part.substr(sign + 1));
    if (!weight || *weight < 0) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("'{}' is not part of a mix such as chat=60,rag=30,code=10", part));
    }
    TACHO_ASSIGN_OR_RETURN(const auto scenario, FindScenario(part.substr(0, sign)));
    mix.parts.push_back({scenario->name, *weight});
    mix.sum += *weight;
  }
  if (!(mix.sum > 0)) return Fail(ErrorKind::kUsage, "the mix adds up to 0");
  return mix;
}

std::string MixNote(const Mix& mix) {
  const auto near = [&](double whole) { return std::abs(mix.sum - whole) < whole * 1e-6; };
  if (near(100) || near(1)) return "";
  return fmt::format("the mix adds up to {:g}, not to 100: each part counts by its share of that",
                     mix.sum);
}

std::vector<MixPart> DefaultMix() { return {{"chat", 60}, {"rag", 30}, {"code", 10}}; }

}  // namespace tacho
