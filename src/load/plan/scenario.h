#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace tacho {

// A distribution given by some of its percentiles; values between them are interpolated linearly.
struct QuantileTable {
  std::vector<double> percent;  // ascending from 0 to 100
  std::vector<double> value;

  bool empty() const { return value.empty(); }
  // The value at the share `u` (0..1).
  double At(double u) const;
  double Mean() const;
};

// One kind of use and its requests, read from a file of load/plan/tables.
struct Scenario {
  std::string name;
  std::string about;
  QuantileTable prompt, output;  // tokens; per turn, if sessions have turns
  double correlation = 0;        // between prompt and output length, through a Gaussian copula
  // Sessions: how many requests build on each other, and how long the pauses between them are.
  QuantileTable turns, think_ms;
  int64_t prefix_tokens = 0;  // length of the prefix that all requests of the scenario share
  int64_t samples = 1;        // requests per prompt

  struct Lengths {
    int64_t prompt = 0, output = 0;
  };
  Lengths Draw(Random& random) const;
};

const std::vector<Scenario>& Scenarios();
// kUsage: an unknown name; the error lists the known ones.
Result<const Scenario*> FindScenario(std::string_view name);

struct MixPart {
  std::string scenario;
  double weight = 0;
};
struct Mix {
  std::vector<MixPart> parts;
  double sum = 0;  // sum of the given weights; only their shares count
};
// Parses "chat=60,rag=30,code=10"; ':' may replace '=', and a lone name weighs 100. kUsage: an
// unknown scenario, an invalid number, a sum of 0.
Result<Mix> ParseMix(std::string_view text);
// A note if the weights add up to neither 100 nor 1; else "".
std::string MixNote(const Mix& mix);
// The mix if none is given: chat 60, rag 30, code 10.
std::vector<MixPart> DefaultMix();

}  // namespace tacho
