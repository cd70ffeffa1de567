#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "control/finding.h"
#include "doctor/doctor_pages.h"

namespace tacho {

// Something that was found. `id` is that of a finding (docs/findings.md) or a note (docs/notes.md).
struct Diagnosis {
  std::string id;
  FindingSeverity severity = FindingSeverity::kInfo;
  std::string subject, evidence, remedy;
  std::string worker = {};  // the URL, if the subject is a part of a worker: "URL: VARIABLE=1"
  bool operator==(const Diagnosis&) const = default;
};
Diagnosis DiagnosisOf(const Finding& finding);

// Something that tacho looked at, or why it could not.
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
  std::set<std::string> engines;  // "vllm", "sglang": the engines examined; empty: not known

  // Adds the finding, unless the same one is there already.
  void Add(const Finding& finding) { Add(DiagnosisOf(finding)); }
  void Add(Diagnosis diagnosis);
  // Whether the finding is among `found`, of this subject or of a part of it.
  [[nodiscard]] bool Has(FindingId id, std::string_view subject) const;
  // The worst first; otherwise in the order in which they were found.
  void SortBySeverity();
  [[nodiscard]] bool SpoilsARecording() const;
  // The ids of a finding's pages, without those of other engines than `engines`.
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
// The outcome of each check that the looks of `examination` could decide, in the order of the
// pages. Leaves out checks whose looks were not tried, and checks of other engines. kFound: one of
// the check's findings was found. kClear: not found, and one of the check's looks saw every engine
// and file. Pure.
std::vector<CheckOutcome> JudgeChecks(const Examination& examination);

// What is wrong with a trace: its notes with their remedies, and what such a trace cannot show. A
// trace without steps or events shows nothing: kIncomplete, unless it is a front end's.
std::vector<Diagnosis> CheckTrace(const TraceAnalysis& trace);

// The findings that a run.json keeps. nullopt: it is no run.json. At most 1,000.
std::optional<std::vector<Diagnosis>> KeptFindingsOf(std::string_view run_json);
// The engine (name and version) of a run.json's first worker; "" if it names none.
std::pair<std::string, std::string> KeptEngineOf(std::string_view run_json);
// Removes from a remedy the fields of --profiler-config that the run's engine had set already.
std::string WithoutFieldsSet(std::string remedy, std::string_view run_json);

}  // namespace tacho
