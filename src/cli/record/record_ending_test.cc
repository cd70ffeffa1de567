#include "cli/record/record_ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/folder_for_test.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

class RecordEnding : public testing::Test {
 protected:
  RecordEnding() {
    for (const char* name : {"w0", "w1"}) {
      RecordedWorker& worker = recording_.workers.emplace_back();
      worker.expectation.name = name;
      worker.worker.url = "http://127.0.0.1:3456";
      for (int64_t rank = 0; rank < 2; ++rank) {
        RankProof& proof = proven_.proof.ranks.emplace_back();
        proof.worker_url = worker.worker.url;
        proof.identity = {.worker = name,
                          .data_parallel = {},
                          .pipeline = {},
                          .tensor = rank,
                          .rank = rank,
                          .world_size = 2,
                          .stage = ""};
        proof.proven = true;
        proof.steps = 400 + static_cast<uint64_t>(rank);
      }
    }
    recording_.starts = {.asked = 2, .taken = 2, .ns = 9'000, .answered_ns = 12'000};
    for (LoadWindow* window : {&recording_.baseline, &recording_.profiled}) {
      window->end_ns = 5'000'000'000;
      window->output_tokens = 10'000;
      window->tokens_in_parts.assign(10, 1'000);
      window->ttft = Describe({11e6, 12e6, 13e6}, std::vector<double>{50, 99});
      window->tpot = Describe({4.5e6, 4.6e6}, std::vector<double>{50, 99});
    }
  }

  std::string Ending(size_t width = 80) {
    return EndingText(recording_, proven_, {"tacho-20261123-112400"}, TextStyle{.width = width});
  }

  const FolderForTest parent_;
  Recording recording_{.folder = RunFolder::Create(parent_.path(), "r").value(),
                       .deployment = {},
                       .workers = {},
                       .left_out = {},
                       .daemon = {},
                       .plan = {},
                       .load = {},
                       .baseline = {},
                       .profiled = {},
                       .clocks = {},
                       .starts = {},
                       .interrupted_ns = {},
                       .findings = {}};
  ProvenRecording proven_;
};

TEST_F(RecordEnding, SaysWhatARecordingIsWorth) {
  EXPECT_EQ(Ending(),
            R"( proof    4 of 4 ranks proven · 400 to 401 steps each · started within 0.01 ms
 cost     2000 tok/s unprofiled, 2000 profiled: no change beyond 0 % noise
 latency  TTFT p50 12.0, p99 13.0 ms · TPOT p50 4.55, p99 4.60 ms unprofiled
          TTFT p50 12.0, p99 13.0 ms · TPOT p50 4.55, p99 4.60 ms profiled
 folder   tacho-20261123-112400
)");
  EXPECT_THAT(WorkersText(recording_, {}),
              HasSubstr(" workers  w0 http://127.0.0.1:3456 · w1 http"));
}

TEST_F(RecordEnding, CountsTheStepsOfOneRankAndOneStep) {
  proven_.proof.ranks.resize(1);
  EXPECT_THAT(Ending(), HasSubstr("1 of 1 ranks proven · 400 steps · started"));
  proven_.proof.ranks[0].steps = 1;
  EXPECT_THAT(Ending(), HasSubstr("1 of 1 ranks proven · 1 step · started"));
}

TEST_F(RecordEnding, ACostThatIsLostInNoiseIsNotTold) {
  for (const size_t part : {0u, 3u, 5u, 8u}) recording_.profiled.tokens_in_parts[part] = 5'000;
  EXPECT_THAT(Ending(160), HasSubstr("profiled: cannot tell: the rate varies too much"));
  EXPECT_THAT(Ending(160), Not(HasSubstr("% noise")));
}

TEST_F(RecordEnding, CountsWhatIsMissingAndNamesTheFirst) {
  proven_.proof.ranks[3].proven = false;
  const Finding died{FindingId::kEngineDied, "w1 TP1 (http://127.0.0.1:3456)", "it died"};
  proven_.proof.ranks[3].why = died;
  EXPECT_THAT(Ending(),
              HasSubstr(" missing  1 of 4 ranks: w1 TP1 (http://127.0.0.1:3456): it died\n"));
  EXPECT_THAT(DetailsText(recording_, proven_, {}), Not(HasSubstr("missing")));
  proven_.proof.ranks[2].proven = false;
  proven_.proof.ranks[2].why =
      Finding{FindingId::kDiskFull, "w1 TP0 (http://127.0.0.1:3456)", "its disk is full"};
  recording_.findings = {{FindingId::kEngineDied, "http://127.0.0.1:3456", "it died"},
                         {FindingId::kMostRequestsFailed, "load", "3 of 4 requests failed"}};
  EXPECT_THAT(Ending(160),
              HasSubstr(" missing  2 of 4 ranks: w1 TP0 (http://127.0.0.1:3456): its disk is full "
                        "(above: 1 more rank, 1 trouble)\n"));
  const std::string details = DetailsText(recording_, proven_, {});
  EXPECT_THAT(details, HasSubstr(" missing  w1 TP1 (http://127.0.0.1:3456): it died\n"));
  EXPECT_THAT(details, HasSubstr(" trouble  load: 3 of 4 requests failed\n"));
}

TEST_F(RecordEnding, ARankIsProvenAlsoWhereItLostWork) {
  proven_.proof.ranks[1].loss =
      Finding{FindingId::kRowsMissing, "", "lost-at-edge: work is missing"};
  EXPECT_THAT(Ending(), HasSubstr("4 of 4 ranks proven, 1 incomplete · 400 to 401 steps each"));
}

// A front end's file: no rank counts it.
TEST_F(RecordEnding, NamesAFileOfNoRankThatIsNotWhole) {
  const Finding cut{FindingId::kRowsMissing, "api.json", "truncated-json (byte 10)"};
  const Finding lost{FindingId::kRowsMissing, "w0 TP1 (u)", "lost-at-edge: work is missing"};
  proven_.proof.ranks[1].loss = lost;
  proven_.proof.remarks = {lost, cut};
  EXPECT_THAT(Ending(), HasSubstr(" trouble  api.json: truncated-json (byte 10)\n"));
  EXPECT_THAT(Ending(), Not(HasSubstr("lost-at-edge")));
}

// What does not fit into the ten lines is above them.
TEST_F(RecordEnding, LeavesNothingUnsaid) {
  std::string trouble = "not kept:";
  for (int i = 0; i < 200; ++i) trouble += " word" + std::to_string(i);
  recording_.findings = {{FindingId::kNotKept, "", trouble}};
  EXPECT_THAT(Ending(), HasSubstr(" …\n"));
  EXPECT_THAT(DetailsText(recording_, proven_, {}), HasSubstr("word199\n"));
}

TEST_F(RecordEnding, ProposesWhatComesNext) {
  proven_.readout.emplace();
  proven_.readout->run.traces.emplace_back();
  const auto next = [&](const EndingFolders& folders) {
    const std::string text = EndingText(recording_, proven_, folders, TextStyle{.width = 80});
    const size_t at = text.find(" next ");
    return at == std::string::npos ? "" : text.substr(at);
  };
  EXPECT_EQ(next({"runs/b"}), " next     tacho analyze runs/b/traces\n");
  EXPECT_EQ(next({"runs/b", "runs/a a"}),
            " next     tacho analyze runs/b/traces\n"
            "          tacho compare 'runs/a a' runs/b\n");
  proven_.readout.reset();
  EXPECT_EQ(next({"runs/b", "runs/a"}), "") << "nothing of it can be compared";
}

// Whatever goes wrong, the ending stays short.
TEST_F(RecordEnding, IsTwelveLinesOfEightyColumnsAtMost) {
  const std::string long_text = [] {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "cause" + std::to_string(i) + "; ";
    return text;
  }();
  for (RankProof& rank : proven_.proof.ranks) {
    rank.proven = false;
    rank.why = Finding{FindingId::kEngineDied, "w", long_text};
  }
  const Finding trouble{FindingId::kNotKept, "", long_text};
  recording_.findings = {trouble, trouble};
  proven_.proof.remarks = {{FindingId::kHoldsPart, "", long_text}};
  recording_.starts.taken = 1;
  for (const size_t width : {80u, 100u, 250u}) {
    const std::vector<std::string> lines = LinesOf(Ending(width));
    EXPECT_LE(lines.size(), kMostEndingLines);
    for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), width) << line;
    EXPECT_THAT(lines[0], StartsWith(" proof    0 of 4 ranks proven"));
    EXPECT_THAT(lines.back(), StartsWith(" folder   tacho-"));
  }
}

}  // namespace
}  // namespace tacho
