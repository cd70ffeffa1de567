#include "text/fit_name.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

TEST(FitName, KeepsTheFunctionAndWhatItsArgumentsSay) {
  const std::string name = "dpsk::ep::internode::dispatch<false, 4, ns::Bf16, 24>";
  EXPECT_EQ(FitName(name, 53, true), name);
  EXPECT_EQ(FitName(name, 50, true), "…ep::internode::dispatch<false, 4, ns::Bf16, 24>");
  EXPECT_EQ(FitName(name, 34, true), "…dispatch<false, 4, ns::Bf16, 24>");
  EXPECT_EQ(FitName(name, 30, true), "…dispatch<…, 4, ns::Bf16, 24>");
  EXPECT_EQ(FitName(name, 25, true), "…dispatch<…, ns::Bf16, …>");
  EXPECT_EQ(FitName(name, 24, true), "…dispatch<false, 4, …>");
  EXPECT_EQ(FitName(name, 13, true), "…dispatch<…>");
  EXPECT_EQ(FitName(name, 10, true), "…dispatch…");
  EXPECT_EQ(FitName(name, 6, true), "disp…h");
  EXPECT_EQ(FitName(name, 24, false), "...dispatch<false, ...>");
  EXPECT_EQ(FitName("f<ns::Rmsnorm<ns::Pipeline<3>, 4>, 8>", 22, true), "f<…Rmsnorm<…, 4>, 8>");
  EXPECT_EQ(FitName("f<std::vector<int, ns::Allocator<int>>>", 20, true), "f<…vector<int, …>>");
}

TEST(FitName, LeavesOtherNamesToFitText) {
  for (const std::string name :
       {"Memcpy HtoD (Pageable -> Device)", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256",
        "operator<<", "a<b", "a(b"}) {
    for (size_t width = 0; width < 40; ++width) {
      EXPECT_EQ(FitName(name, width, true), FitText(name, width, true));
    }
  }
}

TEST(FitNameFrom, ShowsTheNameAndWhatDiffers) {
  const std::string name = "cutlass::device_kernel<dpsk::gemm::fp8_ptp128c_acc::GemmKernel>";
  const size_t at = name.find("acc");
  EXPECT_EQ(TokenBegin(name, at), name.find("fp8_"));
  EXPECT_EQ(FitNameFrom(name, TokenBegin(name, at), 48, true),
            "…device_kernel<…fp8_ptp128c_acc::GemmKernel>");
  EXPECT_EQ(FitNameFrom(name, TokenBegin(name, at), 28, true), "…device_kernel<…fp8_ptp128…>");
  const std::string value = "f<ns::g, (Kind)1, (Kind)2>";
  EXPECT_EQ(TokenBegin(value, value.find('2')), value.rfind('('));
}

TEST(FitName, AnyTextStaysNarrow) {
  std::mt19937 random(11);
  const std::string_view alphabet = "ab_Z9::<<>>(){}[],, *&-é漢\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (size_t n = random() % 60; n > 0; --n) name += alphabet[random() % alphabet.size()];
    const size_t width = random() % 40;
    const bool unicode = random() % 2 == 0;
    EXPECT_LE(DisplayWidth(FitName(name, width, unicode)), width) << name;
    const size_t from = random() % (name.size() + 1);
    EXPECT_LE(DisplayWidth(FitNameFrom(name, from, width, unicode)), width) << name;
    EXPECT_LE(TokenBegin(name, from), from);
  }
}

TEST(FitName, DeepNamesCostLittle) {
  std::string name;
  for (int i = 0; i < 20'000; ++i) name += "ns::f<1, ";
  name += std::string(20'000, '>');
  EXPECT_LE(DisplayWidth(FitName(name, 100, true)), 100u);
}

}  // namespace
}  // namespace tacho
