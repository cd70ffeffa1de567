#include "serve/marks_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;

constexpr const char* kOne = R"({"marks": [{"from_ns": -5, "to_ns": 7, "note": "<b>\u0000 é"}]})";

TEST(MarksFile, WhatIsWrittenIsRead) {
  const FolderForTest folder;
  MarksFile marks(folder.At("a.json.tacho-marks.json"));
  EXPECT_EQ(nlohmann::json::parse(*marks.Read())["marks"].size(), 0u);
  ASSERT_TRUE(marks.Replace(kOne));
  EXPECT_EQ(nlohmann::json::parse(*marks.Read()), nlohmann::json::parse(kOne));
  ASSERT_TRUE(marks.Replace(R"({"marks": [], "more": 1})"));
  EXPECT_EQ(nlohmann::json::parse(*marks.Read()), nlohmann::json::parse(R"({"marks": []})"));
}

TEST(MarksFile, OfTwoWritersTheSecondHearsOfTheFirst) {
  const FolderForTest folder;
  MarksFile marks(folder.At("marks"));
  const std::string none = MarksFile::TagOf(*marks.Read());
  EXPECT_EQ(marks.Replace(kOne, none), true);
  EXPECT_EQ(marks.Replace(R"({"marks": []})", none), false);
  EXPECT_EQ(nlohmann::json::parse(*marks.Read()), nlohmann::json::parse(kOne)) << "they stay";
  const std::string one = MarksFile::TagOf(*marks.Read());
  EXPECT_NE(one, none);
  EXPECT_EQ(marks.Replace(kOne, "\"x" + one.substr(1)), false) << "a part of a tag is another tag";
  EXPECT_EQ(marks.Replace(kOne, none + ", W/" + one), true);
  EXPECT_EQ(marks.Replace(R"({"marks": []})", "*"), true);
}

TEST(MarksFile, RefusesWhatIsNoMark) {
  const FolderForTest folder;
  MarksFile marks(folder.At("marks"));
  const std::string long_note(MarksFile::kMostNote + 1, 'x');
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{"), std::string(R"({"marks": 1})"),
        std::string(R"({"marks": [{"from_ns": 1, "to_ns": 0, "note": ""}]})"),
        std::string(R"({"marks": [{"from_ns": 1.5, "to_ns": 2, "note": ""}]})"),
        std::string(R"({"marks": [{"from_ns": 0, "to_ns": 9007199254740993, "note": ""}]})"),
        std::string(R"({"marks": [{"from_ns": 18446744073709551615, "to_ns": 1, "note": ""}]})"),
        std::string(R"({"marks": [{"from_ns": 0, "to_ns": 1}]})"),
        R"({"marks": [{"from_ns": 0, "to_ns": 1, "note": ")" + long_note + R"("}]})",
        std::string(MarksFile::kMostBytes + 1, ' ')}) {
    const auto replaced = marks.Replace(bad);
    ASSERT_FALSE(replaced) << bad.substr(0, 100);
    EXPECT_EQ(replaced.error().kind, ErrorKind::kUsage);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.At("marks")));
}

TEST(MarksFile, AFileOfSomebodyElseIsNotTaken) {
  const FolderForTest folder;
  MarksFile marks(folder.Write("marks", "hello"));
  EXPECT_THAT(marks.Read().error().message, HasSubstr("does not hold tacho's marks"));
  EXPECT_EQ(marks.Replace(kOne).error().kind, ErrorKind::kUnreadable);
  EXPECT_FALSE(marks.Read()) << "it stays";
  ASSERT_EQ(mkfifo(folder.At("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(MarksFile(folder.At("pipe")).Read()) << "and nobody waits for a pipe's writer";
  MarksFile nowhere("");
  EXPECT_TRUE(nowhere.Read());
  EXPECT_FALSE(nowhere.Replace(kOne));
  EXPECT_EQ(MarksFile(folder.At("missing/marks")).Replace(kOne).error().kind, ErrorKind::kOutput);
}

TEST(MarksFile, ItsPlaceIsBesideTheTrace) {
  const FolderForTest folder;
  EXPECT_EQ(MarksPathOf(folder.path()), folder.At("tacho-marks.json"));
  EXPECT_EQ(MarksPathOf("run/rank0.json.gz"), "run/rank0.json.gz.tacho-marks.json");
  EXPECT_EQ(MarksPathOf("-"), "");
}

}  // namespace
}  // namespace tacho
