#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/requests/join_for_test.h"
#include "base/random.h"

namespace tacho {
namespace {

// A small engine whose assignment is known: steps of 10 ms, in which each request may pause, or may
// not once it has a token.
struct KnownScene {
  JoinScene scene;
  std::vector<std::vector<uint32_t>> truth;   // by request: the step of each token
  std::vector<std::vector<int64_t>> seen_ms;  // by request and token
  std::vector<int64_t> sent_ms, prompts;

  KnownScene(Random& random, bool may_pause) {
    const int64_t requests = random.Between(1, 3);
    std::vector<int64_t> left, unread;
    for (int64_t i = 0; i < requests; ++i) {
      sent_ms.push_back(10 * random.Between(0, 2) + 5);
      prompts.push_back(random.Between(2, 6));
      unread.push_back(prompts.back());
      left.push_back(random.Between(1, 4));
      truth.emplace_back();
    }
    JoinEngine& engine = scene.Engine();
    JoinScene::Step(engine, 0, 1, JoinScene::Empty());
    int64_t now = 10;
    while (std::ranges::any_of(left, [](int64_t tokens) { return tokens > 0; })) {
      StepLabel label = JoinScene::Empty();
      for (size_t i = 0; i < left.size(); ++i) {
        if (left[i] == 0 || sent_ms[i] > now) continue;
        if ((may_pause || truth[i].empty()) && random.Below(4) == 0) continue;
        if (unread[i] > 0) {
          const int64_t reads = random.Between(1, unread[i]);
          ++label.context_requests;
          label.context_tokens += reads;
          if ((unread[i] -= reads) > 0) continue;
        } else {
          ++label.generation_requests;
          ++label.generation_tokens;
        }
        truth[i].push_back(static_cast<uint32_t>(engine.steps.size()));
        --left[i];
      }
      JoinScene::Step(engine, now, now + 9, label);
      now += 10;
    }
    JoinScene::Step(engine, now + 90, now + 91, JoinScene::Empty());
    for (size_t i = 0; i < truth.size(); ++i) AddAnswer(random, i);
  }

 private:
  void AddAnswer(Random& random, size_t request) {
    std::vector<int64_t>& seen = seen_ms.emplace_back();
    for (const uint32_t step : truth[request]) seen.push_back(10 * step + random.Between(9, 30));
    std::ranges::sort(seen);
    for (size_t i = seen.size() - 1; i-- > 0;) {
      if (random.Below(3) == 0) seen[i] = seen[i + 1];
    }
    std::vector<JoinScene::Tokens> chunks;
    for (const int64_t at : seen) chunks.push_back({at});
    scene.Answer(sent_ms[request], prompts[request], chunks);
  }
};

// All assignments that the rules allow, found by trying all.
class AllAssignments {
 public:
  AllAssignments(const KnownScene& known, bool gapless)
      : known_(known), gapless_(gapless), steps_(known.scene.engines[0].steps) {
    first_.assign(steps_.size(), 0);
    later_.assign(steps_.size(), 0);
    fits.resize(known.truth.size());
    for (size_t i = 0; i < fits.size(); ++i) fits[i].resize(known.truth[i].size());
    chosen_.resize(fits.size());
    Next(0);
  }
  std::vector<std::vector<std::set<uint32_t>>> fits;  // by request and token

