#include "analysis/opportunities/opportunities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "analysis/opportunities/exchange_overlap.h"
#include "analysis/opportunities/fusible_runs.h"
#include "base/random.h"

namespace tacho {
namespace {

using Role = LayerRole;
using Block = LayerBlock;
using testing::ElementsAre;
using testing::IsEmpty;

struct Piece {
  int64_t start, end;
  uint32_t stream = 0;
  bool fusible = true;
  Role role = Role::kOther;
  Block block = Block::kOther;
};

// A step whose pieces are one layer, on a device where other work may run, too. `pieces` and
// `others` are sorted by start.
class OneLayer {
 public:
  explicit OneLayer(const std::vector<Piece>& pieces, const std::vector<Interval>& others = {}) {
    auto structure = std::make_shared<LayerStructure>();
    structure->layers = {{0, 0, 1, pieces.size()}};
    size_t next = 0;
    const auto add = [&](Interval when, uint32_t stream, bool fusible) {
      WorkItem& item = device_.items.emplace_back();
      item.when = when;
      item.stream = stream;
      item.category = static_cast<WorkCategory>(fusible);
      device_.extent = {std::min(device_.items.front().when.start, when.start),
                        std::max(device_.extent.end, when.end)};
    };
    for (const Piece& piece : pieces) {
      for (; next < others.size() && others[next].start.ns < piece.start; ++next)
        add(others[next], 9, false);
      step_.of.items.push_back(static_cast<uint32_t>(device_.items.size()));
      add({{piece.start}, {piece.end}}, piece.stream, piece.fusible);
      step_.of.roles.push_back(piece.role);
      step_.blocks.push_back(piece.block);
    }
    for (; next < others.size(); ++next) add(others[next], 9, false);
    step_.of.device = &device_;
    step_.structure = structure;
  }

  struct Fusible {
    std::vector<uint32_t> items;
    int64_t most, gaps;
    bool operator==(const Fusible&) const = default;
  };
  [[nodiscard]] std::vector<Fusible> Runs() const {
    std::vector<Fusible> runs;
    ForEachFusibleRun(step_, BusyBefore(device_), {false, true}, [&](const FusibleRun& run) {
      runs.push_back({{run.items.begin(), run.items.end()}, run.most.ns, run.gaps.ns});
    });
    return runs;
  }
  [[nodiscard]] ExchangeOverlap Overlap() const {
    return ExchangeOverlapOf(step_, 0, BusyBefore(device_));
  }
  // Whether any work runs in [at, at + 1), except for the pieces `but` of the step.
  [[nodiscard]] bool Runs(int64_t at, auto but) const {
    for (size_t i = 0; i < device_.items.size(); ++i) {
      if (device_.items[i].when.contains({at}) && !but(i)) return true;
    }
    return false;
  }
  [[nodiscard]] const std::vector<WorkItem>& items() const { return device_.items; }
  [[nodiscard]] const std::vector<uint32_t>& own() const { return step_.of.items; }

