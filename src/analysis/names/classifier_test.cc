#include "analysis/names/classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/scope_for_test.h"
#include "base/json_text.h"
#include "support/corpus.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

std::string CategoryOf(const Classifier& classifier, std::string_view kernel) {
  return classifier.categories()[classifier.OfKernel(kernel)];
}

struct Named {
  std::string_view name, category;
};

// Names as they are in traces and in the sources of their projects.
constexpr Named kKernels[] = {
    // Communication.
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, "
     "unsigned "
     "long, unsigned int**, unsigned long, unsigned long)",
     "comm.collective"},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "comm.collective"},
    {"ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)",
     "comm.collective"},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
     "comm.point_to_point"},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals, "
     "vllm::Signal*, __nv_bfloat16*, int, int)",
     "comm.collective"},
    {"void sglang::cross_device_reduce_2stage<half, 4>(sglang::RankData*)", "comm.collective"},
    {"void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<half> >(half*)",
     "comm.collective"},
    {"void "
     "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
     "trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8>(int)",
     "comm.fused"},
    {"void "
     "tensorrt_llm::kernels::ar_fusion::moe::moereduce_allreduce_fusion_kernel_oneshot_lamport<8>("
     "int)",
     "comm.fused"},
    {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, int*)", "comm.moe_all_to_all"},
    {"void dpsk::ep::internode::combine<(dpsk::ep::LowLatencyMode)0>(int)", "comm.moe_all_to_all"},
    {"void deep_ep::internode_ll::dispatch<true, false, 7168>(void*)", "comm.moe_all_to_all"},
    {"dpsk::ep::internode::cached_notify(int)", "comm.moe_all_to_all"},
    {"void deep_ep::intranode::notify_dispatch<8>(int const*)", "comm.moe_all_to_all"},
    {"void tensorrt_llm::kernels::mnnvl_throughput::moeA2ADispatchKernel<8>(int)",
     "comm.moe_all_to_all"},
    {"rcclGenericKernel(int)", "comm.collective"},
    // Names that contain words of communication but mean something else.
    {"_combined_routing_compute", "moe.routing"},
    {"_finalize_matmul_scatter_bf16", "moe.routing"},
    // KV cache. A template argument names a data type with "Fp8".
    {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char, "
     "(vllm::Fp8KVCacheDataType)1>(__nv_bfloat16 const*)",
     "kv_cache"},
    {"void vllm::concat_and_cache_mla_kernel<float, float, (vllm::Fp8KVCacheDataType)0>(float "
     "const*)",
     "kv_cache"},
    {"void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(void const*)", "kv_cache"},
    {"set_mla_kv_buffer_kernel", "kv_cache"},
    // State-space models before attention.
    {"_chunk_scan_fwd_kernel", "ssm"},
    {"_state_passing_fwd_kernel", "ssm"},
    {"void causal_conv1d_fwd_kernel<Causal_conv1d_fwd_kernel_traits<128, 4, true> >(int)", "ssm"},
    {"fused_recurrent_gated_delta_rule_fwd_kernel", "ssm"},
    {"_selective_scan_update_kernel", "ssm"},
    // Attention.
    {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
     "attention.core"},
    {"void "
     "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
     "CollectiveMainloop"
     "FwdSm90<2, cute::tuple<cute::C<1> > > > > >(int)",
     "attention.core"},
    {"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false> "
     ">(Flash_fwd_params)",
     "attention.core"},
    {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<1> >(int)",
     "attention.core"},
    {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<true, 2u>(int)", "attention.core"},
    {"kernel_unified_attention_2d", "attention.core"},
    {"_fwd_kernel", "attention.core"},
    {"_fwd_grouped_kernel_stage1", "attention.core"},
    {"_fwd_kernel_stage2", "attention.merge"},
    {"void vllm::paged_attention_v1_kernel<unsigned short, 128>(unsigned short*)",
     "attention.core"},
    {"void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, 128>(int)", "attention.merge"},
    {"void vllm::merge_attn_states_kernel<float, 128u>(float*)", "attention.merge"},
    {"reduce_segments", "attention.merge"},
    {"_ZN5aiter30fmha_fwd_hd128_bf16_causal_rtzE", "attention.core"},
    {"attn_fwd", "attention.core"},
    {"void flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64> >(int)",
     "attention.mla"},
    {"void sm90_fp8_paged_mqa_logits<1u, 64u>(int)", "attention.mla"},
    {"void get_mla_metadata_kernel(int)", "attention.metadata"},
    {"create_flashinfer_kv_indices_triton", "attention.metadata"},
    {"void "
     "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<int>::"
     "Params)",
     "attention.core"},
    // Experts.
    {"void vllm::moe::topkGatingSoftmax<8, 128, 4, 16>(float const*)", "moe.routing"},
    {"void moe::dev::routing::routingIndicesHistogramKernel<moe::dev::routing::KernelParams<float> "
     ">(int)",
     "moe.routing"},
    {"void moe_align_block_size_kernel<int>(int*)", "moe.routing"},
    {"fused_moe_kernel", "moe.gemm"},
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "moe.gemm"},
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN",
     "moe.gemm"},
    {"void "
     "cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<"
     "cute::tuple<int, int, int> > > >(int)",
     "moe.gemm"},
    {"void marlin_moe_wna16::Marlin<half, 1125899906842637l>(int)", "moe.gemm"},
    // Norms before quantisation, and a namespace that says more than the name.
    {"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)", "norm"},
    {"void layer_norm::ln_fwd_kernel<layer_norm::Kernel_traits<float> >(int)", "norm"},
    {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_"
     "S4_diiiiiiib",
     "norm"},
    {"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
     "norm"},
    {"std::enable_if<T2>(int)0&&vllm::_typeConvert<T1>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::BFloat16, (int)8>(T1 *)",
     "norm"},
    {"void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(int)",
     "quantize"},
    {"_per_token_group_quant_8bit", "quantize"},
    {"void "
     "tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantizationType)2, "
     "__nv_bfloat16, 32, true>(int)",
     "quantize"},
    // Matrix products.
    {"nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT", "gemm.dense"},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
     "gemm.dense"},
    {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn", "gemm.dense"},
    {"volta_sgemm_128x64_nn", "gemm.dense"},
    {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "gemm.dense"},
    {"void gemv2T_kernel_val<int, int, __nv_bfloat16, float>(int)", "gemm.dense"},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)", "gemm.dense"},
    {"void "
     "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(int)",
     "gemm.dense"},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1", "gemm.dense"},
    {"void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2>(int)", "gemm.dense"},
    {"_ZN2ck16kernel_gemm_xdlE", "gemm.dense"},
    {"void marlin::Marlin<half, 4>(int)", "gemm.low_bit"},
    {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<7168u, 2048u>(int)", "gemm.low_bit"},
    {"void "
     "cutlass::device_kernel<vllm::enable_sm90_or_later<cutlass::gemm::kernel::GemmUniversal<cute::"
     "tuple<"
     "int>, cutlass::gemm::collective::CollectiveMma<cutlass::float_e4m3_t> > > >(int)",
     "gemm.low_bit"},
    {"f4gemm_bf16_per1x32Fp4_tn_192x128", "gemm.low_bit"},
    {"_gemm_a8w8_blockscale_kernel", "gemm.low_bit"},
    // Convolutions.
    {"volta_scudnn_128x64_relu_interior_nn_v1", "conv"},
    {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(int)", "conv"},
    {"miopenSp3AsmConv_v30_3_1_gfx90a_fp16_fp32_f2x3_stride1", "conv"},
    {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32", "conv"},
    {"igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8", "conv"},
    // The rest.
    {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "rope"},
    {"void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>(int)", "activation"},
    {"_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_"
     "S5_EEEEvPS3_"
     "PS4_i",
     "activation"},
    {"void at::native::vectorized_elementwise_kernel<8, "
     "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
     "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda(c10::BFloat16)#1} >(int)",
     "activation"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::ArgMaxOps<float>, unsigned "
     "int, long, 4> >(int)",
     "sampling"},
    {"void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>(float*)", "sampling"},
    {"void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)", "sampling"},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, "
     "false>(float*)",
     "softmax"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::NormTwoOps<float>, unsigned "
     "int> >(int)",
     "reduce"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, "
     "1>(float*)",
     "index"},
    {"resolve_future_token_ids_kernel", "index.scheduler"},
    {"void at::native::(anonymous namespace)::chunk_cat_cuda_kernel<float, float>(float**)",
     "index"},
    {"fbgemm_gpu::_offsets_range_cuda_kernel<int>(long)", "embedding"},
    {"void fbgemm_gpu::_FP8rowwise_to_float_cuda_kernel<float>(unsigned char const*)", "quantize"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::"
     "FusedOptimizerTensorListMetadata<3>, at::native::(anonymous "
     "namespace)::FusedAdamMathFunctor<float, 4> "
     ">(int)",
     "optimizer"},
    // A lambda is no LAMB optimizer.
    {"void at::native::vectorized_elementwise_kernel<4, "
     "at::native::neg_kernel_cuda(at::TensorIteratorBase&)::"
     "{lambda()#2}::operator()() const::{lambda(float)#1} >(int)",
     "elementwise"},
    // TorchInductor.
    {"triton_poi_fused_add_mul_0", "fused"},
    {"triton_red_fused_add_mean_mul_pow_rsqrt_0", "norm"},
    {"triton_poi_fused__unsafe_view_mul_silu_2", "activation"},
    {"triton_poi_fused_constant_pad_nd_moe_forward_0", "fused"},
    {"triton_tem_fused_mm_3", "gemm.dense"},
    // Copies that run as kernels.
    {"__amd_rocclr_copyBuffer.kd", "memory.copy"},
    {"__amd_rocclr_fillBufferAligned", "memory.set"},
    // Names without any sign of a category.
    {"Kernel", "unclassified"},
    {"", "unclassified"},
};

TEST(Classifier, KnowsRealKernels) {
  for (const Named& kernel : kKernels) {
    EXPECT_EQ(CategoryOf(BuiltInRules(), kernel.name), kernel.category) << kernel.name;
  }
}

TEST(Classifier, KnowsOperators) {
  constexpr Named kOperators[] = {
      {"aten::addmm", "gemm.dense"},
      {"_C::onednn_mm", "gemm.dense"},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", "attention.core"},
      {"_C::cpu_attention_with_kv_cache", "attention.core"},
      {"_C::cpu_attn_reshape_and_cache", "kv_cache"},
      {"gloo:all_reduce", "comm.collective"},
      {"c10d::allreduce_", "comm.collective"},
      {"_C::shm_allreduce", "comm.collective"},
      {"aten::slice", "bookkeeping.view"},
      {"aten::native_layer_norm", "norm"},
      {"aten::linalg_vector_norm", "norm"},
      {"aten::normal_", "random"},
      {"aten::normal", "random"},
      {"aten::log_normal_", "random"},
      {"aten::normal_functional", "random"},
      {"aten::max", "reduce"},
      {"aten::maximum", "elementwise"},
      {"aten::max_pool2d_with_indices", "pool"},
      {"aten::copy_", "memory.copy"},
      {"my::thing", "unclassified"},
  };
  for (const Named& op : kOperators) {
    EXPECT_EQ(BuiltInRules().categories()[BuiltInRules().OfOperator(op.name)], op.category)
        << op.name;
  }
  EXPECT_TRUE(BuiltInRules().IsCommunication(BuiltInRules().OfOperator("gloo:broadcast")));
  EXPECT_FALSE(BuiltInRules().IsCommunication(BuiltInRules().OfOperator("aten::mm")));
  EXPECT_EQ(BuiltInRules().categories()[Classifier::kUnclassified], "unclassified");
}

TEST(Classifier, WrappersAreOperatorsThatOnlyCall) {
  for (const std::string_view name :
       {"aten::linear", "aten::scaled_dot_product_attention", "aten::_to_copy", "aten::relu_",
        "vllm::unified_attention_with_output", "sglang::moe_forward", "Torch-Compiled Region: 0/1",
        "autograd::engine::evaluate_function: AddmmBackward0", "SoftmaxBackward0", "my norm"}) {
    EXPECT_TRUE(BuiltInRules().IsWrapper(name)) << name;
  }
  for (const std::string_view name :
       {"aten::addmm", "aten::linear_backward", "aten::copy_", "aten::as_strided", "my::thing",
        "aten::_scaled_dot_product_flash_attention_for_cpu", "aten::native_layer_norm_backward",
        "_C::onednn_mm", "sgl_kernel::weight_packed_linear", "mkldnn::_linear_pointwise",
        "## Call CompiledFxGraph fd2t2djtxp3x57fon ##"}) {
    EXPECT_FALSE(BuiltInRules().IsWrapper(name)) << name;
  }
}

TEST(Classifier, APatternMayAskForWhatANameDoesNotHave) {
  const auto classifier = Classifier::Create("plain op !::\nother op !^aten::* | ^aten::mm$\n");
  ASSERT_TRUE(classifier.has_value()) << classifier.error().message;
  const auto of = [&](std::string_view name) {
    return classifier->categories()[classifier->OfOperator(name)];
  };
  EXPECT_EQ(of("range"), "plain");
  EXPECT_EQ(of("my::op"), "other");
  EXPECT_EQ(of("aten::mm"), "other");
  EXPECT_EQ(of("aten::addmm"), "gemm.dense");
}

TEST(Classifier, UserRulesComeFirst) {
  const auto classifier = Classifier::Create(
      "# mine\n"
      "\n"
      "attention.ours  key  ^ampere_sgemm_*_tn$\n"
      "   | ^my_attention | other*thing\r\n"
      "comm  full  MyExchange<*8\n"
      "unclassified key ^volta_\n");
  ASSERT_TRUE(classifier.has_value()) << classifier.error().message;
  EXPECT_EQ(CategoryOf(*classifier, "ampere_sgemm_128x64_tn"), "attention.ours");
  EXPECT_EQ(CategoryOf(*classifier, "ampere_sgemm_128x64_tn_2"), "gemm.dense");
  EXPECT_EQ(CategoryOf(*classifier, "void x::My_Attention<3>(int)"), "attention.ours");
  EXPECT_EQ(CategoryOf(*classifier, "OTHER_big_THING"), "attention.ours");
  EXPECT_EQ(CategoryOf(*classifier, "void MyExchange<int, 8>(float*)"), "comm");
  EXPECT_TRUE(classifier->IsCommunication(classifier->OfKernel("void MyExchange<int, 8>(float*)")));
  EXPECT_EQ(CategoryOf(*classifier, "void MyExchange<int, 4>(float*)"), "unclassified");
  EXPECT_EQ(CategoryOf(*classifier, "volta_sgemm_128x64_nn"), "unclassified");
}

TEST(Classifier, ErrorsNameTheLine) {
  const auto message = [](std::string_view rules) {
    const auto classifier = Classifier::Create(rules);
    return classifier.has_value() ? std::string("no error") : classifier.error().message;
  };
  EXPECT_THAT(message("# x\n\ngemm name foo\n"),
              HasSubstr("rule line 3: expected key, full or op"));
  EXPECT_THAT(message("gemm\n"), HasSubstr("rule line 1: expected key, full or op"));
  EXPECT_THAT(message("GEMM key foo"), HasSubstr("\"GEMM\" is not a category"));
  EXPECT_THAT(message("a.b.c key foo"), HasSubstr("is not a category"));
  EXPECT_THAT(message("gemm key\n"), HasSubstr("rule line 1: expected a pattern"));
  EXPECT_THAT(message("gemm key foo | | bar"), HasSubstr("expected a pattern"));
  EXPECT_THAT(message("gemm key foo |"), HasSubstr("expected a pattern"));
  EXPECT_THAT(message("gemm key ^*"), HasSubstr("expected a pattern"));
  EXPECT_THAT(message("gemm key !*"), HasSubstr("expected a pattern"));
  EXPECT_THAT(message("| foo"), HasSubstr("rule line 1: a line that begins with"));
  EXPECT_EQ(Classifier::Create("x").error().kind, ErrorKind::kUsage);
}

// The kernel table of an oracle file: each name and its total time.
std::vector<std::pair<std::string, int64_t>> OracleKernels(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::pair<std::string, int64_t>> kernels;
  size_t at = text.find("\"table\":", text.find("\"kernels\":"));
  const bool empty = text.compare(at, 11, "\"table\": []") == 0;
  while (!empty) {
    const size_t name = text.find("\"name\": \"", at) + 9;
    size_t end = name;
    while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    const size_t sum = text.find("\"sum_ns\": ", end) + 10;
    kernels.emplace_back(UnescapeJson(std::string_view(text).substr(name, end - name)),
                         std::stoll(text.substr(sum, 20)));
    at = text.find_first_not_of(" \n", text.find('}', sum) + 1);
    if (text[at] != ',') break;
  }
  return kernels;
}

TEST(Classifier, CoversTheCorpus) {
  if (!HasCorpus()) GTEST_SKIP() << NoCorpus();
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CorpusFolder())) {
    const std::string path = entry.path().string();
    // The sqlite files have names of hydrodynamics kernels, and the example in a note has
    // meaningless names.
    if (!path.ends_with(".oracle.json") || path.find(".sqlite") != std::string::npos ||
        path.find("docs_traces_after_fix") != std::string::npos) {
      continue;
    }
    int64_t total = 0, unclassified = 0, communication = 0;
    for (const auto& [name, ns] : OracleKernels(entry.path())) {
      const WorkCategory category = BuiltInRules().OfKernel(name);
      total += ns;
      if (category == Classifier::kUnclassified) unclassified += ns;
      if (BuiltInRules().IsCommunication(category)) communication += ns;
    }
    if (total == 0) continue;
    ++files;
    EXPECT_EQ(unclassified, 0) << path << " of " << total;
    if (path.find("b200/eager_trace") != std::string::npos) {
      EXPECT_EQ(communication, 2'119'548 + 21'953)
          << "multimem_all_reduce (19.5 %) and one AllGather";
    }
    if (path.find("mi300") != std::string::npos) {
      EXPECT_EQ(communication, 0) << path;
    }
  }
  EXPECT_GE(files, 20u);
}

TEST(Classifier, RejectsMoreCategoriesThanItHasNumbers) {
  std::string rules;
  for (int i = 0; i < 70'000; ++i) {
    rules += "c" + std::to_string(i) + " key name" + std::to_string(i) + "\n";
  }
  const auto classifier = Classifier::Create(rules);
  ASSERT_FALSE(classifier);
  EXPECT_EQ(classifier.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace tacho
