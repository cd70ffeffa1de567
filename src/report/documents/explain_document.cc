#include "report/documents/explain_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/findings/findings.h"
#include "analysis/requests/requests_in_step.h"
#include "analysis/requests/run_requests.h"
#include "base/closest.h"
#include "base/parse_number.h"
#include "report/documents/explain_finding.h"
#include "report/documents/requests_document.h"
#include "report/tables/explain_tables.h"
#include "report/tables/result_tables.h"
#include "report/words/finding_words.h"
#include "report/words/idle_words.h"
#include "report/words/rank_text.h"
#include "report/words/request_words.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr std::string_view kNoRequestHere =
    "no request {}: only the folder of a tacho record that drove the load knows its requests; "
    "'step:N', 'gap:N' and 'finding:N' explain a step, a gap and a finding";
constexpr size_t kSlowestGaps = 8, kListedRequests = 12;

std::string Quoted(std::string_view text) { return "'" + VisibleText(text) + "'"; }

// A trace's name: that of its rank, "rank 0", or else its path.
std::string NameOf(const TraceAnalysis& trace) {
  const std::string name = trace.facts.identity.RankName();
  return name.empty() ? trace.path : name;
}

bool IsOf(const TraceAnalysis& trace, const std::string& of) {
  const RankIdentity& identity = trace.facts.identity;
  return of == identity.worker || of == NameOf(trace) ||
         (identity.rank && of == fmt::format("rank{}", *identity.rank));
}

// A time on the run's clock, in words.
std::string BesideFirstEvent(DurationNs at) {
  return fmt::format("{} {} the first event", FormatDuration(at.ns < 0 ? -at : at),
                     at.ns < 0 ? "before" : "after");
}

// Builds the document that explains one request, step or gap of a run.
class Explainer {
 public:
  Explainer(const RunAnalysis& run, const ScreenOptions& options) : run_(run), options_(options) {}

  Result<Document> Request(const std::string& id);
  Result<Document> Step(const ExplainTarget& target);
  Result<Document> Gap(const ExplainTarget& target);

 private:
  [[nodiscard]] Result<uint32_t> TraceOf(const std::string& of) const;
  [[nodiscard]] const RequestRow* RowOf(const std::string& id) const;
  [[nodiscard]] std::string NoRequest(const std::string& id) const;
  [[nodiscard]] std::vector<NextCommand::Option> NextOfRequest(const RequestRow& row) const;
  void AddSteps(const RequestRow& row, const RequestDetail& detail);
  void AddRequestsOf(uint32_t trace, uint32_t step);
  void AddNext(std::vector<NextCommand::Option> options);
  [[nodiscard]] std::string Command(std::string_view command, const std::string& more) const {
    return fmt::format("tacho {} {} {}", command, options_.command_paths, more);
  }
  [[nodiscard]] bool IsMeantBy(const std::string& word, uint32_t trace) const {
    const auto meant = TraceOf(word);
    return meant && *meant == trace;
  }
  // A step as ParseExplainTarget reads it: "step:17", or "w1/step:17" if it is not in the first
  // trace.
  [[nodiscard]] std::string StepWord(uint32_t trace, size_t number) const;
  // The paths for `tacho view` to show this trace alone.
  [[nodiscard]] std::string ViewOf(uint32_t trace) const {
    return run_.traces.size() == 1 ? options_.view_paths : ShellWord(run_.traces[trace].path);
  }

  const RunAnalysis& run_;
  const ScreenOptions& options_;
  Document document_;
};

// The trace that ExplainTarget::of means.
Result<uint32_t> Explainer::TraceOf(const std::string& of) const {
  // An engine's name means the rank whose steps are joined with the engine's requests.
  if (run_.joined && !of.empty()) {
    const std::vector<std::string>& names = run_.joined->engine_names;
    const auto engine = std::ranges::find(names, of);
    if (engine != names.end())
      return run_.joined->join.engines[static_cast<size_t>(engine - names.begin())].trace;
  }
  for (uint32_t i = 0; i < run_.traces.size(); ++i) {
    if (run_.traces[i].facts.role == TraceRole::kWorker && (of.empty() || IsOf(run_.traces[i], of)))
      return i;
  }
  if (of.empty() && !run_.traces.empty()) return 0U;
  return Fail(ErrorKind::kUsage, fmt::format("no worker and no rank is named {}; '{}' lists them",
                                             Quoted(of), Command("analyze", "--ranks")));
}

