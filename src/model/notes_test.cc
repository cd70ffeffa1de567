#include "model/notes.h"

#include <gtest/gtest.h>

#include <set>

namespace tacho {
namespace {

TEST(Notes, CountsAndKeepsTheFirstPlaceInOrderOfIds) {
  Notes notes;
  EXPECT_FALSE(notes.lost_data());
  notes.Add(NoteId::kNoEvents, "later");
  notes.Add(NoteId::kTruncatedJson, "byte 5");
  notes.Add(NoteId::kTruncatedJson, "byte 9", 2);
  notes.Add(NoteId::kDamagedEvent, "", 0);
  ASSERT_EQ(notes.list().size(), 2u);
  EXPECT_EQ(notes.list()[0].id, NoteId::kTruncatedJson);
  EXPECT_EQ(notes.list()[0].count, 3u);
  EXPECT_EQ(notes.list()[0].where, "byte 5");
  EXPECT_TRUE(notes.lost_data());
}

TEST(Notes, EveryKindHasItsOwnIdATextAndARemedy) {
  std::set<std::string_view> ids;
  for (int i = 0; i < static_cast<int>(NoteId::kCount); ++i) {
    const NoteKind& kind = KindOf(static_cast<NoteId>(i));
    EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
    EXPECT_FALSE(kind.text.empty());
    EXPECT_FALSE(kind.remedy.empty());
  }
}

}  // namespace
}  // namespace tacho
