#include "report/json/requests_json.h"

#include "report/words/request_words.h"

namespace tacho {
namespace {

// The parts that have time.
void WriteParts(JsonWriter& json, std::string_view key, const RequestParts& parts) {
  json.BeginRow(key);
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (parts.ns[i].ns != 0) json.Field(RequestPartId(static_cast<RequestPart>(i)), parts.ns[i]);
  }
  json.End();
}

void WriteGroup(JsonWriter& json, const RequestGroup& group) {
  json.Field("count", group.count);
  if (group.count == 0) return;
  json.Fields("tokens", group.tokens, "e2e_ns", group.e2e());
  WriteParts(json, "parts", group.parts);
}

}  // namespace

void WriteRequestsJson(JsonWriter& json, const RequestAnalysis& requests) {
  json.BeginObject("requests");
  const bool joined = WhyNotJoined(requests.why).empty();
  if (joined) json.Field("method", "steps-in-order");
  json.Fields("join", JoinWhyId(requests.why), "tied_share", requests.tied_share, "clock_error_ns",
              requests.clock_error);
  json.Rows("list", requests.rows, [&](const RequestRow& row) {
    json.Field("id", row.id);
    json.Field("worker", UnlessEmpty(row.worker));
    json.Field("scenario", UnlessEmpty(row.scenario));
    json.Fields("whole", row.whole, "lacks", UnlessEmpty(RequestLacksId(row.lacks)),
                "prompt_tokens", row.prompt_tokens, "tokens", row.tokens, "ttft_ns", row.ttft,
                "e2e_ns", row.e2e);
    WriteParts(json, "parts", row.parts);
    if (row.ttft) WriteParts(json, "ttft_parts", row.ttft_parts);
    if (!row.trace) return;
    json.Fields("sure", row.sure, "trace", *row.trace, "first_step", row.first_step, "last_step",
                row.last_step);
  });
  json.Rows("bands", requests.bands, [&](const RequestGroup& band) {
    json.Fields("from", band.from, "to", band.to);
    WriteGroup(json, band);
  });
  json.Rows("scenarios", requests.scenarios, [&](const RequestGroup& scenario) {
    json.Field("scenario", scenario.scenario);
    WriteGroup(json, scenario);
  });
  if (const auto& slowest = requests.slowest) {
    json.BeginObject("slowest");
    json.Fields("more_ns", slowest->more, "tokens", slowest->tokens, "median_tokens",
                slowest->median_tokens);
    json.Rows("parts", slowest->parts, [&](const SlowestHave::Part& part) {
      json.Fields("part", RequestPartId(part.part), "more_ns", part.more);
    });
    json.End();
  }
  json.End();
}

}  // namespace tacho
