#include "load/result/request_times.h"

namespace tacho {
namespace {

std::optional<int64_t> Between(int64_t from_ns, int64_t to_ns) {
  if (from_ns == 0 || to_ns == 0) return std::nullopt;
  return to_ns - from_ns;
}

}  // namespace

std::optional<int64_t> TtftNs(const RequestRecord& r) {
  if (r.first_unsure || r.all_unsure || r.met_flush) return std::nullopt;
  return Between(r.sent_ns, r.first_token_ns);
}

std::optional<int64_t> EndToEndNs(const RequestRecord& r) {
  if (r.all_unsure || r.met_flush) return std::nullopt;
  return Between(r.sent_ns, r.last_choice_ns);
}

std::optional<double> TpotNs(const RequestRecord& r) {
  const auto ttft = TtftNs(r), whole = EndToEndNs(r);
  if (!ttft || !whole || r.output_tokens < 2) return std::nullopt;
  return static_cast<double>(*whole - *ttft) / static_cast<double>(r.output_tokens - 1);
}

std::optional<int64_t> IntendedTtftNs(const RequestRecord& r) {
  if (r.first_unsure || r.all_unsure || r.met_flush) return std::nullopt;
  return Between(r.intended_ns, r.first_token_ns);
}

std::optional<int64_t> IntendedEndToEndNs(const RequestRecord& r) {
  if (r.all_unsure || r.met_flush) return std::nullopt;
  return Between(r.intended_ns, r.last_choice_ns);
}

int64_t QueueNs(const RequestRecord& r) { return r.admitted_ns - r.intended_ns; }

std::optional<int64_t> LatenessNs(const RequestRecord& r) {
  return Between(r.admitted_ns, r.handed_ns);
}

void AppendChunkGaps(const RequestRecord& r, std::vector<double>& gaps) {
  if (r.unsure_chunks > 0 || r.all_unsure || r.met_flush) return;
  for (size_t i = 1; i < r.chunk_ns.size(); ++i) {
    gaps.push_back(static_cast<double>(r.chunk_ns[i] - r.chunk_ns[i - 1]));
  }
}

void AppendTokenGaps(const RequestRecord& r, std::vector<double>& gaps) {
  if (r.unsure_chunks > 0 || r.all_unsure || r.met_flush) return;
  if (r.counted_by != TokenCounts::kUsage && r.counted_by != TokenCounts::kTokenIds) return;
  for (size_t i = 1; i < r.chunk_ns.size(); ++i) {
    const uint32_t tokens = r.chunk_tokens[i];
    const double gap = static_cast<double>(r.chunk_ns[i] - r.chunk_ns[i - 1]) / tokens;
    gaps.insert(gaps.end(), tokens, gap);
  }
}

}  // namespace tacho
