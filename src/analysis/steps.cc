#include "analysis/steps.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "analysis/gpu_scope.h"
#include "analysis/name_index.h"
#include "base/words.h"

namespace tacho {
namespace embedded {
extern const std::string_view step_rules;
}
namespace {

// One piece of a pattern.
struct Piece {
  enum class Kind : uint8_t { kLiteral, kNumber, kAny } kind = Kind::kLiteral;
  std::string_view literal;
  std::vector<int64_t StepLabel::*> fields;  // what a number is read into
};

struct Grammar {
  std::string_view engine;
  std::string_view phase;
  std::vector<Piece> pieces;
};

[[noreturn]] void RejectRule(std::string_view line) {
  throw std::logic_error("rules/steps.rules: not a rule: " + std::string(line));
}

Piece ReadField(std::string_view names, std::string_view line) {
  Piece piece{
      .kind = names == "*" ? Piece::Kind::kAny : Piece::Kind::kNumber, .literal = {}, .fields = {}};
  if (names == "*" || names == "n") return piece;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (name == "cr")
      piece.fields.push_back(&StepLabel::context_requests);
    else if (name == "ct")
      piece.fields.push_back(&StepLabel::context_tokens);
    else if (name == "gr")
      piece.fields.push_back(&StepLabel::generation_requests);
    else if (name == "gt")
      piece.fields.push_back(&StepLabel::generation_tokens);
    else
      RejectRule(line);
  }
  return piece;
}

Grammar ReadGrammar(std::string_view line) {
  Grammar grammar;
  std::string_view rest = line;
  grammar.engine = TakeWord(rest);
  grammar.phase = TakeWord(rest);
  constexpr std::string_view kPhases[] = {"counts", "prefill", "decode", "mixed",
                                          "empty",  "other",   "none"};
  const bool known =
      std::find(std::begin(kPhases), std::end(kPhases), grammar.phase) != std::end(kPhases);
  if (!known || rest.empty()) RejectRule(line);
  while (!rest.empty()) {
    const size_t open = rest.find('{');
    if (open > 0) grammar.pieces.push_back({.literal = rest.substr(0, open), .fields = {}});
    if (open == std::string_view::npos) break;
    const size_t close = rest.find('}', open);
    if (close == std::string_view::npos) RejectRule(line);
    grammar.pieces.push_back(ReadField(rest.substr(open + 1, close - open - 1), line));
    rest.remove_prefix(close + 1);
  }
  return grammar;
}

const std::vector<Grammar>& Grammars() {
  static const std::vector<Grammar> grammars = [] {
    std::vector<Grammar> read;
    std::string_view rest = embedded::step_rules;
    while (!rest.empty()) {
      const std::string_view line = TakeLine(rest);
      if (!line.empty() && line.front() != '#') read.push_back(ReadGrammar(line));
    }
    return read;
  }();
  return grammars;
}

// The position behind `piece` at `at`, or npos when it does not match there.
size_t MatchPiece(const Piece& piece, std::string_view text, size_t at, StepLabel& label) {
  if (piece.kind == Piece::Kind::kLiteral) {
    return text.substr(at).starts_with(piece.literal) ? at + piece.literal.size()
                                                      : std::string_view::npos;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  constexpr int64_t kMost = int64_t{1} << 40;  // no engine counts that far: sums stay in range
  if (error != std::errc() || value < 0 || value > kMost) return std::string_view::npos;
  for (const auto field : piece.fields) label.*field = value;
  return static_cast<size_t>(end - text.data());
}

// Matches the whole text. A failure makes the last {*} one byte longer; earlier ones keep the
// shortest text that they can have, which loses no match and bounds the cost by pattern times text.
bool Match(const std::vector<Piece>& pieces, std::string_view text, StepLabel& label) {
  size_t piece = 0, at = 0;
  size_t any_piece = std::string_view::npos, any_end = 0;
  while (true) {
    if (piece == pieces.size() && at == text.size()) return true;
    if (piece < pieces.size() && pieces[piece].kind == Piece::Kind::kAny) {
      any_piece = piece++;
      any_end = at;
      continue;
    }
    const size_t next =
        piece < pieces.size() ? MatchPiece(pieces[piece], text, at, label) : std::string_view::npos;
    if (next != std::string_view::npos) {
      at = next;
      ++piece;
      continue;
    }
    if (any_piece == std::string_view::npos || any_end >= text.size()) return false;
    piece = any_piece + 1;
    at = ++any_end;
  }
}

Phase PhaseOf(std::string_view rule, const StepLabel& label) {
  if (rule == "prefill") return Phase::kPrefill;
  if (rule == "decode") return Phase::kDecode;
  if (rule == "mixed") return Phase::kMixed;
  if (rule == "empty") return Phase::kEmpty;
  if (rule != "counts") return Phase::kOther;
  const bool context = label.context_requests > 0, generation = label.generation_requests > 0;
  if (context && generation) return Phase::kMixed;
  if (context) return Phase::kPrefill;
  return generation ? Phase::kDecode : Phase::kEmpty;
}

struct MatchedStep {
  std::string_view engine;
  StepLabel label;
};

std::optional<MatchedStep> MatchStep(std::string_view annotation) {
  for (const Grammar& grammar : Grammars()) {
    StepLabel label;
    if (!Match(grammar.pieces, annotation, label)) continue;
    if (grammar.phase == "none") return std::nullopt;
    label.phase = PhaseOf(grammar.phase, label);
    const auto none = [](int64_t& value) { value = std::max<int64_t>(value, 0); };
    if (label.phase == Phase::kPrefill || label.phase == Phase::kEmpty) {
      none(label.generation_requests);
      none(label.generation_tokens);
    }
    if (label.phase == Phase::kDecode || label.phase == Phase::kEmpty) {
      none(label.context_requests);
      none(label.context_tokens);
    }
    return MatchedStep{grammar.engine, label};
  }
  return std::nullopt;
}

// Two annotations name one step: what the outer one does not tell is taken from the inner one.
void AddWhatIsMissing(const StepLabel& inner, StepLabel& outer) {
  for (const auto field : {&StepLabel::context_requests, &StepLabel::context_tokens,
                           &StepLabel::generation_requests, &StepLabel::generation_tokens}) {
    if (outer.*field < 0) outer.*field = inner.*field;
  }
}

bool IsTrainingStep(const MatchedStep& step) { return step.engine == "torch"; }

}  // namespace

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kPrefill:
      return "prefill";
    case Phase::kDecode:
      return "decode";
    case Phase::kMixed:
      return "mixed";
    case Phase::kEmpty:
      return "empty";
    case Phase::kOther:
      return "other";
  }
  return "";
}

