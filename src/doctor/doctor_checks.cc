#include "doctor/doctor_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostKept = 1'000;

FindingSeverity SeverityOf(const Note& note, bool front_end) {
  if (KindOf(note.id).severity == Severity::kDataLoss) return FindingSeverity::kIncomplete;
  if ((note.id == NoteId::kNoEvents || note.id == NoteId::kNoEngineStep) && !front_end)
    return FindingSeverity::kIncomplete;
  return KindOf(note.id).severity == Severity::kInfo || front_end ? FindingSeverity::kInfo
                                                                  : FindingSeverity::kNotice;
}

// Where and how often a note applies: " (7 times, first at byte 9)".
std::string PlacesOf(const Note& note) {
  const std::string times =
      note.count > 1 ? fmt::format("{} times", FormatCount(note.count)) : std::string();
  if (note.where.empty()) return times.empty() ? "" : fmt::format(" ({})", times);
  return times.empty() ? fmt::format(" (at {})", note.where)
                       : fmt::format(" ({}, first at {})", times, note.where);
}

std::string FieldText(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

Json Parsed(std::string_view run_json) {
  Json run = ParseJson(run_json);
  return run.is_object() && run.contains("proof") && run.contains("workers") ? run : Json();
}

}  // namespace

Diagnosis DiagnosisOf(const Finding& finding) {
  return {std::string(KindOf(finding.id).id),
          finding.severity(),
          finding.subject,
          finding.evidence,
          std::string(finding.Remedy()),
          {}};
}

void Examination::Add(Diagnosis diagnosis) {
  if (std::ranges::find(found, diagnosis) == found.end()) found.push_back(std::move(diagnosis));
}

bool Examination::Has(FindingId id, std::string_view subject) const {
  return std::ranges::any_of(found, [&](const Diagnosis& one) {
    return one.id == KindOf(id).id && (one.subject == subject || one.worker == subject);
  });
}

void Examination::SortBySeverity() {
  std::ranges::stable_sort(found, std::greater<>(), &Diagnosis::severity);
}

bool Examination::SpoilsARecording() const {
  return std::ranges::any_of(
      found, [](const Diagnosis& one) { return one.severity >= FindingSeverity::kIncomplete; });
}

bool Examination::Concerns(const CheckPage& page) const {
  return page.engine.empty() || engines.empty() || engines.contains(page.engine);
}

std::vector<std::string> Examination::ChecksOf(std::string_view id) const {
  std::vector<std::string> checks;
  for (const CheckPage* page : PagesFor(id))
    if (Concerns(*page)) checks.push_back(page->id);
  return checks;
}

std::string_view NameOf(CheckStatus status) {
  switch (status) {
    case CheckStatus::kFound:
      return "found";
    case CheckStatus::kClear:
      return "clear";
    case CheckStatus::kCannotLook:
      break;
  }
  return "cannot-look";
}

