#include "load/plan/mix_choice.h"

#include <algorithm>

namespace tacho {

Result<MixChoice> MixChoice::Create(const std::vector<MixPart>& mix) {
  MixChoice choice;
  double sum = 0;
  for (const MixPart& part : mix.empty() ? DefaultMix() : mix) {
    TACHO_ASSIGN_OR_RETURN(const auto scenario, FindScenario(part.scenario));
    if (!(part.weight >= 0)) {
      return Fail(ErrorKind::kUsage, "a negative weight of " + part.scenario);
    }
    sum += part.weight;
    choice.parts_.push_back({scenario, sum});
  }
  if (!(sum > 0)) return Fail(ErrorKind::kUsage, "the mix adds up to 0");
  for (Part& part : choice.parts_) part.upto /= sum;
  choice.parts_.back().upto = 1;
  return choice;
}

const Scenario& MixChoice::At(double u) const {
  return *std::find_if(parts_.begin(), parts_.end() - 1, [&](const Part& part) {
            return u < part.upto;
          })->scenario;
}

}  // namespace tacho