 private:
  DeviceItems device_;
  StepLayers step_;
};

using Fusible = OneLayer::Fusible;

//  stream 0   |norm 0-10|   |rope 13-15|  |cache 20-24|   [product]   |copy| alone
//  others                                 16 -- 19
TEST(FusibleRuns, SaveAllButTheLongestKernel) {
  const OneLayer layer({{0, 10}, {13, 15}, {20, 24}, {24, 90, 0, false}, {91, 93}}, {{{16}, {19}}});
  // 24 from first to last, less 10. Nothing runs from 10 to 13, 15 to 16 and 19 to 20.
  EXPECT_THAT(layer.Runs(), ElementsAre(Fusible{{0, 1, 3}, 14, 5}));
}

TEST(FusibleRuns, EndAtAnotherStreamAndAtTheLayersEnd) {
  EXPECT_THAT(OneLayer({{0, 1}, {1, 2, 1}, {2, 3}, {3, 4}}).Runs(),
              ElementsAre(Fusible{{2, 3}, 1, 0}));
  EXPECT_THAT(OneLayer({{0, 1}, {2, 9, 0, false}, {10, 11}}).Runs(), IsEmpty());
}

std::vector<Piece> RandomPieces(Random& random, int64_t count) {
  constexpr std::pair<Role, Block> kKinds[] = {
      {Role::kExchange, Block::kDispatch},    {Role::kExchange, Block::kCombine},
      {Role::kProduct, Block::kSharedExpert}, {Role::kActivation, Block::kSharedExpert},
      {Role::kOther, Block::kSharedExpert},   {Role::kExperts, Block::kExpertsUp}};
  std::vector<Piece> pieces;
  int64_t now = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto [role, block] = kKinds[random.Between(0, 5)];
    now += random.Between(0, 6);
    pieces.push_back({now, now + random.Between(1, 8),
                      static_cast<uint32_t>(random.Between(0, 4) == 0), random.Between(0, 3) > 0,
                      role, block});
  }
  return pieces;
}

std::vector<Interval> RandomOthers(Random& random) {
  std::vector<Interval> others;
  int64_t now = -20;
  for (int64_t i = random.Between(0, 6); i > 0; --i) {
    now += random.Between(1, 20);
    others.push_back({{now}, {now + random.Between(1, 30)}});
  }
  return others;
}

// Each nanosecond is looked at by itself.
TEST(FusibleRuns, AreThoseOfBruteForce) {
  Random random(1);
  size_t seen = 0;
  for (int i = 0; i < 500; ++i) {
    const std::vector<Piece> pieces = RandomPieces(random, 12);
    const OneLayer layer(pieces, RandomOthers(random));
    std::vector<Fusible> expected;
    for (size_t begin = 0; begin < pieces.size();) {
      size_t end = begin;
      while (end < pieces.size() && pieces[end].fusible &&
             pieces[end].stream == pieces[begin].stream)
        ++end;
      if (end >= begin + 2) {
        Fusible run{{layer.own().begin() + static_cast<ptrdiff_t>(begin),
                     layer.own().begin() + static_cast<ptrdiff_t>(end)},
                    0,
                    0};
        int64_t last = 0, longest = 0;
        for (size_t k = begin; k < end; ++k) {
          last = std::max(last, pieces[k].end);
          longest = std::max(longest, pieces[k].end - pieces[k].start);
        }
        run.most = last - pieces[begin].start - longest;
        for (int64_t at = pieces[begin].start; at < last; ++at)
          run.gaps += layer.Runs(at, [](size_t) { return false; }) ? 0 : 1;
        EXPECT_LE(run.gaps, run.most);
        expected.push_back(run);
      }
      begin = std::max(end, begin + 1);
    }
    seen += expected.size();
    ASSERT_EQ(layer.Runs(), expected) << i;
  }
  EXPECT_GT(seen, 500u);
}

TEST(ExchangeOverlap, TakesTheShorterSide) {
  const Piece mixer{0, 5, 0, false, Role::kMixer, Block::kAttention};
  const Piece dispatch{10, 30, 0, false, Role::kExchange, Block::kDispatch};
  const Piece product{30, 42, 0, false, Role::kProduct, Block::kSharedExpert};
  const Piece activation{43, 45, 0, true, Role::kActivation, Block::kSharedExpert};
  const ExchangeOverlap overlap =
      OneLayer({mixer, dispatch, product, activation}, {{{12}, {15}}, {{40}, {44}}}).Overlap();
  EXPECT_EQ(overlap.exposed.ns, 17 + 5) << "with the gap from 5 to 10";
  EXPECT_EQ(overlap.movable.ns, 10 + 1);
  EXPECT_EQ(overlap.most().ns, 11);
  // A product without an activation may prepare the tokens that are sent.
  EXPECT_EQ(OneLayer({mixer, dispatch, product}).Overlap().most().ns, 0);
  EXPECT_EQ(OneLayer({mixer, product, activation}).Overlap().most().ns, 0);
}

TEST(ExchangeOverlap, IsThatOfBruteForce) {
  Random random(2);
  size_t seen = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<Piece> pieces = RandomPieces(random, 10);
    pieces[0].role = Role::kMixer;
    pieces[0].block = Block::kAttention;
    const OneLayer layer(pieces, RandomOthers(random));
    const auto is = [&](size_t item, auto what) {
      const auto own = std::ranges::find(layer.own(), static_cast<uint32_t>(item));
      return own != layer.own().end() &&
             what(pieces[static_cast<size_t>(own - layer.own().begin())]);
    };
    const auto exchanges = [](const Piece& piece) { return piece.role == Role::kExchange; };
    const auto shares = [](const Piece& piece) {
      return piece.block == Block::kSharedExpert && piece.role != Role::kOther;
    };
    const bool has = std::ranges::any_of(pieces, exchanges) &&
                     std::ranges::any_of(pieces, [](const Piece& piece) {
                       return piece.role == Role::kActivation;
                     });
    ExchangeOverlap expected;
    for (int64_t at = -20; at < 200 && has; ++at) {
      const auto only = [&](auto what) {
        return layer.Runs(at, [&](size_t item) { return !is(item, what); }) &&
               !layer.Runs(at, [&](size_t item) { return is(item, what); });
      };
      // A gap is of the work after it, if that is after the mixer.
      const auto before = [&](auto what) {
        const auto next = std::ranges::find_if(
            layer.items(), [&](const WorkItem& item) { return item.when.start.ns > at; });
        const auto item = static_cast<size_t>(next - layer.items().begin());
        return !layer.Runs(at, [](size_t) { return false; }) && item > layer.own().front() &&
               next != layer.items().end() && is(item, what);
      };
      expected.exposed.ns += only(exchanges) || before(exchanges) ? 1 : 0;
      expected.movable.ns += only(shares) || before(shares) ? 1 : 0;
    }
    seen += expected.most().ns > 0 ? 1 : 0;
    EXPECT_EQ(layer.Overlap().exposed, expected.exposed) << i;
    EXPECT_EQ(layer.Overlap().movable, expected.movable) << i;
  }
  EXPECT_GT(seen, 100u);
}

TEST(MayBeFused, NeverProductsNorCommunication) {
  for (const char* category : {"norm", "rope", "elementwise", "memory.copy", "quantize"})
    EXPECT_TRUE(MayBeFused(category)) << category;
  for (const char* category : {"gemm.dense", "moe.gemm", "attention.core", "comm.collective",
                               "comm.fused", "moe.routing", "sampling", "normal"})
    EXPECT_FALSE(MayBeFused(category)) << category;
}

}  // namespace
}  // namespace tacho
