#include "analysis/ranks/identity.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

std::string NameOf(std::string_view path, std::vector<std::string> processes = {},
                   std::optional<int64_t> rank = {}, std::optional<int64_t> world_size = {},
                   std::string stage = "") {
  TraceFacts facts;
  facts.process_names = std::move(processes);
  facts.rank = rank;
  facts.world_size = world_size;
  facts.stage = std::move(stage);
  return IdentityOf(path, facts).Name();
}

TEST(Identity, OfEnginesFiles) {
  EXPECT_EQ(NameOf("run/dp1_pp0_tp3_dcp0_ep3_rank7.1795.pt.trace.json.gz"), "DP1 PP0 TP3");
  EXPECT_EQ(NameOf("a.tar:x/1795263457.2007294-TP-1-DP-0-PP-2-EP-1-DECODE.trace.json.gz", {}, 1, 2,
                   "decode"),
            "DP0 PP2 TP1 decode");
  EXPECT_EQ(NameOf("b8a1-rank-3.1795.pt.trace.json"), "rank 3");
  EXPECT_EQ(NameOf("trtllm-trace-1778480665-7993d824-rank-1.json"), "rank 1");
  EXPECT_EQ(NameOf("20261127-1-DP1-TP3.trace.json.gz"), "DP1 TP3");
  EXPECT_EQ(NameOf("20261127-1-TP3-DECODE.trace.json.gz", {}, {}, {}, "decode"), "TP3 decode");
  EXPECT_EQ(NameOf("x_rank1.1795.pt.trace.json", {"VLLM::Worker_DP1_TP1"}, 1, 2), "DP1 TP1");
}

TEST(Identity, ContentComesBeforeTheName) {
  EXPECT_EQ(NameOf("x_rank1.pt.trace.json", {}, 0, 4), "rank 0");
  EXPECT_EQ(NameOf("x-TP-3.trace.json.gz", {"sglang::scheduler_TP1"}, 1, 2), "TP1");
}

TEST(Identity, AKeyOfTheUserIsNoNumber) {
  EXPECT_EQ(NameOf("tp2_rank0.pt.trace.json.gz", {}, 0, 2), "rank 0");
  EXPECT_EQ(NameOf("dp2_rank0.pt.trace.json.gz", {}, 0, 1), "rank 0");
  EXPECT_EQ(NameOf("TP2_rank0.pt.trace.json.gz", {}, 0, 2), "rank 0");
  EXPECT_EQ(NameOf("frank3.json"), "");
  EXPECT_EQ(NameOf("rank99999999999999999999.json"), "");
}

TEST(Identity, WorkersOfRecordings) {
  EXPECT_EQ(NameOf("tacho-20261123-112400/traces/w0/x_rank1.json", {}, 1, 2), "w0 rank 1");
  EXPECT_EQ(NameOf("traces/w12/x.json", {}, 0, 1), "w12");
  EXPECT_EQ(
      NameOf("elsewhere/tacho-20261123-112411-w3-tacho-20261123-112411-w3-TP-0.trace.json.gz"),
      "w3 TP0");
  EXPECT_EQ(NameOf("my-traces/w1/x.json"), "");
  EXPECT_EQ(NameOf("traces/weird/x.json"), "");
  EXPECT_EQ(NameOf("tacho-20261123-112411-warm.json"), "");
}

}  // namespace
}  // namespace tacho
