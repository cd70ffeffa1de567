#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace tacho {
namespace {

Result<std::unique_ptr<int>> Half(int number) {
  if (number % 2 != 0) return Fail(ErrorKind::kUsage, "odd");
  return std::make_unique<int>(number / 2);
}

Result<int> Quarter(int number) {
  TACHO_ASSIGN_OR_RETURN(const std::unique_ptr<int> half, Half(number));
  TACHO_ASSIGN_OR_RETURN(auto quarter, WithContext(Half(*half), "its half"));
  return *quarter;
}

Result<void> CheckBoth(int a, int b) {
  TACHO_RETURN_IF_ERROR(WithContext(Half(a), "a"));
  TACHO_RETURN_IF_ERROR(WithContext(Half(b), "b"));
  return {};
}

TEST(Result, AssignOrReturnMovesTheValueOrReturnsTheError) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(7).error().message, "odd");
  EXPECT_EQ(Quarter(6).error().message, "its half: odd");
  EXPECT_EQ(Quarter(6).error().kind, ErrorKind::kUsage);
}

TEST(Result, AssignOrReturnCopiesFromAResultThatLives) {
  const Result<std::string> kept = "kept";
  const auto copy = [&]() -> Result<std::string> {
    TACHO_ASSIGN_OR_RETURN(std::string text, kept);
    return text + "!";
  };
  EXPECT_EQ(*copy(), "kept!");
  EXPECT_EQ(*kept, "kept");
}

TEST(Result, ReturnIfErrorStopsAtTheFirstError) {
  EXPECT_TRUE(CheckBoth(2, 4));
  EXPECT_EQ(CheckBoth(1, 3).error().message, "a: odd");
  EXPECT_EQ(CheckBoth(2, 3).error().message, "b: odd");
}

TEST(Error, KnowsThePartsOfItsMessage) {
  Error error{ErrorKind::kRemote, "refused: is it running?"};
  EXPECT_EQ(error.Place(), "");
  EXPECT_EQ(error.What(), error.message);
  EXPECT_EQ(error.Brief(), error.message);
  error.brief_size = 7;
  const Error placed = error.WithContext("http://h:1");
  EXPECT_EQ(placed.message, "http://h:1: refused: is it running?");
  EXPECT_EQ(placed.Place(), "http://h:1");
  EXPECT_EQ(placed.What(), "refused: is it running?");
  EXPECT_EQ(placed.Brief(), "refused");
  EXPECT_EQ(placed.WithContext("a: b").Place(), "a: b");
  EXPECT_EQ(placed.WithContext("a: b").Brief(), "http://h:1: refused");
  EXPECT_EQ(FailAt(ErrorKind::kUsage, "FILE", "no").value().Place(), "FILE");
}

}  // namespace
}  // namespace tacho
