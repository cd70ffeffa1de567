#include "analysis/ranks/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

constexpr int64_t kSecond = 1'000'000'000;

class Traces {
 public:
  Traces& Add(std::string path, std::optional<Interval> seconds, std::string trace_id = "") {
    RankInput input;
    input.path = std::move(path);
    input.facts = &facts_;
    input.devices = &devices_;
    input.base_time_ns = 1;
    if (seconds) {
      input.span = {{seconds->start.ns * kSecond}, {seconds->end.ns * kSecond}};
    }
    input.trace_id = std::move(trace_id);
    inputs_.push_back(std::move(input));
    return *this;
  }
  [[nodiscard]] std::vector<std::vector<size_t>> Sessions() const { return SessionsOf(inputs_); }

 private:
  TraceFacts facts_;
  std::vector<DeviceTime> devices_;
  std::vector<RankInput> inputs_;
};

TEST(SessionKey, IsTachosOrSglangs) {
  EXPECT_EQ(SessionKey("out/mine-tacho-20261121-222238-w0-TP-1.trace.json.gz"),
            "tacho-20261121-222238");
  EXPECT_EQ(SessionKey("tacho-20261121-222238/traces/w1/rank0.17.pt.trace.json.gz"),
            "tacho-20261121-222238");
  EXPECT_EQ(SessionKey("d/1795263589.7707117-TP-0-DP-1.trace.json.gz"), "1795263589.7707117");
  EXPECT_EQ(SessionKey("a.tar:stage3-1795263512.45-TP-0-EXTEND.trace.json.gz"),
            "stage3-1795263512.45");
  for (const char* path :
       {"", "tacho-", "tacho-2026-1", "dp2_rank0.1795262862187540505.pt.trace.json.gz",
        "mine-TP-0.trace.json.gz", "1795263589.77-TP-0/rank0.json", "17.5-TP-0.trace.json"}) {
    EXPECT_EQ(SessionKey(path), "") << path;
  }
}

TEST(Sessions, AreToldByTheNamesOfTacho) {
  EXPECT_THAT(SessionsByName({"tacho-20261123-143251/w0", "a-tacho-20261121-222238-w0",
                              "tacho-20261123-143251/w1"}),
              Optional(ElementsAre(ElementsAre(1), ElementsAre(0, 2))));
  EXPECT_EQ(SessionsByName({"tacho-20261123-143251/w0", "rank0.json"}), std::nullopt);
  EXPECT_EQ(SessionsByName({"1795263589.7707117-TP-0.trace.json.gz"}), std::nullopt)
      << "each worker has its own time";
  EXPECT_EQ(SessionsByName({}), std::nullopt);
  // The clocks of the traces do not matter here.
  EXPECT_THAT(Traces()
                  .Add("tacho-20261123-143251-w0", Interval{{0}, {10}})
                  .Add("tacho-20261121-222238-w0", Interval{{5}, {20}})
                  .Sessions(),
              ElementsAre(ElementsAre(1), ElementsAre(0)));
}

TEST(Sessions, AreApartInTime) {
  EXPECT_THAT(Traces()
                  .Add("late", Interval{{100}, {105}})
                  .Add("early", Interval{{0}, {10}})
                  .Add("overlaps", Interval{{5}, {50}})
                  .Add("through others", Interval{{40}, {60}})
                  .Add("right behind", Interval{{60}, {61}})
                  .Sessions(),
              ElementsAre(ElementsAre(1, 2, 3, 4), ElementsAre(0)));
}

TEST(Sessions, HoldWhatOneKeyOrIdHasAndWhatTellsNothing) {
  EXPECT_THAT(Traces()
                  .Add("tacho-20261121-222238-w0", Interval{{0}, {1}})
                  .Add("tacho-20261121-222238-w1", Interval{{50}, {51}})
                  .Add("slice 1", Interval{{200}, {201}}, "A")
                  .Add("slice 2", Interval{{300}, {301}}, "A")
                  .Add("of a rank that had nothing to do", std::nullopt, "B")
                  .Add("tacho-20261121-222238-w2", std::nullopt)
                  .Sessions(),
              ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 4)));
  // One process, recorded twice by a profiler that reuses its trace id. The keys tell the
  // recordings apart.
  EXPECT_THAT(Traces()
                  .Add("tacho-20261123-143151-w0_rank0", Interval{{0}, {1}}, "A")
                  .Add("tacho-20261123-143251-w0_rank0", Interval{{60}, {61}}, "A")
                  .Sessions(),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(Traces().Add("empty", std::nullopt).Sessions(), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(Traces().Sessions(), ElementsAre(ElementsAre()));
}

}  // namespace
}  // namespace tacho
