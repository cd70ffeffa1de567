#include "report/words/kernel_names.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "text/distinct_text.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using Texts = std::vector<std::string>;

TEST(ShownKernelNames, AreShortWhereThatTellsThemApart) {
  EXPECT_EQ(ShownKernelNames({"void ns::f<ns::g<3>, 4>(int)", "void ns::h<1>(int)"}, {}),
            (Texts{"ns::f<g, 4>", "ns::h<1>"}));
}

TEST(ShownKernelNames, TwoKernelsNeverShareOne) {
  EXPECT_EQ(ShownKernelNames({"void f<ns::g<3> >(int)", "void f<ns::g<4> >(int)", "h"}, {}),
            (Texts{"f<g<3>>", "f<g<4>>", "h"}));
  EXPECT_EQ(ShownKernelNames({"void f<a::g>(int)", "void f<b::g>(int)"}, {}),
            (Texts{"f<a::g>", "f<b::g>"}));
  EXPECT_EQ(ShownKernelNames({"void f(int)", "void f(char)"}, {}),
            (Texts{"void f(int)", "void f(char)"}));
  // The mangled and the demangled name of the same function.
  EXPECT_EQ(ShownKernelNames({"_Z1fi", "f(int)"}, {}), (Texts{"_Z1fi", "f(int)"}));
  EXPECT_EQ(ShownKernelNames({"f", "f"}, {}), (Texts{"f", "f"}));
}

// Kernels of DeepEP, of one CUTLASS library, of DeepGEMM and of ck_tile.
TEST(FitDistinct, KernelsKeepWhatTellsThemApart) {
  const auto gemm = [](std::string name) {
    return "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::" + name +
           "::GemmKernel>(dpsk::grouped_gemm::cuda::" + name + "::GemmKernel::Params)";
  };
  const auto deep_gemm = [](int type) {
    return "void dpsk::gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 128u, 128u, 5u, 128u, 128u, 2u, "
           "(dpsk::gemm::GemmType)" +
           std::to_string(type) + ">(__nv_bfloat16*, float*, int*)";
  };
  const auto norm = [](int fused) {
    return "void ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<ck_tile::Rmsnorm2dFwdPipelineOnePass<"
           "ck_tile::Rmsnorm2dFwdTraits<true, false, (ck_tile::Rmsnorm2dFusedAddEnum)" +
           std::to_string(fused) + "> >, ck_tile::Default2DEpilogue<float> >, ck_tile::Kargs>(int)";
  };
  const Texts names = {"void dpsk::ep::internode::notify_dispatch<false, 4>(int const*)",
                       "void dpsk::ep::internode::dispatch<false, 4, false, 4>(int4*, float*)",
                       "void dpsk::ep::internode::dispatch<true, 4, false, 4>(int4*, float*)",
                       "void dpsk::ep::internode::combine<false, 4, __nv_bfloat16, 4, 4, 16, 24>()",
                       "void dpsk::ep::internode::cached_notify<false>(int, int, int)",
                       gemm("fp8_ptp128c_outfmt_head"),
                       gemm("fp8_ptp128c"),
                       gemm("fp8_dptp128c_acc"),
                       deep_gemm(0),
                       deep_gemm(1),
                       norm(0),
                       norm(1)};
  const Texts shown = ShownKernelNames({names.begin(), names.end()}, {});
  EXPECT_EQ(FitDistinct(names, shown, 34, true),
            (Texts{"…notify_dispatch<false, 4>", "…dispatch<false, 4, false, 4>",
                   "…dispatch<true, 4, false, 4>", "…combine<…, 4, __nv_bfloat16, …>",
                   "…internode::cached_notify<false>", "…device_kernel<…fp8_ptp128c_outf…>",
                   "…device_kernel<…fp8_ptp128c::Gem…>", "…device_kernel<…fp8_dptp128c_acc…>",
                   "…fp8_gemm_kernel<…, (GemmType)0>", "…fp8_gemm_kernel<…, (GemmType)1>",
                   "…kentry<…0>>, Default2DEpilogue<…>", "…kentry<…1>>, Default2DEpilogue<…>"}));
  const Texts narrow = FitDistinct(names, shown, 20, true);
  EXPECT_EQ(narrow[0], "…notify_dispatch<…>");
  EXPECT_EQ(narrow[1], "…dispatch<false, …>");
  const Texts in_file = FitDistinct(names, shown, kShortName, true);
  EXPECT_EQ(in_file[5], "…device_kernel<…cuda::fp8_ptp128c_outfmt_head::GemmKernel>");
  EXPECT_EQ(in_file[9], "…fp8_gemm_kernel<4096u, 7168u, 128u, 128u, …, (GemmType)1>");
  EXPECT_EQ(in_file[11], "…kentry<…(Rmsnorm2dFusedAddEnum)1>>, Default2DEpilogue<flo…>");
}

TEST(FitDistinct, RandomNamesStayDistinctAndNarrow) {
  std::mt19937 random(7);
  const Texts words = {"a",  "b",   "kernel", "é",     "<",    ">",   "::",     ", ", "(x::Kind)1",
                       "_Z", "1fi", "(int)",  "void ", "ns::", "(",   ")",      "~2", "\xff",
                       "g<", "> ",  "{lam}",  "…",     "",     "aaa", "kernel<"};
  for (int round = 0; round < 600; ++round) {
    Texts names(1 + random() % 30);
    const std::string same(random() % 3 * 20, 'p');
    for (std::string& name : names) {
      name = random() % 2 == 0 ? same : "";
      for (size_t i = random() % 12; i > 0; --i) name += words[random() % words.size()];
      name += std::string(random() % 3 * 20, 's');
    }
    const size_t width = 12 + random() % 30;
    const bool unicode = random() % 2 == 0;
    const Texts shown = ShownKernelNames({names.begin(), names.end()}, {});
    const std::set<std::string> different(names.begin(), names.end());
    EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), different.size());
    for (const Texts* texts : std::initializer_list<const Texts*>{&names, &shown}) {
      const Texts fitted = FitDistinct(names, *texts, width, unicode);
      EXPECT_EQ(std::set<std::string>(fitted.begin(), fitted.end()).size(), different.size());
      for (const std::string& text : fitted) EXPECT_LE(DisplayWidth(text), width) << text;
    }
  }
}

}  // namespace
}  // namespace tacho
