#include <gtest/gtest.h>

#include <string_view>

#include "analysis/names/classifier.h"
#include "analysis/scope_for_test.h"

namespace tacho {
namespace {

struct Told {
  std::string_view kernel, category;
};

// Kernels with misleading names. The names are complete, as in traces or the projects' sources.
constexpr Told kMisleading[] = {
    // The kernels around experts.
    {"_fwd_kernel_ep_scatter_1", "moe.routing"},
    {"_fwd_kernel_ep_scatter_2", "moe.routing"},
    {"_fwd_kernel_ep_gather", "moe.routing"},
    {"deepep_post_reorder_triton_kernel", "moe.routing"},
    {"post_reorder_triton_kernel", "moe.routing"},
    {"pre_reorder_triton_kernel", "moe.routing"},
    {"compute_seg_indptr_triton_kernel", "moe.routing"},
    {"compute_src2dst_triton_kernel", "moe.routing"},
    {"void cuda::clean_and_count_expert<512>(int*, int*, int)", "moe.routing"},
    {"get_fused_mapping_kernel", "moe.routing"},
    {"reduce_fused_impl", "moe.routing"},
    {"_fwd_kernel", "attention.core"},
    // DeepGEMM, recognised by the last template argument or by one in the middle.
    {"void dpsk::gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 128u, 128u, 5u, 128u, 128u, 2u, ("
     "dpsk::gemm::GemmType)1>(__nv_bfloat16*, float*, int*, unsigned int, unsigned int, CUte"
     "nsorMap_st, CUtensorMap_st, CUtensorMap_st, CUtensorMap_st)",
     "moe.gemm"},
    {"void dpsk::gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 112u, 128u, 6u, 128u, 128u, 1u, ("
     "dpsk::gemm::GemmType)2>(__nv_bfloat16*, float*, int*, unsigned int, unsigned int, CUte"
     "nsorMap_st, CUtensorMap_st, CUtensorMap_st, CUtensorMap_st)",
     "moe.gemm"},
    {"void dpsk::gemm::fp8_gemm_kernel<7168u, 16384u, 128u, 128u, 128u, 5u, 128u, 128u, 2u, "
     "(dpsk::gemm::GemmType)0>(__nv_bfloat16*, float*, int*, unsigned int, unsigned int, CUt"
     "ensorMap_st, CUtensorMap_st, CUtensorMap_st, CUtensorMap_st)",
     "gemm.low_bit"},
    {"void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 160u, 128u, 0u, 64u, 9u, 4u, 128u,"
     " 128u, 1u, true, (deep_gemm::GemmType)1>(__nv_bfloat16*, float*, int*, unsigned int, C"
     "UtensorMap_st, CUtensorMap_st, CUtensorMap_st, CUtensorMap_st)",
     "moe.gemm"},
    {"void deep_gemm::fp8_gemm_kernel<24576u, 1536u, 256u, 128u, 128u, 0u, 128u, 1u, 3u, 128"
     "u, 128u, 2u, true, (deep_gemm::GemmType)0>(__nv_bfloat16*, float*, int*, unsigned int,"
     " CUtensorMap_st, CUtensorMap_st, CUtensorMap_st, CUtensorMap_st)",
     "gemm.low_bit"},
    {"_ZN9deep_gemm24sm100_fp8_gemm_1d1d_implILN4cute4UMMA5MajorE0ELS3_0ELj0ELj128ELj128ELj1"
     "28ELj16ELj128ELj1ELj128ELj128ELj32ELj1ELj0ELj128ELj128ELj1ELb1ELNS_8GemmTypeE1ELb0EN7c"
     "utlass10bfloat16_tEEEvPijjj14CUtensorMap_stS8_S8_S8_S8_S8_",
     "moe.gemm"},
    {"_ZN9deep_gemm24sm100_fp8_gemm_1d1d_implILN4cute4UMMA5MajorE0ELS3_0ELj0ELj128ELj512ELj1"
     "28ELj16ELj128ELj1ELj128ELj128ELj32ELj4ELj0ELj128ELj128ELj1ELb1ELNS_8GemmTypeE2ELb0EN7c"
     "utlass10bfloat16_tEEEvPijjj14CUtensorMap_stS8_S8_S8_S8_S8_",
     "moe.gemm"},
    {"_ZN9deep_gemm24sm100_fp8_gemm_1d1d_implILN4cute4UMMA5MajorE0ELS3_0ELj0ELj128ELj128ELj1"
     "28ELj16ELj128ELj1ELj128ELj128ELj32ELj1ELj0ELj128ELj128ELj1ELb1ELNS_8GemmTypeE0ELb0EN7c"
     "utlass10bfloat16_tEEEvPijjj14CUtensorMap_stS8_S8_S8_S8_S8_",
     "gemm.low_bit"},
    {"void deep_gemm::sm90_bf16_gemm_impl<(cute::UMMA::Major)0, (deep_gemm::GemmType)0>(int)",
     "gemm.dense"},
    // A namespace that says more than its kernels: it contains both dense and expert products.
    {"void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c_outfmt_head::GemmKer"
     "nel>(dpsk::grouped_gemm::cuda::fp8_ptp128c_outfmt_head::GemmKernel::Params)",
     "gemm.low_bit"},
    {"void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>(dpsk::g"
     "rouped_gemm::cuda::fp8_ptp128c::GemmKernel::Params)",
     "gemm.low_bit"},
    {"void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_dptp128c_acc::GemmKernel>(dp"
     "sk::grouped_gemm::cuda::fp8_dptp128c_acc::GemmKernel::Params)",
     "gemm.low_bit"},
    {"void dpsk::grouped_gemm::cuda::utils::transpose<512, 128, 4, 4>(int)", "elementwise"},
    // AITER and SageAttention.
    {"_batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_kernel_HAS_BI"
     "AS_0_BLOCK_SIZE_M_16_BLOCK_SIZE_N_128_BLOCK_SIZE_K_128_GROUP_SIZE_M_1_EVEN_K_1_cache_m"
     "odifier_CG_GRID_MN_8",
     "gemm.low_bit"},
    {"_gemm_a8w8_blockscale_kernel_GROUP_K_128_GROUP_N_128_BLOCK_SIZE_M_128_BLOCK_SIZE_N_128"
     "_BLOCK_SIZE_K_128_GROUP_SIZE_M_1_NUM_KSPLIT_1_SPLITK_BLOCK_SIZE_7168_EVEN_K_1_GRID_MN_"
     "17_cache_modifier_CG",
     "gemm.low_bit"},
    {"sage_fwd", "attention.core"},
    {"sage_fwd_mxfp4", "attention.core"},
    {"_sage_fwd_mask", "attention.core"},
    {"per_channel_cast_and_transpose_kernel", "quantize"},
    {"void ck_tile::kentry<2, ck_tile::MoeSortingKernel<ck_tile::MoeSortingProblemEx<int, fl"
     "oat, 2, true, false, false, true, 0> >, ck_tile::MoeSortingKernel<ck_tile::MoeSortingP"
     "roblemEx<int, float, 2, true, false, false, true, 0> >::Kargs>(ck_tile::MoeSortingKern"
     "el<ck_tile::MoeSortingProblemEx<int, float, 2, true, false, false, true, 0> >::Kargs)",
     "moe.routing"},
    // Convolutions whose names suggest matrix products.
    {"volta_cgemm_32x32_tn", "conv"},
    {"volta_cgemm_64x32_tn", "conv"},
    {"volta_gcgemm_64x32_nt", "conv"},
    {"volta_sgemm_128x128_tn", "gemm.dense"},
    {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3"
     "INS_28GridwiseGemm_xdl_cshuffle_v3INS_13tensor_layout4gemm8RowMajorENS6_11ColumnMajorE"
     "S7_ttfttNS0_12element_wise11PassThroughESA_SA_LNS1_18GemmSpecializationE7ELi128ELi16EL"
     "i32ELi64ELi8ELi8ELi16ELi16ELi1ELi1ENS_8SequenceIJLi8ELi16ELi1EEEENSC_IJLi1ELi0ELi2EEEE"
     "SE_Li2ELi8ELi8ELb0ELi0ESD_SE_SE_Li2ELi8ELi8ELb0ELi0ELi1ELi1ENSC_IJLi1ELi16ELi1ELi8EEEE"
     "Li4ELNS_26BlockGemmPipelineSchedulerE1ELNS_24BlockGemmPipelineVersionE0EttLb0ELb0EEENS"
     "_16TensorDescriptorINS_5TupleIJNS_5EmbedINSK_IJiiiiEEESM_Lb0EEENS_11PassThroughIiEENS_"
     "3PadIiiiLb0EEESR_SP_SP_NSL_INSK_IJiiEEESS_Lb0EEEST_SP_NS_23Merge_v2_magic_divisionINSK"
     "_IJiiiEEEEESW_NS_8RightPadIiiLb0EEESY_NS_7UnMergeISS_Lb0EEESP_EEENSK_IJNSC_IJLi0EEEENS"
     "C_IJLi1EEEENSC_IJLi2EEEENSC_IJLi3EEEENSC_IJLi4EEEENSC_IJLi5EEEENSC_IJLi6EEEENSC_IJLi7E"
     "EEENSC_IJLi8EEEENSC_IJLi9ELi11ELi13EEEENSC_IJLi10ELi12ELi14EEEENSC_IJLi15EEEENSC_IJLi1"
     "6EEEENSC_IJLi18EEEENSC_IJLi17EEEEEEENSK_IJNSC_IJLi1ELi2ELi3ELi4EEEES17_S18_S19_S1A_NSC"
     "_IJLi9EEEENSC_IJLi10ELi11EEEENSC_IJLi12ELi13EEEENSC_IJLi14EEEES1D_S1E_S1G_S1F_NSC_IJLi"
     "19ELi20EEEENSC_IJLi21EEEEEEENSC_IJLi19ELi21ELi20EEEElEENSJ_INSK_IJS10_SY_SY_S10_SP_EEE"
     "NSK_IJS12_S13_S14_S16_S15_EEENSK_IJNSC_IJLi1ELi2EEEES15_S16_NSC_IJLi5ELi6EEEES19_EEENS"
     "C_IJLi5ELi7ELi6EEEElEENSJ_INSK_IJST_SY_SY_NSZ_INSK_IJiNS_17integral_constantIiLi16EEEE"
     "EELb0EEENSZ_INSK_IJiNS1Z_IiLi32EEEEEELb0EEEEEENSK_IJS12_S13_S14_S15_S16_EEENSK_IJS1U_S"
     "15_S16_S1V_NSC_IJLi7ELi8EEEEEEENSC_IJLi5ELi6ELi7ELi8EEEElEENS1_30ComputePtrOffsetOfStr"
     "idedBatchILi1ELi1ELi0EvEELb1ELNS_25InMemoryDataOperationEnumE0ELi2ELNS_10TailNumberE10"
     "EEEvNT_8ArgumentET0_T1_T2_T3_S2L_i",
     "conv"},
    {"_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGe"
     "mm_bk0mk1_bk0nk1_mn_xdlops_bwd_weightILi64EttftLNS_25InMemoryDataOperationEnumE1ENS_16"
     "TensorDescriptorINS_5TupleIJNS_5EmbedINS6_IJiiEEENS6_IJiNS_17integral_constantIiLi1EEE"
     "EEELb0EEENS_8RightPadIiiLb0EEENS_11PassThroughIiEENS_7UnMergeINS6_IJiiiEEELb0EEESG_SG_"
     "SG_SE_SG_EEENS6_IJNS_8SequenceIJLi0EEEENSL_IJLi1EEEENSL_IJLi2EEEENSL_IJLi3EEEENSL_IJLi"
     "4EEEENSL_IJLi5EEEENSL_IJLi6EEEENSL_IJLi8EEEENSL_IJLi7EEEEEEENS6_IJNSL_IJLi1ELi2EEEESP_"
     "SQ_NSL_IJLi5ELi6ELi7EEEEST_NSL_IJLi9EEEENSL_IJLi10EEEENSL_IJLi11EEEENSL_IJLi12EEEEEEEN"
     "SL_IJLi9ELi10ELi11ELi12EEEElEENS5_INS6_IJNS7_INS6_IJiiiiEEES15_Lb0EEESG_NS_3PadIiiiLb0"
     "EEES18_SG_SG_NS7_IS8_S8_Lb0EEES19_SG_NS_23Merge_v2_magic_divisionISI_EES1B_SE_SG_SJ_SG"
     "_SG_SG_SE_SG_EEENS6_IJSM_SN_SO_SP_SQ_SR_SS_SU_ST_NSL_IJLi10ELi12ELi14EEEENSL_IJLi9ELi1"
     "1ELi13EEEENSL_IJLi16EEEENSL_IJLi15EEEENSL_IJLi17EEEENSL_IJLi18EEEENSL_IJLi19EEEENSL_IJ"
     "Li20EEEENSL_IJLi22EEEENSL_IJLi21EEEEEEENS6_IJNSL_IJLi1ELi2ELi3ELi4EEEESR_SS_SU_ST_SY_N"
     "SL_IJLi10ELi11EEEENSL_IJLi12ELi13EEEENSL_IJLi14EEEES1G_S1F_S1H_S1I_NSL_IJLi19ELi20ELi2"
     "1EEEES1L_NSL_IJLi23EEEENSL_IJLi24EEEENSL_IJLi25EEEENSL_IJLi26EEEEEEENSL_IJLi23ELi24ELi"
     "25ELi26EEEElEENS5_INS6_IJSC_SE_SE_EEENS6_IJSM_SN_SO_EEENS6_IJSW_SP_SQ_EEENSL_IJLi3ELi4"
     "EEEElEENS0_12element_wise11PassThroughES26_S26_Li64ELi64ELi4ELi32ELi32ELi8ELi2ELi2ENSL"
     "_IJLi1ELi4ELi8ELi2EEEENSL_IJLi0ELi3ELi1ELi2EEEENSL_IJLi0ELi2ELi1ELi3EEEELi2ELi8ELi4ELb"
     "0ELb1ELi8ELi8ELi4ES27_S28_S29_Li2ELi8ELi4ELb0ELb1ELi8ELi8ELi4ELi1ELi1ELi8ENSL_IJLi1ELi"
     "16ELi1ELi4EEEELb1ELb1ELi1ELNS_15PipelineVersionE0EttEEtttS26_S26_S26_S14_S1Z_NS5_INS6_"
     "IJSC_SE_SE_NSH_INS6_IJiNS9_IiLi64EEEEEELb0EEES2F_EEENS6_IJSM_SN_SO_SP_SQ_EEENS6_IJSW_S"
     "P_SQ_NSL_IJLi5ELi6EEEENSL_IJLi7ELi8EEEEEEENSL_IJLi5ELi6ELi7ELi8EEEElEENS_38BlockToCTil"
     "eMap_KSplit_M00_N00_M01_N01ILi64ELi64ES24_Lb0EEENS1_30ComputePtrOffsetOfStridedBatchIL"
     "i1ELi1ELi0EvEELb1EEEvPKT0_PKT1_PT2_T3_T4_T5_iT6_T7_T8_T9_T10_",
     "conv"},
};

// Kernels from the sources of vLLM, SGLang, FlashInfer, TensorRT-LLM and triton_kernels.
constexpr Told kOfEngines[] = {
    // Selection of the keys of sparse attention, and selection of tokens.
    {"topk_transform_decode_kernel(FastTopKTransformParams)", "attention.mla"},
    {"topk_transform_prefill_ragged_kernel", "attention.mla"},
    {"kpool_topk_transform_kernel", "attention.mla"},
    {"void vllm::topKPerRowDecode<512, true>(float const*)", "attention.mla"},
    {"void vllm::topKPerRowPrefill<512, true>(float const*)", "attention.mla"},
    {"void vllm::persistent_topk_kernel<2048>(float const*)", "attention.mla"},
    {"cooperative_topk_kernel", "attention.mla"},
    {"_topk_index_merge_kernel", "attention.mla"},
    {"_fp4_index_logits_paged_kernel", "attention.mla"},
    {"_decode_index_score_kernel", "attention.mla"},
    {"_logical_score_kernel", "attention.mla"},
    {"_logical_to_physical_kernel", "attention.mla"},
    {"_fused_indexer_q_rope_quant_kernel", "attention.mla"},
    {"_qsa_mqa_paged_uniform_kernel", "attention.mla"},
    {"_convert_req_index_to_global_index_kernel", "attention.metadata"},
    {"_topk_topp_kernel", "sampling"},
    {"top_k_top_p_sampling_from_probs_kernel", "sampling"},
    {"void flashinfer::sampling::TopKRenormProbKernel<1024u>(float*)", "sampling"},
    {"void at::native::mbtopk::radixFindKthValues<float>(float*)", "sampling"},
    {"_resample_kernel", "sampling"},
    {"_bad_words_kernel", "sampling"},
    // The KV cache, also combined with rotation and quantisation in one kernel.
    {"_set_k_and_s_triton_kernel", "kv_cache"},
    {"_get_k_and_s_triton_kernel", "kv_cache"},
    {"_fused_qk_rope_cat_and_cache_mla_kernel", "kv_cache"},
    {"quantize_and_insert_k_kernel", "kv_cache"},
    {"_dequantize_and_gather_k_kernel", "kv_cache"},
    {"_rope_quant_insert_mxfp8_kernel", "kv_cache"},
    {"_reshape_cache_per_token_head", "kv_cache"},
    {"get_mla_kv_buffer_kernel_norope", "kv_cache"},
    {"set_mla_kv_scale_buffer_kernel", "kv_cache"},
    {"void vllm::indexer_k_quant_and_cache_kernel<__nv_bfloat16>(int)", "kv_cache"},
    // Attention; a "prefill" in the name is not a fill.
    {"_sparse_gqa_chunk_prefill", "attention.mla"},
    {"_sparse_attn_decode_ragged_kernel", "attention.mla"},
    {"_gqa_sparse_fwd_kernel", "attention.mla"},
    {"_rel_mha_decode_fp16", "attention.core"},
    {"_sparse_attn_decode_reduce_kernel", "attention.merge"},
    {"kernel_reduce_segments_diffkv", "attention.merge"},
    {"_merge_mla_segments_kernel", "attention.merge"},
    {"_fwd_diag_kernel", "ssm"},
    {"lightning_attention_decode", "ssm"},
    {"gdn_fused_decode_kernel", "ssm"},
    // Experts.
    {"_bitmatrix_metadata_compute_stage1", "moe.routing"},
    {"_ragged_tensor_metadata_memset", "moe.routing"},
    {"_compute_col_partial_sum_kernel", "moe.routing"},
    {"token_gather_sum_kernel", "moe.routing"},
    {"token_gather_and_sum_varlen_K_kernel", "moe.routing"},
    {"_count_expert_num_tokens", "moe.routing"},
    {"moeTopKFast", "moe.routing"},
    {"_group_limited_topk_kernel", "moe.routing"},
    {"fused_moe_router_cudacore_kernel", "moe.routing"},
    {"fused_moe_dispatch_index_triton_kernel", "moe.routing"},
    {"void "
     "tensorrt_llm::kernels::cutlass_kernels::computeStridesTmaWarpSpecializedKernel<int>(int)",
     "moe.routing"},
    {"buildMinLatencyActiveExpertMapsKernel", "moe.routing"},
    {"_matmul_NNT_bf16xbf16xmxfp4_16x256x128x1", "moe.gemm"},
    {"_matmul_NTN_fp16xfp8e4nvxfp8e4nv_128x256x64x1", "moe.gemm"},
    {"_p_matmul_NNT_bf16xbf16xmxfp4_128x256x64x1_swiglu", "moe.gemm"},
    {"_matmul_nn_kernel", "gemm.dense"},
    // Names with a part that suggests something else.
    {"grouped_gemma_rmsnorm_kernel", "norm"},
    {"triton_poi_fused_normal_functional_0", "random"},
    {"_normal_kernel", "random"},
    {"_mxfp8_linear_kernel", "gemm.low_bit"},
    {"_quantized_linear_fp8_kernel", "gemm.low_bit"},
    {"void at::native::(anonymous namespace)::grid_sampler_2d_kernel<float, int>(float)", "pool"},
    {"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, int>(int)", "pool"},
    {"situ_and_mul_kernel", "activation"},
    {"inkling_multimem_push_oneshot_kernel", "comm.collective"},
    {"mhc_pre_big_fuse_kernel", "fused"},
    // The engine's own waiting, and kernels that nobody can classify.
    {"delayStreamKernel", "host_sync"},
    {"_load_nope_chunk", "unclassified"},
    {"main_kernel", "unclassified"},
};

TEST(Classifier, KnowsKernelsWhoseNamesLeadAstray) {
  const auto check = [](const Told& told) {
    EXPECT_EQ(BuiltInRules().categories()[BuiltInRules().OfKernel(told.kernel)], told.category)
        << told.kernel;
  };
  for (const Told& told : kMisleading) check(told);
  for (const Told& told : kOfEngines) check(told);
}

}  // namespace
}  // namespace tacho
