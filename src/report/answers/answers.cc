#include "report/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/share.h"
#include "report/answers/answer_parts.h"
#include "report/words/compare_words.h"
#include "report/words/integrity_words.h"
#include "report/words/roofline_words.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// The answer's figure is the change of the phase with the most steps, if it changed beyond noise.
Answer AnswerChange(const AnswerInput& in) {
  if (in.changes == nullptr) return CannotTell("only one run was given");
  if (!in.changes->obstacles.empty()) return CannotTell(in.changes->obstacles.front().text);
  Answer answer;
  answer.sentence = Sentence(CompareVerdict(*in.changes));
  const PhaseChange* most = nullptr;
  for (const PhaseChange& phase : in.changes->phases) {
    if (phase.cannot_tell.empty() && (most == nullptr || phase.steps[0] > most->steps[0]))
      most = &phase;
  }
  if (most == nullptr || !most->step.IsBeyondNoise() || !most->step.relative()) return answer;
  answer.figure = fmt::format("{:+.1f} %", 100 * *most->step.relative());
  answer.of = fmt::format("{}, the mean {} step of the other run",
                          FormatDuration({std::llround(most->step.base)}), PhaseName(most->phase));
  return answer;
}

// Of the phase that takes most time, over all ranks.
Answer AnswerLimit(const AnswerInput& in) {
  std::map<Phase, RoofWork> phases;
  std::map<Phase, DurationNs> device_times;
  const Roofline* lacking = nullptr;
  for (const TraceAnalysis* trace : in.ranks) {
    if (!trace->roofline.missing.empty() || !trace->roofline.refused.empty())
      lacking = &trace->roofline;
    for (const Step& step : trace->steps.steps)
      device_times[step.label.phase] += step.device_busy.value_or(DurationNs{});
    for (const RoofPhase& of : trace->roofline.phases) {
      RoofWork& sum = phases[of.phase];
      const auto weight = static_cast<double>(of.time.ns);
      sum.steps += of.steps;
      sum.time += of.time;
      sum.roof += of.roof;
      sum.mfu += of.mfu * weight;
      sum.mbu += of.mbu * weight;
    }
  }
  const auto longest =
      std::ranges::max_element(device_times, {}, [](const auto& of) { return of.second; });
  const auto most = longest == device_times.end() ? phases.end() : phases.find(longest->first);
  if (most == phases.end() || most->second.time.ns == 0) {
    return CannotTell(lacking == nullptr
                          ? "the model is not known: analyze, report and view take --model-config"
                          : MissingText(*lacking));
  }
  const Phase phase = most->first;
  const RoofWork& sum = most->second;
  const auto steps = static_cast<int64_t>(sum.steps);
  const auto share_of = [&](double weighted) {
    return FormatPercent(weighted / static_cast<double>(sum.time.ns));
  };
  Answer answer;
  answer.share = ShareOf(sum.roof, sum.time);
  answer.figure = FormatPercent(*answer.share) + " %";
  answer.of = fmt::format("{} of GPU time in {} steps", FormatDuration(sum.time), PhaseName(phase));
  answer.sentence = Sentence(fmt::format(
      "{} takes {} a step where the hardware needs {}: {} % of the memory's bandwidth, {} % of the "
      "FLOPs",
      PhaseName(phase), FormatDuration({sum.time.ns / steps}),
      FormatDuration({sum.roof.ns / steps}), share_of(sum.mbu), share_of(sum.mfu)));
  return answer;
}

struct Question {
  const char* id;
  const char* text;
  Answer (*answer)(const AnswerInput&);
  bool is_of_a_rank = true;
};
constexpr Question kQuestions[] = {
    {"trust", "Can this trace be trusted?", AnswerTrust, false},
    {"idle", "Is the device idle, and why?", AnswerIdle},
    {"bound", "Does the host or the device limit?", AnswerBound},
    {"steps", "How long is a step?", AnswerSteps},
    {"kernels", "Which kernels own the time?", AnswerKernels},
    {"graphs", "Did CUDA graphs run?", AnswerGraphs},
    {"communication", "Is communication exposed?", AnswerCommunication},
    {"ranks", "Do the ranks agree?", AnswerRanks},
    {"change", "What changed against another run?", AnswerChange, false},
    {"first", "What costs most?", AnswerFirst},
    {"origin", "Where do kernels come from?", AnswerOrigin},
    {"limit", "Are kernels near the hardware's limit?", AnswerLimit},
    {"waits", "Where does the host wait?", AnswerWaits},
    {"load", "What was the load?", AnswerLoad},
    {"drift", "Do steps drift?", AnswerDrift},
};

