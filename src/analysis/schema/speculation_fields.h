#pragma once

#include "analysis/schema/table_fields.h"
#include "analysis/speculation/speculation.h"

// The fields of schema 1 (docs/json.md) for speculative decoding. conditions.h explains `out`.
namespace tacho::schema {

void SpeculationFields(auto& out, auto& of) {
  const auto break_even = of.break_even();
  out.BeginObject(Key{"speculation",
                      "decode steps that verify proposed tokens (speculative decoding), beside "
                      "plain decode steps; absent without such steps"});
  out.Field(
      Key{"drafts",
          "way in which the draft model's work was found: `annotated`, `order` (it follows the "
          "sampling of the verified tokens) or `none`: not found"},
      ByName(of.drafts, DraftsFoundId, static_cast<size_t>(DraftsFound::kCount)));
  out.Field(Key{"steps", "number of steps that verify and have all their work, by device"},
            of.steps);
  out.Field(Key{"requests", "sum of their requests"}, of.requests);
  out.Field(Key{"tokens",
                "sum of the tokens that they compute: for each request one more than proposed; "
                "absent if their names do not say it"},
            of.tokens);
  out.Field(Key{"verify_ns", "time of these steps without the draft model, gaps included"},
            of.verify);
  out.Field(Key{"draft_ns", "time of the draft model in them, gaps before its work included"},
            of.draft);
  out.Field(Key{"plain_steps",
                "number of plain decode steps with as many requests as one of these steps"},
            of.plain_steps);
  out.Field(Key{"compared_steps", "number of the steps that have such a plain step"},
            of.compared_steps);
  out.Field(Key{"compared_ns", "time of these compared steps, draft model included"}, of.compared);
  out.Field(Key{"plain_ns",
                "time that plain steps take in their place: for each, the mean of the plain steps "
                "with as many requests"},
            of.plain);
  out.Field(Key{"break_even_tokens",
                "`compared_ns` / `plain_ns`: tokens that a step must bring each request so that "
                "speculation is as fast as plain decoding; absent without plain steps"},
            Derived(break_even));
  out.Field(Key{"break_even_share",
                "share of the proposed tokens that must be accepted for that; above 1: all would "
                "be too few; absent without `tokens`"},
            Derived(of.break_even_share()));
  if (IsThere(out, "accepted_from", true))  // absent in results of an older version
    out.Field(
        Key{"accepted_from",
            "source of the next two figures: `counters` (the engine's metrics before and after "
            "the recording), `gauge` (its own mean of its last steps, at the end), "
            "`no-recording` (the trace is in no run folder of `tacho record`) or `no-metrics` "
            "(the metrics there do not say it)"},
        ByName(of.accepted.from, AcceptedFromId, static_cast<size_t>(AcceptedFrom::kCount)));
  out.Field(Key{"accepted_tokens",
                "tokens that a step that verifies brings a request on average: the accepted ones "
                "and one more; absent if unknown"},
            of.accepted.tokens);
  out.Field(Key{"accepted_share", "accepted by proposed tokens; absent if unknown"},
            of.accepted.share);
  out.Field(Key{"token_ns",
                "time of a step that verifies, by `accepted_tokens`: of the compared steps, or of "
                "all if none is compared. A plain step's time for a token is `plain_ns` / "
                "`compared_steps`"},
            Derived(of.token_ns()));
  out.End();
}

}  // namespace tacho::schema
