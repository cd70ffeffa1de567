#pragma once

#include <string_view>

#include "analysis/requests/request_analysis.h"
#include "analysis/schema/conditions.h"
#include "report/words/request_words.h"
#include "text/json_writer.h"

namespace tacho::schema {

// Writes the parts that have time.
void Parts(auto& out, const Key& key, const RequestParts& parts) {
  out.BeginRow(key);
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (Holds(out, parts.ns[i].ns != 0))
      out.Field(RequestPartId(static_cast<RequestPart>(i)), parts.ns[i]);
  }
  out.End();
}

void RequestGroupFields(auto& out, const RequestGroup& group) {
  out.Field(Key{"count", "number of requests"}, group.count);
  if (!Holds(out, group.count > 0)) return;
  out.Field(Key{"tokens", "mean number of output tokens; absent without a request"}, group.tokens);
  out.Field(Key{"e2e_ns", "mean time from when a request was due to its last token"}, group.e2e());
  Parts(out, Key{"parts", "means by part; they add up to `e2e_ns`"}, group.parts);
}

void RequestFields(auto& out, const RequestRow& row) {
  out.Field(Key{"id", "id, as in `requests.jsonl`"}, row.id);
  out.Field(
      Key{"worker", "name of the engine; of data-parallel engines of a worker `w0.0`, `w0.1`"},
      UnlessEmpty(row.worker));
  out.Field(Key{"scenario", "name of its scenario"}, UnlessEmpty(row.scenario));
  out.Field(Key{"whole", "`true`: answered in full"}, row.whole);
  out.Field(Key{"lacks",
                "reason why its time is not split: `tokens` (none came), `tie` (they fit no steps, "
                "or too many), `recorded` (all were made outside of the recording), `clock` (its "
                "times contradict the engine's)"},
            UnlessEmpty(RequestLacksId(row.lacks)));
  out.Field(Key{"prompt_tokens", "number of prompt tokens, as the server counted them"},
            row.prompt_tokens);
  out.Field(Key{"tokens", "number of output tokens that came"}, row.tokens);
  out.Field(Key{"ttft_ns", "time from when it was due to its first token"}, row.ttft);
  out.Field(Key{"e2e_ns", "time to its last token, or to its end if it is not whole"}, row.e2e);
  Parts(out,
        Key{"parts",
            "time by part ([metrics.md](metrics.md#requests)), without parts of 0; they add up to "
            "`e2e_ns`"},
        row.parts);
  if (Holds(out, row.outside.ns > 0))
    out.Field(Key{"outside_ns",
                  "part of `parts.unknown` that lies before the first or after the last recorded "
                  "step; absent if none does"},
              row.outside);
  if (Holds(out, row.ttft.has_value()))
    Parts(out, Key{"ttft_parts", "time by part until the first token; they add up to `ttft_ns`"},
          row.ttft_parts);
  if (!Holds(out, row.trace.has_value())) return;
  out.Field(
      Key{"sure", "`true`: the step of each token is known, and the steps that read its prompt"},
      row.sure);
  out.Field(Key{"trace", "place in `traces`, from 0, of the rank whose steps these are"},
            row.trace);
  if (!Holds(out, row.steps_known)) return;
  out.Field(Key{"first_step", "first step that it was in, as its place in `steps.list`, from 0"},
            row.first_step);
  out.Field(Key{"last_step", "step of its last token"}, row.last_step);
}

void Slowest(auto& out, const SlowestHave& slowest) {
  out.BeginObject(
      Key{"slowest", "excess of the slowest band over the median band (from 0.4 to 0.6)"});
  out.Field(Key{"more_ns", "mean `e2e_ns` of the slowest band less that of the median band"},
            slowest.more);
  out.Field(Key{"tokens", "mean number of output tokens in the slowest band"}, slowest.tokens);
  out.Field(Key{"median_tokens", "mean number of output tokens in the median band"},
            slowest.median_tokens);
  out.Rows(Key{"parts",
               "parts with more time in the slowest band, most first; each is less by the unknown "
               "time of the "
               "median band, which may be of any part"},
           slowest.parts, [&](const SlowestHave::Part& part) {
             out.Field(Key{"part", "name of the part"}, RequestPartId(part.part));
             out.Field(Key{"more_ns", "excess of its mean"}, part.more);
           });
  out.End();
}

void Requests(auto& out, const RequestAnalysis& requests) {
  out.BeginObject(Key{"requests",
                      "requests of the load, for the traces of one run folder of `tacho record`: "
                      "what the time of each went to"});
  if (Holds(out, WhyNotJoined(requests.why).empty()))
    out.Field(Key{"method", "`steps-in-order`; absent if the requests are not joined with steps"},
              "steps-in-order");
  out.Field(Key{"join",
                "result of the join: `joined`; `others`: joined, but the engine served other "
                "requests too; else why not: `no-workers` (run.json is missing), `no-requests`, "
                "`no-steps`, `no-clock`, "
                "`contradiction` (records of another run, a wrong clock, lost steps, preempted "
                "requests), `too-much`"},
            JoinWhyId(requests.why));
  out.Field(Key{"tied_share",
                "share of tied tokens in those that came and may have been made in the recording"},
            requests.tied_share);
  out.Field(Key{"clock_error_ns",
                "largest difference that there may be between the clocks of client and engines"},
            requests.clock_error);
  out.Rows(Key{"list", "requests that were sent, in the order of the load's plan"}, requests.rows,
           [&](const RequestRow& row) { RequestFields(out, row); });
  out.Rows(Key{"bands",
               "requests that were answered in full and lie wholly in the recording (if none "
               "does: that are split; if none is: all), by `e2e_ns`; empty without any"},
           requests.bands, [&](const RequestGroup& band) {
             out.Field(Key{"from", "quantile of `e2e_ns` where the band begins"}, band.from);
             out.Field(Key{"to", "quantile of `e2e_ns` where the band ends"}, band.to);
             RequestGroupFields(out, band);
           });
  out.Rows(Key{"scenarios", "requests of the bands, by scenario; empty if there is only one"},
           requests.scenarios, [&](const RequestGroup& scenario) {
             out.Field(Key{"scenario", "name of the scenario"}, scenario.scenario);
             RequestGroupFields(out, scenario);
           });
  if (Holds(out, requests.slowest.has_value()))
    Slowest(out, requests.slowest.value_or(SlowestHave{}));
  out.End();
}

}  // namespace tacho::schema