std::optional<StepLabel> ParseStep(std::string_view annotation) {
  const std::optional<MatchedStep> step = MatchStep(annotation);
  if (!step) return std::nullopt;
  return step->label;
}

std::string_view StepEngine(std::string_view annotation) {
  const std::optional<MatchedStep> step = MatchStep(annotation);
  return step ? step->engine : std::string_view();
}

std::vector<bool> TrainingStepNames(const Trace& trace) {
  std::vector<bool> names;
  for (size_t i = 0; i < trace.words.strings.size(); ++i) {
    if (!trace.Text(static_cast<StringId>(i)).starts_with("ProfilerStep#")) continue;
    names.resize(trace.words.strings.size());
    names[i] = true;
  }
  return names;
}

namespace {

struct FoundSteps {
  std::vector<Step> steps;        // in the order of start, before the scope's choice
  std::vector<TrackId> track_of;  // by step
};

// All annotations that name a step, in the order of the file.
FoundSteps FindAnnotations(const Trace& trace) {
  NameIndex names(trace);
  std::vector<std::optional<MatchedStep>> matched;
  const auto match = [&](StringId name) -> const std::optional<MatchedStep>& {
    const uint32_t number = names[name];
    if (number == matched.size()) matched.push_back(MatchStep(trace.Text(name)));
    return matched[number];
  };
  bool from_engine = false;
  for (size_t row = 0; row < trace.annotations.size() && !from_engine; ++row) {
    const auto& step = match(trace.annotations.name[row]);
    from_engine = step && !IsTrainingStep(*step);
  }
  FoundSteps found;
  const auto add = [&](const SliceTable& table, uint32_t row) {
    const auto& step = match(table.name[row]);
    if (!step || (from_engine && IsTrainingStep(*step))) return;
    found.steps.push_back({.label = step->label, .when = table.When(row), .period = {}});
    found.track_of.push_back(table.track[row]);
  };
  for (uint32_t row = 0; row < trace.annotations.size(); ++row) add(trace.annotations, row);
  const std::vector<bool> training = TrainingStepNames(trace);
  if (from_engine || training.empty()) return found;
  for (const SliceTable* table : {static_cast<const SliceTable*>(&trace.host_ops),
                                  static_cast<const SliceTable*>(&trace.others)}) {
    for (uint32_t row = 0; row < table->size(); ++row) {
      if (training[Index(table->name[row])]) add(*table, row);
    }
  }
  return found;
}

FoundSteps FindAllSteps(const Trace& trace) {
  FoundSteps all = FindAnnotations(trace), kept;
  std::vector<Step>& found = all.steps;
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Interval &x = found[a].when, &y = found[b].when;
    return x.start != y.start ? x.start < y.start : x.end > y.end;
  });
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<size_t> last(trace.words.tracks().size(), kNone);  // by track: the step before
  std::vector<size_t> kept_rows;
  for (const size_t i : order) {
    size_t& before = last[Index(all.track_of[i])];
    if (before != kNone) {
      const Interval outer = found[before].when, when = found[i].when;
      if (when == outer || (when.start < outer.end && when.end <= outer.end)) {
        AddWhatIsMissing(found[i].label, found[before].label);
        continue;
      }
      found[before].period = when.start - outer.start;
    }
    before = i;
    kept_rows.push_back(i);
  }
  for (const size_t i : kept_rows) {
    kept.steps.push_back(found[i]);
    kept.track_of.push_back(all.track_of[i]);
  }
  return kept;
}