std::vector<CheckOutcome> JudgeChecks(const Examination& examination) {
  std::vector<CheckOutcome> outcomes;
  for (const CheckPage& page : CheckPages()) {
    if (!examination.Concerns(page)) continue;
    CheckOutcome outcome{&page, CheckStatus::kCannotLook, {}, ""};
    bool tried = false;
    for (const Look look : page.looks) {
      bool all = true, any = false;
      for (const Looked& looked : examination.looked) {
        if (looked.look != look) continue;
        any = true;
        if (looked.cannot.empty()) {
          outcome.looked_at.push_back(looked.at);
          continue;
        }
        all = false;  // the worker or file that could not be looked at may have the problem
        if (outcome.why.empty()) outcome.why = fmt::format("{}: {}", looked.at, looked.cannot);
      }
      tried |= any;
      if (any && all) outcome.status = CheckStatus::kClear;
    }
    if (std::ranges::any_of(examination.found, [&](const Diagnosis& one) {
          return std::ranges::find(page.findings, one.id) != page.findings.end();
        }))
      outcome.status = CheckStatus::kFound;
    if (!tried && outcome.status != CheckStatus::kFound) continue;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<Diagnosis> CheckTrace(const TraceAnalysis& trace) {
  std::vector<Diagnosis> found;
  const bool no_rank = !IsRank(trace.facts.role);
  for (const Note& note : trace.notes.list()) {
    const NoteKind& kind = KindOf(note.id);
    found.push_back({std::string(kind.id), SeverityOf(note, no_rank), trace.path,
                     fmt::format("{}{}", kind.text, PlacesOf(note)),
                     std::string(RemedyOf(note.id, trace.notes))});
  }
  if (trace.facts.role == TraceRole::kFrontend)
    found.push_back(DiagnosisOf({FindingId::kFrontEndFile, trace.path,
                                 "it is an API server's or a scheduler's own file: no operator, no "
                                 "GPU work"}));
  if (!trace.launches.graphs.empty())
    found.push_back(DiagnosisOf(
        {FindingId::kGraphsWithoutShapes, trace.path,
         fmt::format("{} pieces of GPU work were replayed by {} graph launches: they have no "
                     "operators and no shapes of their own",
                     FormatCount(trace.launches.graph_gpu_events),
                     FormatCount(trace.launches.graphs.size()))}));
  if (!trace.facts.cannot_tell.empty())
    found.push_back(
        DiagnosisOf({FindingId::kNotShown, trace.path,
                     fmt::format("it cannot tell {}", fmt::join(trace.facts.cannot_tell, "; "))}));
  return found;
}

std::optional<std::vector<Diagnosis>> KeptFindingsOf(std::string_view run_json) {
  const Json run = Parsed(run_json);
  if (run.is_null()) return std::nullopt;
  std::vector<Diagnosis> found;
  const auto list = run.find("findings");
  if (list == run.end() || !list->is_array()) return found;
  for (const Json& one : *list) {
    const std::string id = FieldText(one, "id");
    const auto severity = SeverityNamed(FieldText(one, "severity"));
    if (id.empty() || !severity || found.size() == kMostKept) continue;
    found.push_back({id, *severity, FieldText(one, "subject"), FieldText(one, "evidence"),
                     FieldText(one, "remedy")});
  }
  return found;
}

std::string WithoutFieldsSet(std::string remedy, std::string_view run_json) {
  const Json run = Parsed(run_json);
  const Json::json_pointer place("/workers/0/profiler");
  if (run.is_null() || !run.contains(place)) return remedy;
  constexpr struct {
    const char* kept;
    bool value;
    std::string_view field;
  } kFields[] = {{"with_stack", false, R"("torch_profiler_with_stack":false)"},
                 {"use_gzip", false, R"("torch_profiler_use_gzip":false)"},
                 {"dump_table", false, R"("torch_profiler_dump_cuda_time_total":false)"},
                 {"ignore_frontend", true, R"("ignore_frontend":true)"}};
  size_t named = 0, left = 0;
  for (const auto& one : kFields) {
    const size_t at = remedy.find(one.field);
    if (at == remedy.npos) continue;
    ++named;
    if (!run[place].is_object() || run[place].value(one.kept, Json()) != one.value) {
      ++left;
      continue;
    }
    const bool followed = remedy.substr(at + one.field.size()).starts_with(',');
    const bool last_of_some = !followed && at > 0 && remedy[at - 1] == ',';
    remedy.erase(at - (last_of_some ? 1 : 0),
                 one.field.size() + (followed || last_of_some ? 1 : 0));
  }
  return named > 0 && left == 0 ? R"(fewer steps: --steps N, or a smaller "max_iterations")"
                                : remedy;
}

std::pair<std::string, std::string> KeptEngineOf(std::string_view run_json) {
  const Json run = Parsed(run_json);
  if (run.is_null() || !run["workers"].is_array() || run["workers"].empty()) return {};
  const Json& worker = run["workers"].front();
  return {FieldText(worker, "engine"), FieldText(worker, "engine_version")};
}

}  // namespace tacho