// The traces whose steps the screens show.
std::vector<size_t> TracesOfSteps(const RunAnalysis& run) {
  std::vector<size_t> traces;
  if (run.traces.empty()) return traces;
  if (const TraceAnalysis* only = OnlyTrace(run))
    return {static_cast<size_t>(only - run.traces.data())};
  if (run.ranks.rows.empty()) return traces;
  const size_t group = RankOfSteps(run.ranks).group;
  for (const RankRow& row : run.ranks.rows) {
    if (row.group != group) continue;
    const auto trace = std::ranges::find(run.traces, row.path, &TraceAnalysis::path);
    if (trace != run.traces.end())
      traces.push_back(static_cast<size_t>(trace - run.traces.begin()));
  }
  return traces;
}

}  // namespace

std::vector<PlacedStep> StepsOfScreens(const RunAnalysis& run) {
  std::vector<PlacedStep> steps;
  for (const size_t trace : TracesOfSteps(run)) {
    for (const Step& step : run.traces[trace].steps.steps) steps.push_back({trace, &step});
  }
  return steps;
}

AnswerInput::AnswerInput(const RunAnalysis& analysis, const RunChanges* changes_of_run)
    : run(analysis),
      changes(changes_of_run),
      ranks(RanksOf(analysis)),
      totals(TotalsOf(analysis)),
      steps(StepsOfScreens(analysis)) {}

std::vector<PlacedStep> MainSteps(const std::vector<PlacedStep>& steps) {
  std::map<Phase, std::pair<DurationNs, DurationNs>> times;  // on the device, on the host
  for (const PlacedStep& placed : steps) {
    const Step& step = *placed.step;
    if (step.label.phase == Phase::kEmpty) continue;
    // Not the time to the next step, which may contain a pause.
    auto& [device, host] = times[step.label.phase];
    device += step.device_busy.value_or(DurationNs{});
    host += step.when.length();
  }
  const auto most = std::ranges::max_element(
      times, {}, [](const auto& phase_and_time) { return phase_and_time.second; });
  std::vector<PlacedStep> main;
  for (const PlacedStep& placed : steps) {
    if (most != times.end() && placed.step->label.phase == most->first) main.push_back(placed);
  }
  return main;
}

Answer CannotTell(std::string why) {
  Answer answer;
  answer.cannot_tell = std::move(why);
  return answer;
}

std::string Sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string DeviceTimeText(const AnswerInput& in, DurationNs time) {
  const DeviceTotals& totals = in.totals.devices;
  return fmt::format("{} of {} time{}", FormatDuration(time), DeviceWord(totals),
                     totals.devices > 1 ? fmt::format(" over {} devices", totals.devices) : "");
}

std::string NoDeviceTime(const AnswerInput& in) {
  if (in.run.traces.empty()) return "no trace could be read";
  return WhyNoDeviceTime(in.run);
}

std::vector<Answer> Answers(const RunAnalysis& run, const RunChanges* changes) {
  const AnswerInput in(run, changes);
  std::vector<Answer> answers;
  // If every file mixes several ranks, no figure of a single rank is known, not even as 0.
  const bool are_mixed =
      !run.traces.empty() && std::ranges::all_of(run.traces, [](const TraceAnalysis& trace) {
        return trace.notes.CountOf(NoteId::kMixedRanks) > 0;
      });
  for (const Question& question : kQuestions) {
    answers.push_back(are_mixed && question.is_of_a_rank
                          ? CannotTell("the file holds several ranks as one, and nothing tells "
                                       "whose work is whose")
                          : question.answer(in));
    answers.back().id = question.id;
    answers.back().question = question.text;
  }
  return answers;
}

Document AnswersDocument(const RunAnalysis& run, const RunChanges* changes) {
  Document document;
  document.Add(Heading{Heading::Level::kPart, "Fifteen answers"});
  for (const Answer& answer : Answers(run, changes)) {
    std::string text = answer.cannot_tell.empty() ? " " : " cannot tell: " + answer.cannot_tell;
    if (!answer.figure.empty()) text += fmt::format("{} of {}. ", answer.figure, answer.of);
    document.Add(Remark{answer.question, text + answer.sentence});
  }
  return document;
}

}  // namespace tacho
