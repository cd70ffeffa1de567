#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace tacho {

// A distribution given by percentiles, linear between them.
struct QuantileTable {
  std::vector<double> percent;  // ascending from 0 to 100
  std::vector<double> value;

  bool empty() const { return value.empty(); }
  // The quantile at `u` (0..1).
  double At(double u) const;
  double Mean() const;
};

// The requests of one kind of use: a file of load/plan/tables.
struct Scenario {
  std::string name;
  std::string about;
  QuantileTable prompt, output;  // tokens; of one turn, if sessions have turns
  double correlation = 0;        // of prompt and output, through a Gaussian copula
  // Sessions: how many requests build on each other, and the pauses between them.
  QuantileTable turns, think_ms;
  int64_t prefix_tokens = 0;  // shared by all requests of the scenario
  int64_t samples = 1;        // requests for each prompt

  struct Lengths {
    int64_t prompt = 0, output = 0;
  };
  Lengths Draw(Random& random) const;
};

const std::vector<Scenario>& Scenarios();
// kUsage, with the known names.
Result<const Scenario*> FindScenario(std::string_view name);

struct MixPart {
  std::string scenario;
  double weight = 0;
};
struct Mix {
  std::vector<MixPart> parts;
  double sum = 0;  // the sum of the given weights; only their shares count
};
// "chat=60,rag=30,code=10", also with ':' for '='; a lone name weighs 100. kUsage: an unknown
// scenario, an invalid number, a sum of 0.
Result<Mix> ParseMix(std::string_view text);
// A note for weights that add up to neither 100 nor 1, else "".
std::string MixNote(const Mix& mix);
// chat 60, rag 30, code 10.
std::vector<MixPart> DefaultMix();

}  // namespace tacho
