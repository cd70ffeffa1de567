#include "model/begin_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/random.h"

namespace tacho {
namespace {

Event Mark(StringId name, int64_t id, int64_t at) {
  Event event;
  event.has_start = true;
  event.name = name;
  event.id = id;
  event.start = {at};
  return event;
}

// An end closes the last open begin of its id and name; an end without a name, the last of its id.
TEST(RangePairs, CloseWhatTheRuleSays) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    RangePairs pairs;
    Notes notes;
    std::vector<Event> open;  // in the order of their begins; correlation: the row
    for (int64_t i = 0; i < 300; ++i) {
      // Begins without a name count, too: an end with a name does not close them.
      const Event event =
          Mark(static_cast<StringId>(random.Below(4)), static_cast<int64_t>(random.Below(3)), i);
      if (random.Below(2) == 0) {
        pairs.Begin(event, {}, static_cast<uint32_t>(i));
        open.push_back(event);
        open.back().correlation = i;
        continue;
      }
      const auto ended = pairs.End(event, {}, notes);
      const auto last = std::find_if(open.rbegin(), open.rend(), [&](const Event& begin) {
        return begin.id == event.id && (event.name == StringId::kEmpty || begin.name == event.name);
      });
      ASSERT_EQ(ended.has_value(), last != open.rend()) << seed << " " << i;
      if (!ended) continue;
      EXPECT_EQ(ended->row, last->correlation);
      EXPECT_EQ(ended->duration.ns, i - last->start.ns);
      open.erase(std::next(last).base());
    }
    Notes at_end;
    pairs.Finish(at_end);
    EXPECT_EQ(at_end.CountOf(NoteId::kUnfinishedSpan), open.size());
  }
}

// An end that matches nothing is recognized at once, however many ranges of its id are open.
TEST(RangePairs, ManyOpenRangesOfOneId) {
  constexpr int64_t kRanges = 300'000;
  RangePairs pairs;
  Notes notes;
  for (int64_t i = 0; i < kRanges; ++i) pairs.Begin(Mark(StringId{1}, 7, i), {});
  for (int64_t i = 0; i < kRanges; ++i) EXPECT_FALSE(pairs.End(Mark(StringId{2}, 7, i), {}, notes));
  EXPECT_EQ(notes.CountOf(NoteId::kUnmatchedBeginEnd), static_cast<uint64_t>(kRanges));
  for (int64_t i = 0; i < kRanges; ++i) EXPECT_TRUE(pairs.End(Mark(StringId{}, 7, i), {}, notes));
}

}  // namespace
}  // namespace tacho
