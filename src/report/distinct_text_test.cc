#include "report/distinct_text.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "report/visible_text.h"

namespace tacho {
namespace {

using Texts = std::vector<std::string>;

TEST(ShownKernelNames, AreShortWhereThatTellsThemApart) {
  EXPECT_EQ(ShownKernelNames({"void ns::f<ns::g<3>, 4>(int)", "void ns::h<1>(int)"}, {}),
            (Texts{"ns::f<g, 4>", "ns::h<1>"}));
}

TEST(ShownKernelNames, TwoKernelsNeverShareOne) {
  EXPECT_EQ(ShownKernelNames({"void f<ns::g<3> >(int)", "void f<ns::g<4> >(int)", "h"}, {}),
            (Texts{"void f<ns::g<3> >(int)", "void f<ns::g<4> >(int)", "h"}));
  // The mangled and the demangled name of one function.
  EXPECT_EQ(ShownKernelNames({"_Z1fi", "f(int)"}, {}), (Texts{"_Z1fi", "f(int)"}));
  EXPECT_EQ(ShownKernelNames({"f", "f"}, {}), (Texts{"f", "f"}));
}

TEST(FitDistinct, CutsAsFitTextWhereThatTellsThemApart) {
  const Texts texts = {"alpha_kernel_of_a_long_name", "beta", "alpha_kernel_of_a_long_name"};
  const Texts fitted = FitDistinct(texts, texts, 12, true);
  EXPECT_EQ(fitted, (Texts{FitText(texts[0], 12), "beta", FitText(texts[0], 12)}));
}

TEST(FitDistinct, ShowsWhereNamesDiffer) {
  const Texts texts = {"elementwise_kernel<4, FillFunctor<int>, Array>(int)",
                       "elementwise_kernel<4, MulFunctor<float>, Array>(int)"};
  EXPECT_EQ(FitDistinct(texts, texts, 24, true),
            (Texts{"elementw…FillFuncto…int)", "elementw…MulFunctor…int)"}));
}

TEST(FitDistinct, NumbersWhatCannotBeToldApart) {
  // Two names that differ in bytes that are not UTF-8 look the same at any width.
  EXPECT_EQ(FitDistinct({"a\xff", "a\xfe"}, {"a?", "a?"}, 10, false), (Texts{"a?", "a?~2"}));
}

TEST(FitDistinct, RandomNamesStayDistinctAndNarrow) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Texts texts(1 + random() % 30);
    for (std::string& text : texts) {
      text = std::string(random() % 3 * 20, 'p');
      for (size_t i = random() % 6; i > 0; --i) text += random() % 5 == 0 ? "é" : "a";
      text += std::string(random() % 3 * 20, 's');
    }
    const size_t width = 12 + random() % 20;
    const bool unicode = random() % 2 == 0;
    const Texts fitted = FitDistinct(texts, texts, width, unicode);
    const std::set<std::string> cells(texts.begin(), texts.end());
    EXPECT_EQ(std::set<std::string>(fitted.begin(), fitted.end()).size(), cells.size());
    for (const std::string& text : fitted) EXPECT_LE(DisplayWidth(text), width) << text;
  }
}

}  // namespace
}  // namespace tacho