std::string Explainer::StepWord(uint32_t trace, size_t number) const {
  std::string step = fmt::format("step:{}", number);
  if (IsMeantBy("", trace)) return step;
  std::vector<std::string> words;
  if (run_.joined) words = run_.joined->engine_names;
  words.push_back(NameOf(run_.traces[trace]));
  for (const std::string& word : words) {
    if (IsMeantBy(word, trace)) return ShellWord(word + "/" + step);
  }
  return step;
}

const RequestRow* Explainer::RowOf(const std::string& id) const {
  const std::vector<RequestRow>& rows = run_.requests.rows;
  const auto found = std::ranges::find(rows, id, &RequestRow::id);
  if (found != rows.end()) return &*found;
  if (id != "slowest" && id != "median") return nullptr;
  const std::vector<const RequestRow*> whole = RequestsByE2e(run_.requests);
  if (whole.empty()) return nullptr;
  return id == "slowest" ? whole.back() : whole[(whole.size() - 1) / 2];
}

void Explainer::AddNext(std::vector<NextCommand::Option> options) {
  if (options_.command_paths.empty()) return;
  NextCommand next{std::move(options.front().option)};
  next.others.assign(std::make_move_iterator(options.begin() + 1),
                     std::make_move_iterator(options.end()));
  document_.AddPart(std::move(next));
}

std::string Explainer::NoRequest(const std::string& id) const {
  std::vector<std::string> ids = {"slowest", "median"};
  for (const RequestRow& one : run_.requests.rows) ids.push_back(one.id);
  const std::string near = Closest(id, ids);
  return fmt::format("no request {}{}; '{}' lists them", Quoted(id),
                     near.empty() ? "" : fmt::format(" (did you mean {}?)", VisibleText(near)),
                     Command("analyze", "--requests"));
}

Result<Document> Explainer::Request(const std::string& id) {
  const RequestRow* row = RowOf(id);
  if (!run_.requests.any()) return Fail(ErrorKind::kUsage, fmt::format(kNoRequestHere, Quoted(id)));
  if (row == nullptr) return Fail(ErrorKind::kUsage, NoRequest(id));
  std::vector<std::string> facts = {row->whole ? "answered in full"
                                               : std::string(RequestStatusId(*row))};
  if (id != row->id)
    facts.insert(facts.begin(),
                 fmt::format("the {} {}", id, OfRequests(RequestsByE2e(run_.requests))));
  if (!row->scenario.empty()) facts.push_back(row->scenario);
  if (!row->worker.empty()) facts.push_back("engine " + row->worker);
  if (row->prompt_tokens)
    facts.push_back(fmt::format(
        "prompt of {}", FormatCounted(static_cast<uint64_t>(*row->prompt_tokens), "token")));
  facts.push_back("answer of " + FormatCounted(row->tokens, "token"));
  document_.Add(Subject{"request", row->id, std::move(facts)});
  std::vector<std::string> times;
  if (row->ttft) times.push_back("TTFT " + FormatDuration(*row->ttft));
  times.push_back(FormatDuration(row->e2e) + (row->whole ? " to its last token" : " to its end"));
  const auto detail = run_.joined && row->lacks == RequestLacks::kNothing
                          ? DetailOf(InputOf(run_), row->number)
                          : std::nullopt;
  if (detail && row->trace) {
    const TimeNs zero = run_.traces[*row->trace].run_zero();
    times.insert(times.begin(), "due " + BesideFirstEvent(detail->due - zero));
  }
  document_.Add(Labelled{"times", std::move(times)});
  std::string_view why = WhyNotSplit(row->lacks);
  if (row->lacks == RequestLacks::kTie && !WhyNotJoined(run_.requests.why).empty())
    why = WhyNotJoined(run_.requests.why);
  if (!why.empty()) document_.Add(Labelled{"not split", {std::string(why)}, Paint::kYellow});
  if (row->outside.ns > 0)
    document_.Add(Labelled{"unknown",
                           {FormatDuration(row->outside) + " of its time lie outside of the "
                                                           "recording"},
                           Paint::kYellow});
  if (row->lacks == RequestLacks::kNothing && !row->sure &&
      row->parts[RequestPart::kUnknown] > row->outside)
    document_.Add(
        Labelled{"unsure",
                 {"it fits the steps in several ways; what differs between them is unknown"},
                 Paint::kYellow});
  document_.AddPart(TitledTable{.table = RequestPartsTable(*row), .title = "Parts"});
  RequestParts shown = row->parts;
  shown.Add(row->ttft_parts);
  AddPartsLegend(document_, shown);
  if (!detail || !row->steps_known) {
    AddNext({{Command("analyze", "--requests"), "all requests"}});
    return std::move(document_);
  }
  AddSteps(*row, *detail);
  AddNext(NextOfRequest(*row));
  return std::move(document_);
}

