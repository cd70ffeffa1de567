#include <fmt/format.h>

#include "base/json_text.h"
#include "load/drive/drive.h"

namespace tacho {
namespace {

void AppendText(std::string& out, std::string_view key, std::string_view text) {
  if (!text.empty()) out += fmt::format(",\"{}\":{}", key, QuoteJson(text));
}

void AppendTime(std::string& out, std::string_view key, int64_t ns) {
  if (ns != 0) out += fmt::format(",\"{}\":{}", key, ns);
}

std::string_view CountsName(TokenCounts counts) {
  switch (counts) {
    case TokenCounts::kNone:
      return "";
    case TokenCounts::kUsage:
      return "usage";
    case TokenCounts::kTokenIds:
      return "token_ids";
    case TokenCounts::kChunks:
      return "chunks";
  }
  return "";
}

void AppendRecord(std::string& out, const RequestRecord& r, std::span<const ClockPair> clocks) {
  out +=
      fmt::format("{{\"index\":{},\"id\":{},\"scenario\":{},\"url\":{},\"status\":\"{}\"", r.index,
                  QuoteJson(r.id), QuoteJson(r.scenario), QuoteJson(r.url), StatusName(r.status));
  if (r.in_session) out += fmt::format(",\"session\":{},\"turn\":{}", r.session, r.turn);
  if (r.http_status != 0) out += fmt::format(",\"http\":{}", r.http_status);
  AppendText(out, "error", r.error);
  AppendText(out, "server_id", r.server_id);
  if (r.attempts > 1) out += fmt::format(",\"attempts\":{}", r.attempts);
  AppendTime(out, "intended_ns", r.intended_ns);
  AppendTime(out, "admitted_ns", r.admitted_ns);
  AppendTime(out, "handed_ns", r.handed_ns);
  AppendTime(out, "sent_ns", r.sent_ns);
  AppendTime(out, "first_byte_ns", r.first_byte_ns);
  AppendTime(out, "first_token_ns", r.first_token_ns);
  AppendTime(out, "last_token_ns", r.last_token_ns);
  AppendTime(out, "ended_ns", r.ended_ns);
  if (r.sent_ns != 0) AppendTime(out, "sent_unix_ns", UnixOf(r.sent_ns, clocks));
  AppendTime(out, "ended_unix_ns", UnixOf(r.ended_ns, clocks));
  out += fmt::format(",\"planned_prompt_tokens\":{},\"planned_output_tokens\":{}",
                     r.planned_prompt_tokens, r.planned_output_tokens);
  if (r.prompt_tokens > 0) out += fmt::format(",\"prompt_tokens\":{}", r.prompt_tokens);
  if (r.cached_tokens >= 0) out += fmt::format(",\"cached_tokens\":{}", r.cached_tokens);
  out += fmt::format(",\"output_tokens\":{}", r.output_tokens);
  AppendText(out, "finish_reason", r.finish_reason);
  AppendText(out, "counted_by", CountsName(r.counted_by));
  AppendText(out, "text", r.text);
  if (r.unsure_chunks > 0) out += fmt::format(",\"unsure_chunks\":{}", r.unsure_chunks);
  if (r.first_unsure) out += ",\"first_unsure\":true";
  if (r.all_unsure) out += ",\"all_unsure\":true";
  if (r.met_flush) out += ",\"met_flush\":true";
  if (!r.chunk_ns.empty()) {
    // Times are written as differences: the first from the sending, each other from the chunk
    // before it.
    out += ",\"chunk_dt_ns\":[";
    int64_t before = r.sent_ns;
    for (size_t i = 0; i < r.chunk_ns.size(); ++i) {
      fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",", r.chunk_ns[i] - before);
      before = r.chunk_ns[i];
    }
    out += "],\"chunk_tokens\":[";
    for (size_t i = 0; i < r.chunk_tokens.size(); ++i) {
      fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",", r.chunk_tokens[i]);
    }
    out += ']';
  }
  out += "}\n";
}

}  // namespace

std::string RecordsAsJsonLines(const LoadRecords& records,
                               std::optional<std::string_view> scenario) {
  std::string out;
  for (const RequestRecord& record : records.requests)
    if (!scenario || record.scenario == *scenario) AppendRecord(out, record, records.clocks);
  return out;
}

}  // namespace tacho
