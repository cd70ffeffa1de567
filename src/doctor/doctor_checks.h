#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "control/finding.h"
#include "doctor/doctor_pages.h"

namespace tacho {

// Something that tacho found. `id` is the id of a finding (docs/findings.md) or of a note
// (docs/notes.md).
struct Diagnosis {
  std::string id;
  FindingSeverity severity = FindingSeverity::kInfo;
  std::string subject, evidence, remedy;
  // The worker's URL, if the subject is a part of a worker, as in "URL: VARIABLE=1".
  std::string worker = {};
  bool operator==(const Diagnosis&) const = default;
};
Diagnosis DiagnosisOf(const Finding& finding);

// Something that tacho looked at, or tried to look at.
struct Looked {
  Look look = Look::kEngine;
  std::string at;           // "process 123: its command line"
  std::string cannot = {};  // why tacho could not look at it; "" if it could
  bool is_subject = false;  // a whole subject (a file, a worker), not one aspect of it
};

// What one run of `tacho doctor` looked at and found.
struct Examination {
  std::vector<Looked> looked;
  std::vector<Diagnosis> found;
  std::set<std::string> engines;  // "vllm", "sglang": the engines it looked at; empty: not known

  // Adds the finding, unless an equal one is already there.
  void Add(const Finding& finding) { Add(DiagnosisOf(finding)); }
  void Add(Diagnosis diagnosis);
  // Whether the finding is in `found` with this subject, or with a part of it.
  [[nodiscard]] bool Has(FindingId id, std::string_view subject) const;
  // Puts the worst findings first; keeps the order among equals.
  void SortBySeverity();
  [[nodiscard]] bool SpoilsARecording() const;
  // The ids of the pages about this finding or note, without pages about engines other than
  // `engines`.
  [[nodiscard]] std::vector<std::string> ChecksOf(std::string_view id) const;
  [[nodiscard]] bool Concerns(const CheckPage& page) const;
};

enum class CheckStatus : uint8_t { kFound, kClear, kCannotLook };
std::string_view NameOf(CheckStatus status);

struct CheckOutcome {
  const CheckPage* page = nullptr;
  CheckStatus status = CheckStatus::kClear;
  std::vector<std::string> looked_at;
  std::string why;  // what could not be looked at, and why; "" if everything could
};
// The outcomes of the checks, in the order of the pages. Leaves out checks of other engines. Also
// leaves out a check that found nothing, if tacho tried none of the looks that the check needs.
// kFound: one of the check's findings was found. kClear: none was found, and at least one of the
// check's looks could be taken at every engine or file. A pure function.
std::vector<CheckOutcome> JudgeChecks(const Examination& examination);

// What is wrong with a trace: its notes with their remedies, and what such a trace cannot show. If
// a rank's trace has no steps or no events, it shows nothing and counts as kIncomplete.
std::vector<Diagnosis> CheckTrace(const TraceAnalysis& trace);

// The findings that a run.json keeps, at most 1,000. nullopt: the text is not a run.json.
std::optional<std::vector<Diagnosis>> KeptFindingsOf(std::string_view run_json);
// The engine (name and version) of the first worker in a run.json; empty texts if it names none.
std::pair<std::string, std::string> KeptEngineOf(std::string_view run_json);
// Removes from a remedy those fields of --profiler-config that the recorded engine had already set.
std::string WithoutFieldsSet(std::string remedy, std::string_view run_json);

}  // namespace tacho