// The commands that show more of a request whose steps are known.
std::vector<NextCommand::Option> Explainer::NextOfRequest(const RequestRow& row) const {
  const size_t slowest_step = row.last_step + size_t{1};
  std::vector<NextCommand::Option> next = {
      {Command("explain", StepWord(*row.trace, row.first_step + size_t{1})),
       "the first step it was in"},
      {Command("explain", StepWord(*row.trace, slowest_step)), "the last one"}};
  if (!options_.view_paths.empty())
    next.push_back(
        {fmt::format("tacho view {} --step {}", ViewOf(*row.trace), row.first_step + size_t{1}),
         "the timeline at its first step"});
  if (row.parts[RequestPart::kSkew].ns > 0) {
    const std::vector<JoinEngine>& engines = run_.joined->join.engines;
    const auto engine = std::ranges::find(engines, *row.trace, &JoinEngine::trace);
    const auto is_rank = [&](const RunFinding::Place& place) {
      return std::ranges::binary_search(engine->ranks, static_cast<uint32_t>(place.trace));
    };
    for (const RunFinding& finding : FindingsOf(run_)) {
      if (finding.kind != RunFindingKind::kWait || std::ranges::none_of(finding.places, is_rank))
        continue;
      next.push_back(
          {CommandOf(finding, options_.command_paths), "the rank that the others wait for"});
      break;
    }
  }
  return next;
}

void Explainer::AddSteps(const RequestRow& row, const RequestDetail& detail) {
  const TraceAnalysis& trace = run_.traces[*row.trace];
  const StepTable& steps = trace.steps;
  document_.AddPart(TitledTable{
      .table = ReadsTable(detail, steps, trace.run_zero()),
      .title = detail.reads_known ? "Its prompt was read in" : "Its prompt was read in, at least",
      .screen_rows = kSlowestGaps});
  std::vector<std::string> others;
  for (const RequestRow& other : run_.requests.rows) {
    if (&other == &row || other.trace != row.trace || !other.reads_known) continue;
    if (other.token_step > row.token_step && other.first_step <= row.last_step)
      others.push_back(other.id);
  }
  document_.AddPart(TitledTable{.table = TokenGapsTable(detail, steps, trace.run_zero()),
                                .title = "The longest waits for a token",
                                .screen_title = "LONGEST WAITS, TOKEN",
                                .screen_rows = kSlowestGaps,
                                .markdown_rows = kSlowestGaps,
                                .cut = true});
  if (detail.chunks.size() > kSlowestGaps + 1)
    document_.Add(Paragraph{
        fmt::format("{} of {} waits shown", kSlowestGaps, detail.chunks.size() - 1), Paint::kDim});
  // Prompts that the steps of its answer read, each counted in every step that read some of it.
  int64_t reads = 0;
  for (uint32_t step = row.token_step + 1; step <= row.last_step; ++step)
    reads += std::max<int64_t>(0, steps.steps[step].label.context_requests);
  if (reads == 0) return;
  const bool shows_all = others.size() <= kListedRequests;
  others.resize(std::min(others.size(), kListedRequests));
  document_.Add(Paragraph{fmt::format(
      "the steps of its answer read other prompts {}{}{}{}",
      reads == 1 ? "once" : FormatCounted(static_cast<uint64_t>(reads), "time"),
      others.empty() ? "" : ": ", fmt::join(others, ", "), shows_all ? "" : " and others")});
}

