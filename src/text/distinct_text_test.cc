#include "text/distinct_text.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "text/visible_text.h"

namespace tacho {
namespace {

using Texts = std::vector<std::string>;

TEST(FitDistinct, CutsAsFitTextWhereThatTellsThemApart) {
  const Texts texts = {"alpha_kernel_of_a_long_name", "beta", "alpha_kernel_of_a_long_name"};
  const Texts fitted = FitDistinct(texts, texts, 12, true);
  EXPECT_EQ(fitted, (Texts{FitText(texts[0], 12), "beta", FitText(texts[0], 12)}));
}

TEST(FitDistinct, ShowsWhereNamesDiffer) {
  const Texts texts = {"elementwise_kernel<4, FillFunctor<int>, Array>(int)",
                       "elementwise_kernel<4, MulFunctor<float>, Array>(int)"};
  EXPECT_EQ(FitDistinct(texts, texts, 28, true),
            (Texts{"elemen…el<…FillFunctor<int…>", "elemen…el<…MulFunctor<floa…>"}));
}

TEST(FitDistinct, NumbersWhatCannotBeToldApart) {
  // Two names that differ in bytes that are not UTF-8 look the same at any width.
  EXPECT_EQ(FitDistinct({"a\xff", "a\xfe"}, {"a?", "a?"}, 10, false), (Texts{"a?", "a?~2"}));
}

TEST(FitDistinct, ManyNamesThatDifferLateCostLittle) {
#ifdef TACHO_SANITIZED
  constexpr size_t kNames = 1'000;  // 3,000 take half a minute
#else
  constexpr size_t kNames = 3'000;
#endif
  Texts texts;
  for (size_t i = 0; i < kNames; ++i) texts.push_back("kernel<" + std::string(i, 'a') + "b>");
  const Texts fitted = FitDistinct(texts, texts, 30, true);
  EXPECT_EQ(std::set<std::string>(fitted.begin(), fitted.end()).size(), texts.size());
}

}  // namespace
}  // namespace tacho
