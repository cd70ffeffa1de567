#pragma once

#include <algorithm>

#include "analysis/findings/findings.h"
#include "analysis/schema/conditions.h"
#include "report/json/blame_fields.h"
#include "report/words/finding_words.h"
#include "text/json_writer.h"

namespace tacho::schema {

inline constexpr size_t kMostPlaces = 8;

void FindingPlace(auto& out, const RunAnalysis& run, const RunFinding::Place& place) {
  static const TraceAnalysis kNone;
  const TraceAnalysis& trace = place.trace < run.traces.size() ? run.traces[place.trace] : kNone;
  const std::string name = trace.facts.identity.RankName();
  out.Field(Key{"path", "path of the trace"}, trace.path);
  out.Field(Key{"name", "name of the rank: `w0 TP1`, if it is known"}, UnlessEmpty(name));
  out.Field(Key{"cost_ns", "part of the cost there; of `wait.NAME`, caused by this rank"},
            place.cost);
  if (!Holds(out, place.gap.has_value())) return;
  const IdleGap gap = place.gap ? trace.idle.gaps[*place.gap] : IdleGap{};
  out.Field(Key{"device",
                "device of the longest gap that is mostly of this cause; this and the "
                "fields below only for idle time"},
            gap.device);
  out.Field(Key{"start_ns", "start of that gap, on the trace's clock"}, gap.when.start);
  out.Field(Key{"dur_ns", "length of that gap"}, gap.when.length());
  out.Field(Key{"host", "work of the launching thread for most of that gap"},
            UnlessEmpty(gap.host));
}

void FindingFields(auto& out, const RunAnalysis& run, const RunFinding& finding) {
  out.Field(Key{"id",
                "id, unique in the list: `idle.` and an idle cause, `wait.` and a rank, "
                "`wait.others`, `transfer`, `comm`, `copies`, `compute.` and a rank, `requests.` "
                "and a part; `idle`, `wait` or `requests` if nothing is known of these"},
            finding.id);
  if (Holds(out, finding.known())) {
    out.Field(Key{"cost_ns", "time that is lost"}, finding.cost);
    out.Field(Key{"share", "share of the cost in the whole, 0..1"}, finding.share());
    out.Field(Key{"of",
                  "whole: `window` (the windows of all devices), `window-with-requests` (without "
                  "the time in which no request was in flight) or `requests` (the time of the "
                  "requests that were answered in full, as far as it is split into parts)"},
              WholeId(finding.of));
    out.Field(Key{"of_ns", "length of the whole; costs of one whole do not overlap"},
              finding.whole);
  }
  out.Field(Key{"confidence",
                "reliability of the cost: `measured`, `at-least`, `at-most`, `about` (neither), or "
                "`cannot-tell` (no cost is known); `tacho explain` says why"},
            ConfidenceId(finding.confidence));
  out.Field(Key{"because",
                "reason why the cost or its cause is not known: `lost-work`, `times-refused`, "
                "`clocks`, `few-matching-collectives`, `not-joined`, `not-split`; or as "
                "`absent` of `ranks.blame`"},
            UnlessEmpty(finding.because == WhyUnknown::kBlame ? AbsentId(run.ranks.blame.absent)
                                                              : WhyUnknownId(finding.because)));
  const std::vector<RunFinding::Place> most(
      finding.places.begin(), finding.places.begin() + static_cast<ptrdiff_t>(std::min(
                                                           kMostPlaces, finding.places.size())));
  out.Rows(Key{"where", "traces with most of the cost, the first 8"}, most,
           [&](const RunFinding::Place& place) { FindingPlace(out, run, place); });
  out.Field(Key{"request", "id of the request with most of the cost, for the time of requests"},
            UnlessEmpty(finding.request));
  out.Field(Key{"command", "command that shows it in full; RUN stands for the given paths"},
            CommandOf(finding, "RUN"));
  out.Field(Key{"text", "sentence, as in the verdict"}, FindingText(run, finding));
}

void Findings(auto& out, const RunAnalysis& run) {
  out.Rows(Key{"findings",
               "times that could be less, dearest first: by share, then cost; what cannot be told "
               "is last ([metrics.md](metrics.md#findings))"},
           run.traces.empty() ? std::vector<RunFinding>() : FindingsOf(run),
           [&](const RunFinding& finding) { FindingFields(out, run, finding); });
}

}  // namespace tacho::schema
