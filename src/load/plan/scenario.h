#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace tacho {

// A distribution as its percentiles, linear in between.
struct QuantileTable {
  std::vector<double> percent;  // ascending from 0 to 100
  std::vector<double> value;

  bool empty() const { return value.empty(); }
  // The value below which a share of `u` (0..1) lies.
  double At(double u) const;
  double Mean() const;
};

// What one kind of use sends: a row of load/tables/*.table.
struct Scenario {
  std::string name;
  std::string about;
  QuantileTable prompt, output;  // tokens; of a turn where there are turns
  double correlation = 0;        // of prompt and output, through a Gaussian copula
  // Sessions: how many requests build on each other, and the milliseconds between them.
  QuantileTable turns, think_ms;
  int64_t prefix_tokens = 0;  // that all requests of the scenario begin with
  int64_t samples = 1;        // requests for each prompt

  struct Lengths {
    int64_t prompt = 0, output = 0;
  };
  Lengths Draw(Random& random) const;
};

const std::vector<Scenario>& Scenarios();
// kUsage with the names that there are.
Result<const Scenario*> FindScenario(std::string_view name);

struct MixPart {
  std::string scenario;
  double weight = 0;
};
struct Mix {
  std::vector<MixPart> parts;
  double sum = 0;  // of the weights as they were given; they count by their share of it
};
// "chat=60,rag=30,code=10", ':' in place of '=' too; a lone name weighs 100. kUsage: no such
// scenario, no number, a sum of 0.
Result<Mix> ParseMix(std::string_view text);
// What to tell the user when the weights add up to neither 100 nor 1; "" when they do.
std::string MixNote(const Mix& mix);
// chat 60, rag 30, code 10.
std::vector<MixPart> DefaultMix();

}  // namespace tacho
