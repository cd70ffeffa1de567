#include "analysis/names/kernel_name.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/names/classifier.h"
#include "base/cpp_brackets.h"
#include "base/cpp_name_for_test.h"
#include "base/utf8.h"

namespace tacho {
namespace {

std::string Key(std::string_view name) { return ParseKernelName(DemangledName(name)).Key(); }

TEST(KernelName, KeyHasNoTypesAndParameters) {
  EXPECT_EQ(Key("void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*, long)"),
            "vllm::rms_norm_kernel");
  EXPECT_EQ(Key("at::cuda::(anonymous namespace)::spin_kernel(long)"), "at::cuda::spin_kernel");
  EXPECT_EQ(
      Key("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
          "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)"),
      "vllm::fused_add_rms_norm_kernel");
  EXPECT_EQ(
      Key("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, (cudaError)2>(int)"),
      "internal::gemvx::kernel");
  EXPECT_EQ(Key("unsigned long ns::f<(1)<(2), (x->y)>(int) [clone .kd]"), "ns::f");
  EXPECT_EQ(Key("void f(int)::{lambda(float)#1}::operator()<int>(float) const"),
            "f::{lambda(float)#1}::operator()");
  EXPECT_EQ(Key("ns::X::operator bool() const"), "ns::X::operator bool");
  EXPECT_EQ(Key("bool ns::operator<<int>(int, int)"), "ns::operator<");
  EXPECT_EQ(Key("bool ns::operator< <int>(int, int)"), "ns::operator<");
  EXPECT_EQ(Key("ns::X::operator unsigned int() const"), "ns::X::operator unsigned int");
}

TEST(KernelName, AsNsysWritesIt) {
  EXPECT_EQ(Key("std::enable_if<T2>(int)0&&vllm::_typeConvert<T1>::exists, void>::type "
                "vllm::fused_add_rms_norm_kernel<c10::BFloat16, (int)8>(T1 *)"),
            "vllm::fused_add_rms_norm_kernel");
  EXPECT_EQ(Key("std::enable_if<T3<(int)4, void>::type f<float, (int)8>(T1 *)"), "f");
  EXPECT_EQ(Key("void at::native::<unnamed>::CatArrayBatchedCopy<<unnamed>::X, (int)1>(T1 *)"),
            "at::native::CatArrayBatchedCopy");
  EXPECT_EQ(Key("void f<g(int)::[lambda(int) (instance 1)]>(T1)"), "f");
  EXPECT_EQ(
      ShortKernelName("void at::native::elementwise_kernel<(int)128, (int)2, void "
                      "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
                      "at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() "
                      "const::[lambda(float) (instance 1)]>(at::TensorIteratorBase &, const "
                      "T1 &)::[lambda(int) (instance 1)]>(int, T3)"),
      "at::native::elementwise_kernel<(int)128, (int)2, direct_copy_kernel_cuda>");
}

TEST(KernelName, RoundTrip) {
  std::mt19937 random(11);
  for (int i = 0; i < 10'000; ++i) {
    const CppNameForTest made([&](size_t n) { return random() % n; });
    std::vector<CppNameForTest::Part> read;
    const KernelName name = ParseKernelName(made.text());
    for (const KernelName::Part& part : name.parts) {
      const std::vector<std::string_view> arguments = SplitArguments(part.arguments);
      read.push_back({std::string(part.name), {arguments.begin(), arguments.end()}});
    }
    ASSERT_EQ(read, made.parts()) << made.text() << "\nis read as " << name.Key();
  }
}

TEST(KernelName, NamesThatAreNoCppStayWhole) {
  for (const std::string_view name :
       {"Cijk_Alik_Bljk_BBS_BH", "triton_poi_fused_0", "Memcpy DtoD (Device -> Device)",
        "Memset (Device)", "## Call CompiledFxGraph x ##", "(", ")", "<", ">", "<>", "()", "{",
        "a<b", "a(b", "::", "a::", " "}) {
    EXPECT_EQ(ParseKernelName(name).whole.empty(), false) << name;
  }
  EXPECT_EQ(Key("Memcpy DtoD (Device -> Device)"), "Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(Key("## Call CompiledFxGraph x ##"), "## Call CompiledFxGraph x ##");
  EXPECT_EQ(Key("nvjet_tst_64x16"), "nvjet_tst_64x16");
  EXPECT_EQ(Key(""), "");
}

TEST(KernelName, Demangles) {
  EXPECT_EQ(DemangledName("_ZN2ns1fIiEEvPT_"), "void ns::f<int>(int*)");
  EXPECT_EQ(DemangledName("_ZN2ns1fIiEEvPT_.kd"), "void ns::f<int>(int*)");
  EXPECT_EQ(DemangledName("_ZN2ns1fIDF16bEEvPT_"), "void ns::f<__bf16>(__bf16*)");
  EXPECT_EQ(DemangledName("_Z"), "_Z");
  EXPECT_EQ(DemangledName("_Znot mangled"), "_Znot mangled");
  EXPECT_EQ(DemangledName("plain"), "plain");
  // Clang 18 writes names that older demanglers cannot read. At least the names at the front are
  // read.
  EXPECT_EQ(
      Key("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_EEEvPS3_i"),
      "sgl_hip::activation::act_and_mul_kernel");
  EXPECT_EQ(Key("_ZN99999999999999999999x"), "_ZN99999999999999999999x");
  EXPECT_EQ(Key("_ZN9x"), "_ZN9x");
}

TEST(ShortKernelName, KeepsWhatTells) {
  EXPECT_EQ(ShortKernelName(""), "");
  EXPECT_EQ(ShortKernelName("void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)"),
            "vllm::rms_norm_kernel<BFloat16, 8>");
  EXPECT_EQ(
      ShortKernelName("void cutlass::device_kernel<flash::enable_sm90<flash::Fwd<int> > >(int)"),
      "cutlass::device_kernel<enable_sm90>");
  EXPECT_EQ(ShortKernelName("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                            "at::native::func_wrapper_t<"
                            "float, at::native::sum_functor<float, "
                            "float>::operator()(at::TensorIterator&)::{lambda(float, "
                            "float)#1}>, unsigned int> >(at::native::ReduceOp<float>)"),
            "at::native::reduce_kernel<512, 1, sum_functor>");
  EXPECT_EQ(ShortKernelName(
                "void at::native::elementwise_kernel<128, 4, "
                "at::native::gpu_kernel_impl_nocast<at::native::"
                "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
                "const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, int "
                "const&)::{lambda(int)#1}>(int)"),
            "at::native::elementwise_kernel<128, 4, direct_copy_kernel_cuda>");
}

TEST(ShortKernelName, GrowsInSteps) {
  const std::string_view name =
      "void cutlass::device_kernel<ns::Gemm<4, ns::Tile<(ns::Kind)1> >::Kernel>(ns::Params)";
  EXPECT_EQ(ShortKernelName(name), "cutlass::device_kernel<Kernel>");
  EXPECT_EQ(NestedKernelName(name), "cutlass::device_kernel<Kernel>");
  EXPECT_EQ(WholeKernelName(name),
            "cutlass::device_kernel<ns::Gemm<4, ns::Tile<(ns::Kind)1> >::Kernel>");
  EXPECT_EQ(ShortKernelName("void f<a::b<(x::Kind)1>, (x::Kind)2>(int)"), "f<b, (Kind)2>");
  EXPECT_EQ(NestedKernelName("void f<a::b<(x::Kind)1>, (x::Kind)2>(int)"),
            "f<b<(Kind)1>, (Kind)2>");
}

TEST(ShortKernelName, AnyTextIsFine) {
  std::mt19937 random(7);
  const std::string_view alphabet = "ab_Z9:<>(){}[], *&-#é\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string name = i % 4 == 0 ? "_ZN" : "";
    for (size_t n = random() % 30; n > 0; --n) name += alphabet[random() % alphabet.size()];
    const size_t most = 2 * DemangledName(name).size();  // a blank after each comma
    for (const std::string& text :
         {ShortKernelName(name), NestedKernelName(name), WholeKernelName(name)}) {
      EXPECT_LE(text.size(), most) << name;
      EXPECT_TRUE(!IsUtf8(name) || IsUtf8(text)) << name;
    }
  }
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "a<";
  EXPECT_LE(NestedKernelName(deep).size(), 2 * deep.size());
  EXPECT_LE(NestedKernelName(deep + std::string(20'000, '>')).size(), 4 * deep.size());
}

}  // namespace
}  // namespace tacho
