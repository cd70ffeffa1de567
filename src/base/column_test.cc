#include "base/column.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/narrow_column.h"

namespace tacho {
namespace {

TEST(Column, GrowsAndMoves) {
  Column<int> column;
  for (int i = 0; i < 100000; ++i) column.push_back(i);
  ASSERT_EQ(column.size(), 100000u);
  Column<int> moved = std::move(column);
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(moved[static_cast<size_t>(i)], i);
  EXPECT_EQ(moved.back(), 99999);
}

TEST(Column, ReserveThenAdvance) {
  Column<char> column;
  char* room = column.Reserve(3);
  room[0] = 'a';
  room[1] = 'b';
  column.Advance(2);
  column.push_back('c');
  EXPECT_EQ(std::string_view(column.begin(), column.size()), "abc");
}

TEST(NarrowColumn, KeepsEveryInt64) {
  const int64_t values[] = {0,          -1,         -2,        1,         0xfffffffd,
                            0xfffffffe, 0xffffffff, INT64_MAX, INT64_MIN, 4'294'967'296};
  NarrowColumn column;
  for (const int64_t v : values) column.push_back(v);
  for (size_t i = 0; i < std::size(values); ++i) EXPECT_EQ(column[i], values[i]);
}

}  // namespace
}  // namespace tacho