// The steps of each track by start; of two that overlap the later one has what both hold.
class StepOfTime {
 public:
  StepOfTime(const FoundSteps& found, size_t tracks) : found_(found), steps_(tracks) {
    for (uint32_t i = 0; i < found.steps.size(); ++i) {
      steps_[Index(found.track_of[i])].push_back(i);
    }
  }
  static constexpr uint32_t kNone = 0xffffffff;
  [[nodiscard]] uint32_t Find(TrackId track, TimeNs t) const {
    const std::vector<uint32_t>& steps = steps_[Index(track)];
    const auto behind = std::upper_bound(
        steps.begin(), steps.end(), t,
        [&](TimeNs at, uint32_t step) { return at < found_.steps[step].when.start; });
    if (behind == steps.begin()) return kNone;
    return found_.steps[*(behind - 1)].when.contains(t) ? *(behind - 1) : kNone;
  }

 private:
  const FoundSteps& found_;
  std::vector<std::vector<uint32_t>> steps_;  // by track
};

void AddDeviceTimes(const Trace& trace, const LaunchLinks& links, const Scope& scope,
                    FoundSteps& found) {
  if (found.steps.empty() || trace.gpu.size() == 0) return;
  const StepOfTime steps(found, trace.words.tracks().size());
  const HostCallTable& calls = trace.host_calls;
  std::vector<uint32_t> step_of_call(calls.size());
  for (uint32_t call = 0; call < calls.size(); ++call) {
    step_of_call[call] = steps.Find(calls.track[call], calls.start[call]);
  }
  const GpuScope counts(trace, scope);
  std::vector<std::vector<Interval>> work(found.steps.size());
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone || !counts.OnDevice(row)) continue;
    if (const uint32_t step = step_of_call[call]; step != StepOfTime::kNone) {
      work[step].push_back(trace.gpu.When(row));
    }
  }
  for (size_t i = 0; i < work.size(); ++i) {
    if (work[i].empty()) continue;
    const auto by_start = [](const Interval& a, const Interval& b) { return a.start < b.start; };
    if (!std::ranges::is_sorted(work[i], by_start)) std::ranges::sort(work[i], by_start);
    TimeNs reach = work[i].front().start;
    DurationNs busy;
    for (const Interval& piece : work[i]) {
      if (piece.end <= reach) continue;
      busy += piece.end - std::max(reach, piece.start);
      reach = piece.end;
    }
    found.steps[i].device_span = reach - work[i].front().start;
    found.steps[i].device_busy = busy;
  }
}

StepTable TableOf(const Trace& trace, const FoundSteps& found, const Scope& scope) {
  StepTable table;
  // An engine that stamps its version also names its steps: none is then an answer.
  if (!found.steps.empty() || !trace.header.vllm_version.empty()) table.method = "annotated";
  for (const Step& step : found.steps) {
    if (!scope.Counts(step.when.start) && scope.Clip(step.when).empty()) continue;
    table.steps.push_back(step);
    table.steps.back().cut = scope.Clip(step.when) != step.when;
  }
  return table;
}

}  // namespace

StepTable FindSteps(const Trace& trace, const Scope& scope) {
  return TableOf(trace, FindAllSteps(trace), scope);
}

StepTable FindSteps(const Trace& trace, const LaunchLinks& links, const Scope& scope) {
  FoundSteps found = FindAllSteps(trace);
  AddDeviceTimes(trace, links, scope, found);
  return TableOf(trace, found, scope);
}

}  // namespace tacho