Result<Document> Explainer::Step(const ExplainTarget& target) {
  TACHO_ASSIGN_OR_RETURN(const uint32_t at, TraceOf(target.of));
  const TraceAnalysis& trace = run_.traces[at];
  const std::vector<tacho::Step>& steps = trace.steps.steps;
  if (target.number == 0 || target.number > steps.size())
    return Fail(ErrorKind::kUsage,
                steps.empty()
                    ? fmt::format("no step {}: {} names no steps", target.number, NameOf(trace))
                    : fmt::format("no step {}: {} has steps 1 to {}", target.number, NameOf(trace),
                                  steps.size()));
  const auto number = static_cast<uint32_t>(target.number - 1);
  const tacho::Step& step = steps[number];
  std::vector<std::string> facts = {std::string(PhaseName(step.label.phase))};
  if (step.label.context_requests > 0)
    facts.push_back(fmt::format(
        "{} read, {}", FormatCounted(static_cast<uint64_t>(step.label.context_requests), "prompt"),
        FormatCounted(static_cast<uint64_t>(std::max<int64_t>(0, step.label.context_tokens)),
                      "token")));
  if (step.label.generation_requests > 0)
    facts.push_back(
        FormatCounted(static_cast<uint64_t>(step.label.generation_requests), "request") +
        " in decode");
  document_.Add(
      Subject{"step", fmt::format("{} of {}", target.number, NameOf(trace)), std::move(facts)});
  Table table = StepsTable(trace.steps, trace.run_zero(), "");
  table.rows = {table.rows[number]};
  document_.AddPart(TitledTable{.table = std::move(table), .title = "Times"});
  if (trace.digest && number < trace.digest->cells.steps.size()) {
    const StepCells& cells = trace.digest->cells;
    document_.AddPart(
        TitledTable{.table = CellsTable(cells, number), .title = "Its work on the device"});
    if (!cells.HasCells() || !cells.steps[number].known)
      document_.Add(Paragraph{"what the device did in it is not known", Paint::kYellow});
    const std::vector<DurationNs> skew = SkewOf(run_, {at})[at];
    const size_t cell = 2 * size_t{number} + 1;  // as in StepCells::Of
    if (cell < skew.size() && skew[cell].ns > 0)
      document_.Add(Paragraph{
          fmt::format("{} of the exposed communication in it is waiting for other ranks, at least",
                      FormatDuration(skew[cell]))});
    const RequestSplitter splitter(trace.digest->steps, cells, {});
    const auto alone = step.label.context_requests > 0
                           ? splitter.DecodeStep(step.label.generation_requests)
                           : std::nullopt;
    if (alone)
      document_.Add(Paragraph{fmt::format(
          "a decode step of about as many requests takes {} here: the answers in it waited {} for "
          "the prompts",
          FormatDuration(*alone),
          FormatDuration(std::max(DurationNs{}, cells.steps[number].work.length() - *alone)))});
  }
  AddRequestsOf(at, number);
  std::vector<NextCommand::Option> next;
  if (!options_.view_paths.empty())
    next.push_back(
        {fmt::format("tacho view {} --step {}", ViewOf(at), target.number), "its timeline"});
  next.push_back({Command("analyze", "--steps"), "every step"});
  AddNext(std::move(next));
  return std::move(document_);
}

void Explainer::AddRequestsOf(uint32_t trace, uint32_t step) {
  if (!run_.joined) return;
  const StepLabel& label = run_.traces[trace].steps.steps[step].label;
  const std::vector<RequestInStep> in_it = RequestsInStep(run_.requests, trace, step, label);
  if (in_it.empty()) return;
  document_.AddPart(TitledTable{.table = RequestsInStepTable(run_.requests, in_it),
                                .title = "Requests in it",
                                .screen_rows = kListedRequests});
  const int64_t all = label.context_requests < 0 || label.generation_requests < 0
                          ? 0
                          : label.context_requests + label.generation_requests;
  if (const auto known = static_cast<int64_t>(in_it.size()); known < all)
    document_.Add(Paragraph{fmt::format("which requests the other {} are is not known",
                                        FormatCount(static_cast<uint64_t>(all - known))),
                            Paint::kDim});
}

