#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/answers/answers.h"
#include "report/device_totals.h"

namespace tacho {

// Helpers that several answers use.

// A step of the rank whose steps the screens show.
struct PlacedStep {
  size_t trace = 0;  // index into RunAnalysis::traces
  const Step* step = nullptr;
};

std::vector<PlacedStep> StepsOfScreens(const RunAnalysis& run);
// The steps of the phase whose steps take the most time on the device; if no step has device times,
// on the host. Empty steps are left out.
std::vector<PlacedStep> MainSteps(const std::vector<PlacedStep>& steps);

struct AnswerInput {
  AnswerInput(const RunAnalysis& analysis, const RunChanges* changes_of_run);

  const RunAnalysis& run;
  const RunChanges* changes;  // nullptr: no other run was given
  std::vector<const TraceAnalysis*> ranks;
  RunTotals totals;
  std::vector<PlacedStep> steps;
};

Answer CannotTell(std::string why);
// Why a share of GPU work is not given: the share in the recorded work says nothing about the
// missing work.
inline constexpr const char* kUnknownWork =
    "GPU work is missing from the recording, and nothing tells what it was";
// Begins `text` with a capital letter.
std::string Sentence(std::string text);
// The longest listed gap, of any rank, whose cause `wanted` accepts; nullopt: there is none.
template <typename Wanted>
std::optional<Evidence> LongestGap(const AnswerInput& in, Wanted wanted) {
  std::optional<Evidence> longest;
  for (const TraceAnalysis* trace : in.ranks) {
    for (const IdleGap& gap : trace->idle.gaps) {
      if (!wanted(gap.cause) || (longest && longest->when.length() >= gap.when.length())) continue;
      longest = {static_cast<size_t>(trace - in.run.traces.data()), gap.when};
    }
  }
  return longest;
}
// The number and the phase of `steps`: "201 decode steps". `steps` must not be empty, and all must
// be of one phase.
std::string StepsText(const std::vector<PlacedStep>& steps);
// `time` in words: "84.5 ms of GPU time", with " over 8 devices" if there are several.
std::string DeviceTimeText(const AnswerInput& in, DurationNs time);
// Why there is no device time.
std::string NoDeviceTime(const AnswerInput& in);

// Answers about the time of the devices (answers_device.cc).
Answer AnswerTrust(const AnswerInput& in);
Answer AnswerIdle(const AnswerInput& in);
Answer AnswerBound(const AnswerInput& in);
Answer AnswerKernels(const AnswerInput& in);
Answer AnswerCommunication(const AnswerInput& in);
Answer AnswerRanks(const AnswerInput& in);
Answer AnswerFirst(const AnswerInput& in);
// Answers about the host and its launches (answers_host.cc).
Answer AnswerGraphs(const AnswerInput& in);
Answer AnswerOrigin(const AnswerInput& in);
Answer AnswerWaits(const AnswerInput& in);
// Answers about the steps (answers_steps.cc).
Answer AnswerSteps(const AnswerInput& in);
Answer AnswerLoad(const AnswerInput& in);
Answer AnswerDrift(const AnswerInput& in);

}  // namespace tacho