 private:
  void Next(size_t request) {
    if (request == chosen_.size()) return Take();
    std::vector<uint32_t>& chosen = chosen_[request];
    if (chosen.size() == known_.truth[request].size()) return Next(request + 1);
    const size_t token = chosen.size();
    const bool is_first = token == 0;
    for (uint32_t step = is_first ? 0 : chosen.back() + 1; step < steps_.size(); ++step) {
      const StepLabel& label = steps_[step].label;
      if (gapless_ && !is_first && label.generation_requests == 0) continue;
      const bool is_only = gapless_ && !is_first;
      const int64_t start = steps_[step].when.start.ns / 1'000'000;
      const int64_t made = steps_[step].made.ns / 1'000'000;
      if (start < known_.sent_ms[request] || made > known_.seen_ms[request][token]) {
        if (is_only) return;
        continue;
      }
      if (is_first && !MayRead(request, label)) continue;
      int64_t& used = is_first ? first_[step] : later_[step];
      if (used == (is_first ? label.context_requests : label.generation_requests)) {
        if (is_only) return;
        continue;
      }
      ++used;
      chosen.push_back(step);
      Next(request);
      chosen.pop_back();
      --used;
      if (is_only) return;
    }
  }
  void Take() {
    for (uint32_t step = 0; step < steps_.size(); ++step) {
      if (later_[step] != steps_[step].label.generation_requests || !CanRead(step)) return;
    }
    for (size_t i = 0; i < chosen_.size(); ++i) {
      for (size_t token = 0; token < chosen_[i].size(); ++token)
        fits[i][token].insert(chosen_[i][token]);
    }
  }
  // A step that reads one prompt reads no more than its tokens.
  [[nodiscard]] bool MayRead(size_t request, const StepLabel& label) const {
    return label.context_requests > 1 || label.context_tokens <= known_.prompts[request];
  }
  // Whether enough requests may be reading their prompts in a step.
  [[nodiscard]] bool CanRead(uint32_t step) const {
    const StepLabel& label = steps_[step].label;
    if (label.context_requests == 1 && label.context_tokens == 1) return true;
    int64_t readers = 0;
    for (size_t i = 0; i < chosen_.size(); ++i) {
      readers += steps_[step].when.start.ns / 1'000'000 >= known_.sent_ms[i] &&
                         step <= chosen_[i][0] && MayRead(i, label)
                     ? 1
                     : 0;
    }
    return readers >= label.context_requests;
  }

  const KnownScene& known_;
  bool gapless_;
  const std::vector<EngineStep>& steps_;
  std::vector<int64_t> first_, later_;
  std::vector<std::vector<uint32_t>> chosen_;
};

void ExpectNoContradiction(bool may_pause) {
  Random random(7);
  uint64_t tied = 0, could_be_tied = 0, tokens = 0, exact = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const KnownScene known(random, may_pause);
    const RequestJoin join = known.scene.Join({.may_pause = may_pause});
    ASSERT_EQ(join.why, JoinWhy::kJoined) << trial;
    const AllAssignments all(known, join.gapless[0]);
    for (size_t i = 0; i < join.requests.size(); ++i) {
      ASSERT_EQ(join.requests[i].engine, 0u);
      for (size_t token = 0; token < all.fits[i].size(); ++token) {
        const TokenSeat& seat = join.requests[i].tokens[token];
        const std::set<uint32_t>& fits = all.fits[i][token];
        ASSERT_TRUE(fits.contains(known.truth[i][token])) << trial;
        EXPECT_LE(seat.first, *fits.begin()) << trial << " " << i << " " << token;
        EXPECT_GE(seat.last, *fits.rbegin()) << trial << " " << i << " " << token;
        EXPECT_TRUE(seat.fit == Fit::kTied || seat.fit == Fit::kOneOf);
        ++tokens;
        exact += seat.first == *fits.begin() && seat.last == *fits.rbegin() ? 1 : 0;
        could_be_tied += fits.size() == 1 ? 1 : 0;
        tied += seat.fit == Fit::kTied ? 1 : 0;
      }
    }
  }
  EXPECT_GT(tied * 1000, could_be_tied * 995);
  EXPECT_GT(exact * 1000, tokens * 995);
}

TEST(JoinProperty, NoAssignmentContradictsIt) { ExpectNoContradiction(true); }

TEST(JoinProperty, NoAssignmentWithoutPausesContradictsIt) { ExpectNoContradiction(false); }

}  // namespace
}  // namespace tacho
