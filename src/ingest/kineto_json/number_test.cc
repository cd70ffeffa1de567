#include "ingest/kineto_json/number.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tacho::kineto {
namespace {

// The functions read up to 16 bytes beyond the number.
std::string Padded(std::string text) { return text + "," + std::string(32, 'x'); }

TEST(ReadDigits, TakesUpTo18DigitsAndStopsAtTheFirstOther) {
  for (const char c : {'/', ':', ' ', '.', '-', '\0', '\xb0', 'a', '\xff'}) {
    std::string digits;
    for (int n = 0; n <= 20; ++n) {
      const std::string text = digits + c + std::string(32, '7');
      uint64_t value = 0;
      const char* const end = ReadDigits(text.data(), value);
      if (n == 0 || n > 18) {
        EXPECT_EQ(end, nullptr) << text;
      } else {
        EXPECT_EQ(end, text.data() + n) << text;
        EXPECT_EQ(std::to_string(value), digits);
      }
      digits += static_cast<char>('1' + n % 9);
    }
  }
}

TEST(ReadCanonicalInteger, TakesOnlyWhatPrintsTheSame) {
  for (const std::string text :
       {"0", "7", "-1", "12345678", "123456789", "1234567812345678", "-999999999999999999"}) {
    const std::string padded = Padded(text);
    int64_t value = 0;
    EXPECT_EQ(ReadCanonicalInteger(padded.data(), value), padded.data() + text.size()) << text;
    EXPECT_EQ(std::to_string(value), text);
  }
  for (const std::string text : {"00", "01", "-0", "+1", "", "-", "9999999999999999999", "abc"}) {
    const std::string padded = Padded(text);
    int64_t value = 0;
    EXPECT_EQ(ReadCanonicalInteger(padded.data(), value), nullptr) << text;
  }
}

TEST(Microseconds, BothWaysAgreeOnRandomPlainNumbers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const int64_t ns = static_cast<int64_t>(random() >> (random() % 60 + 2));
    std::string text = std::to_string(ns / 1000);
    const int decimals = static_cast<int>(random() % 4);
    int64_t expected = ns / 1000 * 1000;
    if (decimals > 0) {
      std::string fraction =
          std::to_string(1000 + ns % 1000).substr(1, static_cast<size_t>(decimals));
      text += "." + fraction;
      fraction.resize(3, '0');
      expected += std::stoll(fraction);
    }
    const auto slow = ParseMicroseconds(text);
    ASSERT_TRUE(slow && slow->plain) << text;
    EXPECT_EQ(slow->ns, expected) << text;
    const std::string padded = Padded(text);
    int64_t fast = 0;
    const char* const end = ReadPlainMicroseconds(padded.data(), fast);
    if (end == nullptr) continue;  // beyond the fast one's range
    EXPECT_EQ(end, padded.data() + text.size()) << text;
    EXPECT_EQ(fast, expected) << text;
  }
}

TEST(ParseMicroseconds, IsExactWhereADoubleIsNot) {
  EXPECT_EQ(ParseMicroseconds("1712196086123456.789")->ns, 1712196086123456789);
  EXPECT_EQ(ParseMicroseconds("1.7600000000000001e3")->ns, 1760000);
  EXPECT_FALSE(ParseMicroseconds("1.76e3")->plain);
  EXPECT_EQ(ParseMicroseconds("2.5e-3")->ns, 2);  // half to even
  EXPECT_EQ(ParseMicroseconds("3.5e-3")->ns, 4);
  EXPECT_EQ(ParseMicroseconds("0.0005")->ns, 0);
  EXPECT_EQ(ParseMicroseconds("0.00051")->ns, 1);
  EXPECT_EQ(ParseMicroseconds("-12.5")->ns, -12500);
  EXPECT_EQ(ParseMicroseconds(".5")->ns, 500);
  EXPECT_EQ(ParseMicroseconds("0.-05")->ns, -5);
  EXPECT_EQ(ParseMicroseconds("0.-234")->ns, -234);
  EXPECT_EQ(ParseMicroseconds("-1.-234")->ns, -1234);
  EXPECT_EQ(ParseMicroseconds("0e999999999")->ns, 0);
}

TEST(ParseMicroseconds, RefusesWhatIsNoTime) {
  for (const char* text : {"", "-", ".", "nan", "inf", "1x", "1e", "1e400", "99999999999999999999",
                           "0x10", "1 ", "9223372036854775.-999"}) {
    EXPECT_EQ(ParseMicroseconds(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tacho::kineto
