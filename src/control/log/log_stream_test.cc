#include "control/log/log_stream.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace tacho {
namespace {

std::vector<std::string> LinesOf(const std::string& text, size_t most = SIZE_MAX) {
  std::istringstream log(text);
  std::vector<std::string> lines;
  ForEachLogLine(log, {}, [&](std::string_view line) {
    lines.emplace_back(line);
    return lines.size() < most;
  });
  return lines;
}

TEST(LogStream, GivesEachLineAlsoAcrossPieces) {
  std::string text;
  std::vector<std::string> right;
  for (size_t i = 0; i < 3000; ++i) {
    right.emplace_back(i * 7919 % 2000, static_cast<char>('a' + i % 26));
    text += right.back() + '\n';
  }
  ASSERT_GT(text.size(), size_t{2} << 20);
  EXPECT_EQ(LinesOf(text), right);
  text.pop_back();
  EXPECT_EQ(LinesOf(text), right);
  EXPECT_EQ(LinesOf(text, 5).size(), 5u);
  EXPECT_EQ(LinesOf(""), std::vector<std::string>());
  EXPECT_EQ(LinesOf("\n\na"), (std::vector<std::string>{"", "", "a"}));
}

TEST(LogStream, BoundsALineWithoutEnd) {
  const std::string text(size_t{5} << 20, 'x');
  std::string all;
  for (const std::string& line : LinesOf(text)) {
    EXPECT_LE(line.size(), size_t{1} << 20);
    all += line;
  }
  EXPECT_EQ(all, text);
}

TEST(LogStream, AStopEndsIt) {
  std::stop_source source;
  std::istringstream log(std::string(size_t{3} << 20, '\n'));
  size_t lines = 0;
  ForEachLogLine(log, source.get_token(), [&](std::string_view) {
    if (++lines == 10) source.request_stop();
    return true;
  });
  EXPECT_LE(lines, size_t{1} << 20);
}

}  // namespace
}  // namespace tacho
