#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/requests/join.h"
#include "cli/analyze/known_run_for_test.h"
#include "support/corpus.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

// The records of the corpus are not those of `tacho record`: one object a line, chunks as pairs of
// a Unix time in ns and a number of tokens.
RequestTable ReadCorpusRequests(const std::string& path) {
  RequestTable table;
  table.workers.push_back({"w0", "", false, 1});
  table.engines = 1;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Json record = Json::parse(line);
    Request& request = table.rows.emplace_back();
    request.id = record["request_id"];
    request.worker = 0;
    request.whole = true;
    request.at_limit = record["finish_reason"] == "length";
    request.sent = TimeNs{record["send_ns"].get<int64_t>()};
    request.ended = TimeNs{record["end_ns"].get<int64_t>()};
    request.prompt_tokens = record["prompt_tokens"].get<int64_t>();
    request.output_tokens = record["output_tokens"].get<int64_t>();
    request.first_chunk = table.chunks.size();
    for (const Json& chunk : record["chunks"])
      table.chunks.push_back({TimeNs{chunk[0].get<int64_t>()}, chunk[1].get<uint32_t>()});
    request.end_chunk = table.chunks.size();
  }
  return table;
}

// 12 requests of a real vLLM on a CPU, with prompts in chunks, and up to 14 tokens in one chunk of
// an answer.
TEST(CorpusJoin, RequestsOfARealEngineAreTied) {
  const std::string folder = CorpusFolder() + "/live-vllm-cpu";
  if (!std::filesystem::exists(folder + "/join.requests.jsonl")) GTEST_SKIP() << NoCorpus();
  const Json expected = Json::parse(std::ifstream(folder + "/expected.json"))["join"];
  const RequestTable table = ReadCorpusRequests(folder + "/join.requests.jsonl");
  TraceBuilder builder;
  const auto stream = OpenStream(folder + "/join_rank0.pt.trace.json.gz", {});
  ASSERT_TRUE(stream);
  ASSERT_TRUE(ReadKinetoJson(**stream, builder));
  const Trace trace = std::move(builder).Finish();
  const TraceAnalysis analysis =
      AnalyzeTrace(trace, KnownRunRules(), {.scope = {}, .digest = true});
  ClockShift to_client = *analysis.header.to_host();
  to_client.error = DurationNs{1'000'000};
  JoinEngine engine = EngineOf(*analysis.digest, to_client);
  engine.worker = 0;
  const RequestJoin join = JoinRequests(table, {engine});
  ASSERT_EQ(join.why, JoinWhy::kJoined);
  ASSERT_EQ(table.rows.size(), expected["requests"].get<size_t>());
  EXPECT_EQ(join.tokens, expected["output_tokens"].get<uint64_t>());

  std::vector<int64_t> first(engine.steps.size(), 0), later(engine.steps.size(), 0);
  size_t tied = 0;
  for (const JoinedRequest& request : join.requests) {
    EXPECT_EQ(request.engine, 0u);
    bool all = true;
    for (size_t token = 0; token < request.tokens.size(); ++token) {
      const TokenSeat& seat = request.tokens[token];
      all &= seat.fit == Fit::kTied;
      ++(token == 0 ? first : later)[seat.first];
    }
    tied += all ? 1 : 0;
  }
  EXPECT_EQ(tied, table.rows.size()) << join.tied << " of " << join.tokens << " tokens";
  for (size_t step = 0; step < engine.steps.size(); ++step) {
    EXPECT_EQ(later[step], engine.steps[step].label.generation_tokens) << step;
    EXPECT_LE(first[step], engine.steps[step].label.context_requests) << step;
  }
}

}  // namespace
}  // namespace tacho
