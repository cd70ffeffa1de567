#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "control/finding.h"
#include "doctor/doctor_pages.h"

namespace tacho {

// Something that was found, by the id of a finding (docs/findings.md) or of a note (docs/notes.md).
struct Diagnosis {
  std::string id;
  FindingSeverity severity = FindingSeverity::kInfo;
  std::string subject, evidence, remedy;
  bool operator==(const Diagnosis&) const = default;
};
Diagnosis DiagnosisOf(const Finding& finding);

// Something that was looked at, or why it could not be.
struct Looked {
  Look look = Look::kEngine;
  std::string at;           // "process 123: its command line"
  std::string cannot = {};  // why not; "" if it was looked at
  bool is_subject = false;  // the whole subject, not one aspect of it
};

// All that one `tacho doctor` did and found.
struct Examination {
  std::vector<Looked> looked;
  std::vector<Diagnosis> found;
  std::set<std::string> engines;  // "vllm", "sglang": those at hand; none: not known

  // Also in another examination's order; what is known already is left out.
  void Add(const Finding& finding) { Add(DiagnosisOf(finding)); }
  void Add(Diagnosis diagnosis);
  // The worst first; else in the order in which they were found.
  void SortBySeverity();
  [[nodiscard]] bool SpoilsARecording() const;
  // The pages of a finding, without those of engines that are not at hand.
  [[nodiscard]] std::vector<std::string> ChecksOf(std::string_view id) const;
  [[nodiscard]] bool Concerns(const CheckPage& page) const;
};

enum class CheckStatus : uint8_t { kFound, kClear, kCannotLook };
std::string_view NameOf(CheckStatus status);

struct CheckOutcome {
  const CheckPage* page = nullptr;
  CheckStatus status = CheckStatus::kClear;
  std::vector<std::string> looked_at;
  std::string why;  // what could not be looked at, and why; "" if nothing
};
// What became of each check that such looks could decide, in the order of the pages; checks whose
// looks were not tried, and those of other engines, are left out. Found: one of its findings is
// there. Clear: one of the things that show it was looked at, of every engine and file. Pure.
std::vector<CheckOutcome> JudgeChecks(const Examination& examination);

// What is wrong with a trace: its notes with their remedies, and what it cannot show by its nature.
// A trace that is not a front end's and holds no step or no event proves nothing: incomplete.
std::vector<Diagnosis> CheckTrace(const TraceAnalysis& trace);

// The findings that a run.json keeps. nullopt: it is no run.json. At most 1,000.
std::optional<std::vector<Diagnosis>> KeptFindingsOf(std::string_view run_json);
// The engine (name and version) of its first worker; "" if it does not name one.
std::pair<std::string, std::string> KeptEngineOf(std::string_view run_json);
// A remedy that names fields of --profiler-config: without those that this engine had set already.
std::string WithoutFieldsSet(std::string remedy, std::string_view run_json);

}  // namespace tacho