Result<Document> Explainer::Gap(const ExplainTarget& target) {
  TACHO_ASSIGN_OR_RETURN(const uint32_t at, TraceOf(target.of));
  const TraceAnalysis& trace = run_.traces[at];
  const IdleTable longest = LongGaps(trace.idle);
  if (target.number == 0 || target.number > longest.gaps.size())
    return Fail(ErrorKind::kUsage,
                longest.gaps.empty()
                    ? fmt::format("no gap {}: {} lists no idle gap", target.number, NameOf(trace))
                    : fmt::format("no gap {}: {} lists gaps 1 to {}", target.number, NameOf(trace),
                                  longest.gaps.size()));
  const IdleGap& gap = longest.gaps[target.number - 1];
  document_.Add(Subject{"gap",
                        fmt::format("{} of {}", target.number, NameOf(trace)),
                        {"device " + gap.device, FormatDuration(gap.when.length()) + " idle",
                         std::string(IdleCauseId(gap.cause))}});
  document_.Add(Labelled{"cause", {std::string(MeaningOf(gap.cause, trace.idle.requests))}});
  document_.Add(Labelled{
      "when",
      {BesideFirstEvent(gap.when.start - trace.run_zero()),
       fmt::format("{} to {} ns on the trace's clock", gap.when.start.ns, gap.when.end.ns)}});
  if (!gap.host.empty())
    document_.Add(Labelled{
        "host", {gap.host + (gap.host_track.empty() ? "" : ", thread " + gap.host_track)}});
  document_.Add(Labelled{"before", {gap.before}});
  document_.Add(Labelled{"after", {gap.after}});
  const std::vector<tacho::Step>& steps = trace.steps.steps;
  const auto after = std::ranges::upper_bound(
      steps, gap.when.start, {}, [](const tacho::Step& step) { return step.when.start; });
  if (after != steps.begin()) {
    const auto number = static_cast<size_t>(after - steps.begin());
    const bool is_over = steps[number - 1].when.end <= gap.when.start;
    document_.Add(
        Labelled{"step",
                 {!is_over                ? fmt::format("in {}", number)
                  : number < steps.size() ? fmt::format("between {} and {}", number, number + 1)
                                          : fmt::format("after {}, the last one", number)}});
  }
  std::vector<NextCommand::Option> next;
  if (!options_.view_paths.empty())
    next.push_back(
        {fmt::format("tacho view {} --gap {}", ViewOf(at), target.number), "its timeline"});
  next.push_back({Command("analyze", "--gaps"), "the longest gaps, and idle time by cause"});
  AddNext(std::move(next));
  return std::move(document_);
}

}  // namespace

ExplainTarget ParseExplainTarget(std::string_view text) {
  constexpr std::string_view kFinding = "finding:";
  if (text.starts_with(kFinding))
    return {ExplainTarget::Kind::kFinding, std::string(text.substr(kFinding.size()))};
  for (const auto& [word, kind] :
       {std::pair(std::string_view("step:"), ExplainTarget::Kind::kStep),
        std::pair(std::string_view("gap:"), ExplainTarget::Kind::kGap)}) {
    const size_t at = text.rfind(word);
    if (at == std::string_view::npos || (at > 0 && text[at - 1] != '/')) continue;
    const auto number = ParseWhole<size_t>(text.substr(at + word.size()));
    if (number) return {kind, "", *number, std::string(text.substr(0, at > 0 ? at - 1 : 0))};
  }
  return {ExplainTarget::Kind::kRequest, std::string(text), 0, ""};
}

Result<Document> ExplainDocument(const RunAnalysis& run, const ExplainTarget& target,
                                 const ScreenOptions& options) {
  const bool no_request =
      std::ranges::find(run.requests.rows, target.id, &RequestRow::id) == run.requests.rows.end();
  if (target.kind == ExplainTarget::Kind::kFinding ||
      (target.kind == ExplainTarget::Kind::kRequest && no_request && HasFinding(run, target.id)))
    return ExplainFinding(run, target.id, options);
  Explainer explainer(run, options);
  if (target.kind == ExplainTarget::Kind::kStep) return explainer.Step(target);
  if (target.kind == ExplainTarget::Kind::kGap) return explainer.Gap(target);
  return explainer.Request(target.id);
}

}  // namespace tacho
