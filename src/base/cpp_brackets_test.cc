#include "base/cpp_brackets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "base/cpp_name_for_test.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;

// `text` with "[" and "]" for the angles that are brackets.
std::string Seen(std::string_view text) {
  const CppBrackets brackets(text);
  std::string seen(text);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '<' || !brackets.Opens(i)) continue;
    seen[i] = '[';
    if (brackets.End(i) != std::string_view::npos) seen[brackets.End(i) - 1] = ']';
  }
  return seen;
}

TEST(CppBrackets, AngleIsBracketOrOperator) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"f<int, g<3>>(a<b>)", "f[int, g[3]](a[b])"},
      {"f<int, g<3> >", "f[int, g[3] ]"},
      // GNU: operands in brackets.
      {"e<(((8)>(0)))&&v<T>::x, void>::type", "e[(((8)>(0)))&&v[T]::x, void]::type"},
      {"e<(8)<(0)>::type", "e[(8)<(0)]::type"},
      {"e<(8)>>(1)>::type", "e[(8)>>(1)]::type"},
      {"e<ns::x<(0), void>::type f<int>(int)", "e[ns::x<(0), void]::type f[int](int)"},
      {"f<(x->y), (Kind)1>", "f[(x->y), (Kind)1]"},
      // LLVM: spaces.
      {"e<8 < 0 && (8 > 0), void>::type f<int>", "e[8 < 0 && (8 > 0), void]::type f[int]"},
      {"e<(v<T>(x) > 0)>", "e[(v[T](x) > 0)]"},
      // NVIDIA: neither brackets nor spaces.
      {"e<T2>(int)0&&v<T1>::x, void>::type", "e[T2>(int)0&&v[T1]::x, void]::type"},
      {"e<T2<(int)4, void>::type f<int>(T1)", "e[T2<(int)4, void]::type f[int](T1)"},
      {"e<T2>=(int)4, void>::type f<int>(T1)", "e[T2>=(int)4, void]::type f[int](T1)"},
      {"e<T2>T3&&T1>>(int)2, T1<<(int)2>", "e[T2>T3&&T1>>(int)2, T1<<(int)2]"},
      {"e<sizeof(T1)<(unsigned long)4, void>::type", "e[sizeof(T1)<(unsigned long)4, void]::type"},
      {"e<n<T1>::value<(int)4, void>::type f()", "e[n[T1]::value<(int)4, void]::type f()"},
      {"e<T2>(T3+T4), void>::type f<int>()", "e[T2>(T3+T4), void]::type f[int]()"},
      {"e<T2>(int)-1>::type", "e[T2>(int)-1]::type"},
      {"e<g<T2>>(T3)", "e[g[T2]](T3)"},
      {"f<void (*)(int), g<int>(*)(int)>(T2)", "f[void (*)(int), g[int](*)(int)](T2)"},
      // Names of unnamed things.
      {"f<<unnamed>::g<int>, <unnamed>::h>", "f[[unnamed]::g[int], [unnamed]::h]"},
      {"f(int)::<lambda(auto:1)>::operator()<int>", "f(int)::[lambda(auto:1)]::operator()[int]"},
      {"f<g()::[lambda(a<b>) (instance 1)]>", "f[g()::[lambda(a[b]) (instance 1)]]"},
      // Operators by name.
      {"operator<", "operator<"},
      {"operator< <int>(a<b>)", "operator< [int](a[b])"},
      {"operator<<int>(int)", "operator<[int](int)"},
      {"operator<<<int>(int)", "operator<<[int](int)"},
      {"f<&(ns::operator>), &operator->, int>", "f[&(ns::operator>), &operator->, int]"},
      {"operator ()<int>(a)", "operator ()[int](a)"},
      {"my_operator<int>", "my_operator[int]"},
      // Text that is cut off, and text that is not C++.
      {"f<int, g<3>, h<(Kind)1", "f[int, g[3], h[(Kind)1"},
      {"f<int, g<3>, h<(Kin", "f[int, g[3], h[(Kin"},
      {"Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"},
      {"a < b", "a < b"},
      {"a > b", "a > b"},
      {"<>", "<>"},
      {"><", "><"},
  };
  for (const auto& [name, want] : kNames) EXPECT_EQ(Seen(name), want);
}

TEST(CppBrackets, RoundTrip) {
  std::mt19937 random(3);
  for (int i = 0; i < 10'000; ++i) {
    const CppNameForTest name([&](size_t n) { return random() % n; });
    const CppBrackets brackets(name.text());
    for (size_t at = 0; at < name.text().size(); ++at) {
      const auto end = name.ends().find(at);
      ASSERT_EQ(brackets.End(at), end == name.ends().end() ? 0 : end->second)
          << Seen(name.text()) << "\nat " << at << ": " << name.text().substr(at);
    }
  }
}

TEST(CppBrackets, PairsNest) {
  std::mt19937 random(5);
  const std::string_view pieces[] = {"<",  ">",  "(",        ")",   "[",        "]", "{",
                                     "}",  "T2", "(int)0",   ",",   " ",        "a", "-",
                                     "->", "::", "operator", "(a)", "<unnamed>"};
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (size_t n = random() % 24; n > 0; --n) text += pieces[random() % std::size(pieces)];
    const CppBrackets brackets(text);
    std::vector<size_t> open;
    for (size_t at = 0; at < text.size(); ++at) {
      while (!open.empty() && open.back() == at) open.pop_back();
      if (!brackets.Opens(at)) continue;
      const size_t end = std::min(brackets.End(at), text.size());
      ASSERT_GT(end, at) << text;
      if (brackets.End(at) != std::string_view::npos && !open.empty()) {
        ASSERT_LE(end, open.back()) << text;
      }
      if (brackets.End(at) != std::string_view::npos) open.push_back(end);
    }
  }
}

TEST(CppBrackets, TimeIsLinear) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::string_view piece : {"a<", "<", ">", "(", "a<(b)", "T2<(int)0", "T2>(a)",
                                       "<unnamed>", "operator", "a<b>(c)>", "->", "o", "(>"}) {
    std::string text;
    while (text.size() < 300'000) text += piece;
    CppBrackets{text};
    SplitArguments(text);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

TEST(SplitArguments, AtCommasOutsideOfBrackets) {
  EXPECT_THAT(SplitArguments(""), ElementsAre());
  EXPECT_THAT(SplitArguments(" int ,g<3, 4>, (a,b)"), ElementsAre("int", "g<3, 4>", "(a,b)"));
  EXPECT_THAT(SplitArguments("&operator,, T2>(int)0&&g<T1, T2>::x, void"),
              ElementsAre("&operator,", "T2>(int)0&&g<T1, T2>::x", "void"));
  EXPECT_THAT(SplitArguments("a, b<c, d"), ElementsAre("a", "b<c, d"));
}

}  // namespace
}  // namespace tacho
