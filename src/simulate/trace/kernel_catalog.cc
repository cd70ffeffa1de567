#include "simulate/trace/kernel_catalog.h"

#include <algorithm>
#include <array>
#include <iterator>

#define FLASH_KERNEL                                                                             \
  "flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, "     \
  "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<128>, "   \
  "cute::C<128> >, 128, cutlass::bfloat16_t, float, cutlass::arch::Sm90, true, false, false, "   \
  "true, true, true, false, false, false, true, false, true, false, false>, "                    \
  "flash::CollectiveEpilogueFwd<cute::tuple<cute::C<128>, cute::C<128>, cute::C<128> >, "        \
  "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cutlass::bfloat16_t, cutlass::arch::Sm90, " \
  "256, true, true, true, false>, flash::VarlenDynamicPersistentTileScheduler<128, 256, 128, "   \
  "true, true, true> > >"

namespace tacho::simulate {
namespace {

constexpr const char* kLaunch = "cudaLaunchKernel";
constexpr const char* kLaunchExC = "cudaLaunchKernelExC";
constexpr const char* kDriverLaunch = "cuLaunchKernelEx";

// In the order of KernelRole.
constexpr KernelInfo kVllmKernels[] = {
    {KernelRole::kSlotMapping, "_compute_slot_mapping_kernel", "vllm::compute_slot_mapping",
     kDriverLaunch, 32, 0, 1, 1, 1, 128, 6},
    {KernelRole::kAttentionMetadata,
     "void flash::prepare_varlen_num_blocks_kernel<1, true>(int, int, int, int const*, int "
     "const*, int const*, int const*, int const*, int const*, int, int, int, int, int, "
     "cutlass::FastDivmod, cutlass::FastDivmod, int*, int*, int*, int*, int*, bool, bool, bool, "
     "int)",
     "_vllm_fa3_C::get_scheduler_metadata", kLaunchExC, 40, 12, 1, 0, 1, 1024, 50},
    {KernelRole::kEmbedding,
     "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, "
     "long, long, bool)",
     "aten::embedding", kLaunch, 32, 0, 0, 5, 1, 128, 80},
    {KernelRole::kNorm,
     "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, "
     "c10::BFloat16 const*, float, int, int)",
     "_C::fused_add_rms_norm", kLaunch, 32, 168, 0, 1, 1, 512, 75},
    {KernelRole::kQkv, "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_TNT", "aten::mm", kLaunchExC, 168,
     217680, 132, 0, 1, 384, 18},
    {KernelRole::kRope,
     "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, "
     "c10::BFloat16*, c10::BFloat16 const*, int, long, long, long, int, int, int)",
     "_C::rotary_embedding", kLaunch, 28, 0, 0, 1, 1, 512, 50},
    {KernelRole::kCacheWrite,
     "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, "
     "(vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16*, "
     "__nv_bfloat16*, long const*, long, long, long, long, long, int, int, int, float const*, "
     "float const*)",
     "_C_cache_ops::reshape_and_cache_flash", kLaunch, 40, 0, 0, 1, 1, 512, 41},
    {KernelRole::kAttention,
     "void cutlass::device_kernel<" FLASH_KERNEL " >(" FLASH_KERNEL "::Params)", "_vllm_fa3_C::fwd",
     kLaunchExC, 168, 229392, 132, 0, 1, 384, 18},
    {KernelRole::kOutProjection, "nvjet_tst_64x32_64x16_4x1_v_bz_splitK_TNT", "aten::mm",
     kLaunchExC, 168, 197632, 128, 0, 2, 384, 18},
    {KernelRole::kAllReduce,
     "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*, "
     "vllm::RankSignals, vllm::Signal*, __nv_bfloat16*, int, int)",
     "_C_custom_ar::all_reduce", kLaunch, 44, 0, 36, 0, 1, 512, 24},
    {KernelRole::kAllReduceLarge,
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "c10d::allreduce_", kLaunchExC, 96, 82240, 24, 0, 1, 544, 13},
    {KernelRole::kGateUp, "nvjet_tst_128x64_64x9_2x1_v_bz_TNT", "aten::mm", kLaunchExC, 168, 214608,
     132, 0, 1, 384, 18},
    {KernelRole::kActivation,
     "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 "
     "vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, "
     "c10::BFloat16 const*, int)",
     "_C::silu_and_mul", kLaunch, 32, 0, 0, 1, 1, 1024, 66},
    {KernelRole::kDown, "nvjet_tst_64x64_64x13_4x1_v_bz_splitK_TNT", "aten::mm", kLaunchExC, 168,
     221776, 120, 0, 3, 384, 18},
    {KernelRole::kGather,
     "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, "
     "long, long, bool)",
     "aten::index_select", kLaunch, 32, 0, 0, 5, 1, 128, 80},
    {KernelRole::kLmHead, "nvjet_tst_192x8_64x8_4x1_v_bz_TNT", "aten::mm", kLaunchExC, 168, 212480,
     132, 0, 1, 384, 18},
    {KernelRole::kAllGather, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "c10d::_allgather_base_", kLaunchExC, 96, 82240, 24, 0, 1, 544, 13},
    {KernelRole::kArgmax,
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps"
     "<float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float, at::native::ArgMaxOps"
     "<float>, unsigned int, long, 4, 4>)",
     "aten::argmax", kLaunch, 32, 4112, 0, 1, 1, 512, 41},
    {KernelRole::kRouter, "nvjet_tst_32x64_64x16_4x1_v_bz_splitK_TNT", "aten::mm", kLaunchExC, 168,
     197632, 16, 0, 4, 384, 18},
    {KernelRole::kTopK,
     "void vllm::moe::topkGating<8, 128, 4, 16, 32, int, float, (vllm::moe::ScoringFunc)0>(float "
     "const*, bool const*, float*, int, int*, int*, int, int, int, bool, float const*)",
     "_moe_C::topk_softmax", kLaunch, 40, 0, 1, 1, 1, 128, 50},
    {KernelRole::kDispatch,
     "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, int*, long*, float*, int*, "
     "int*, int4 const*, float const*, long const*, float const*, bool const*, int const*, int, "
     "int, int, int, int, int, int, int, void**, int, int, int, int)",
     "deep_ep::dispatch", kLaunchExC, 64, 65536, 20, 0, 1, 768, 18},
    {KernelRole::kExpertGateUp, "fused_moe_kernel", "vllm::moe_forward", kDriverLaunch, 168, 98304,
     132, 4, 1, 256, 18},
    {KernelRole::kExpertDown, "fused_moe_kernel", "vllm::moe_forward", kDriverLaunch, 168, 98304,
     132, 4, 1, 256, 18},
    {KernelRole::kCombine,
     "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*, float*, "
     "__nv_bfloat16 const*, float const*, __nv_bfloat16 const*, __nv_bfloat16 const*, int const*, "
     "int const*, int const*, int*, int, int, int, int, void**, int, int, int, int)",
     "deep_ep::combine", kLaunchExC, 64, 32768, 20, 0, 1, 768, 18},
    {KernelRole::kSharedGateUp, "nvjet_tst_128x8_64x12_4x1_v_bz_TNT", "aten::mm", kLaunchExC, 168,
     212480, 132, 0, 1, 384, 18},
    {KernelRole::kSharedActivation,
     "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 "
     "vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, "
     "c10::BFloat16 const*, int)",
     "_C::silu_and_mul", kLaunch, 32, 0, 0, 1, 1, 1024, 66},
    {KernelRole::kSharedDown, "nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT", "aten::mm", kLaunchExC,
     168, 197632, 128, 0, 2, 384, 18},
    {KernelRole::kRopeAndCacheWrite, "_fused_qk_rope_reshape_and_cache_kernel",
     "vllm::fused_rope_and_cache", kDriverLaunch, 48, 0, 0, 1, 1, 128, 50},
    {KernelRole::kAllReduceAndNorm,
     "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport"
     "<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 2, true>"
     "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<__nv_bfloat16>)",
     "vllm::flashinfer_trtllm_fused_allreduce_norm", kLaunchExC, 48, 0, 0, 1, 1, 1024, 62},
    {KernelRole::kAttentionTriton, "kernel_unified_attention_2d",
     "vllm::unified_attention_with_output", kDriverLaunch, 168, 65536, 0, 1, 8, 128, 18},
    {KernelRole::kGateUpCutlass,
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize2x1x1_execute_"
     "segment_k_off_kernel__5x_cublas",
     "aten::mm", kLaunchExC, 168, 214016, 132, 0, 1, 384, 18},
};
static_assert(std::size(kVllmKernels) == static_cast<size_t>(KernelRole::kCount));

// Roles for which SGLang differs from vLLM: `op` launches the kernel `name`; nullptr stands for
// vLLM's kernel.
constexpr struct {
  KernelRole role;
  const char *name, *op;
} kSglangNames[] = {
    {KernelRole::kSlotMapping, "create_flashinfer_kv_indices_triton", "sglang::create_kv_indices"},
    {KernelRole::kAttentionMetadata, nullptr, "sgl_kernel::get_scheduler_metadata"},
    {KernelRole::kNorm,
     "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, "
     "__nv_bfloat16*, __nv_bfloat16*, unsigned int, unsigned int, unsigned int, float, float)",
     "sgl_kernel::fused_add_rmsnorm"},
    {KernelRole::kRope,
     "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheEnhancedKernel<false, true, true, 128u, "
     "8u, 16u, __nv_bfloat16, long>(flashinfer::RopeParams<__nv_bfloat16, long>)",
     "sgl_kernel::apply_rope_pos_ids_cos_sin_cache"},
    {KernelRole::kCacheWrite,
     "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous "
     "namespace)::StoreKVCacheParams)",
     "sgl_kernel::store_kv_cache"},
    {KernelRole::kAttention, nullptr, "sgl_kernel::fwd"},
    {KernelRole::kAllReduce,
     "void sglang::cross_device_reduce_1stage<__nv_bfloat16, 2>(sglang::RankData*, "
     "sglang::RankSignals, sglang::Signal*, __nv_bfloat16*, int, int)",
     "sgl_kernel::all_reduce"},
    {KernelRole::kActivation,
     "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(float silu<float>(float "
     "const&))>(__nv_bfloat16*, __nv_bfloat16 const*, int)",
     "sgl_kernel::silu_and_mul"},
    {KernelRole::kSharedActivation,
     "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(float silu<float>(float "
     "const&))>(__nv_bfloat16*, __nv_bfloat16 const*, int)",
     "sgl_kernel::silu_and_mul"},
    {KernelRole::kTopK,
     "void topkGatingSoftmax<float, 8, 128, 4, 16>(float const*, bool const*, float*, int, int*, "
     "int, int, int, bool)",
     "sgl_kernel::topk_softmax"},
    {KernelRole::kExpertGateUp, nullptr, "sglang::fused_moe"},
    {KernelRole::kExpertDown, nullptr, "sglang::fused_moe"},
};

constexpr auto kSglangKernels = [] {
  auto kernels = std::to_array(kVllmKernels);
  for (const auto& own : kSglangNames) {
    KernelInfo& kernel = kernels[static_cast<size_t>(own.role)];
    if (own.name != nullptr) kernel.name = own.name;
    kernel.op = own.op;
  }
  return kernels;
}();

constexpr CallInfo kCalls[] = {
    {"cudaLaunchKernel", "cuda_runtime", 211, true},
    {"cudaLaunchKernelExC", "cuda_runtime", 430, true},
    {"cuLaunchKernelEx", "cuda_driver", 652, true},
    {"cudaGraphLaunch", "cuda_runtime", 311, true},
    {"cudaMemcpyAsync", "cuda_runtime", 41, true},
    {"cudaDeviceGetAttribute", "cuda_runtime", 200, false},
    {"cudaFuncSetAttribute", "cuda_runtime", 273, false},
    {"cudaStreamIsCapturing", "cuda_runtime", 317, false},
    {"cudaStreamGetCaptureInfo_v2", "cuda_runtime", 409, false},
    {"cudaEventRecord", "cuda_runtime", 135, false},
    {"cudaEventRecordWithFlags", "cuda_runtime", 370, false},
    {"cudaEventQuery", "cuda_runtime", 137, false},
    {"cudaStreamWaitEvent", "cuda_runtime", 147, true},
    {"cudaEventSynchronize", "cuda_runtime", 136, true},
    {"cudaMemsetAsync", "cuda_runtime", 51, true},
};

}  // namespace

std::string_view NameOf(SimulatedEngine kind) {
  return kind == SimulatedEngine::kVllm ? "vllm" : "sglang";
}

const KernelInfo& KernelOf(SimulatedEngine engine, KernelRole role) {
  const auto index = static_cast<size_t>(role);
  return engine == SimulatedEngine::kVllm ? kVllmKernels[index] : kSglangKernels[index];
}

bool IsCollective(KernelRole role) {
  return role == KernelRole::kAllReduce || role == KernelRole::kAllReduceLarge ||
         role == KernelRole::kAllGather || role == KernelRole::kAllReduceAndNorm ||
         role == KernelRole::kDispatch || role == KernelRole::kCombine;
}

bool IsOfSharedExpert(KernelRole role) {
  return role == KernelRole::kSharedGateUp || role == KernelRole::kSharedActivation ||
         role == KernelRole::kSharedDown;
}

bool IsGroupedProduct(KernelRole role) {
  return role == KernelRole::kExpertGateUp || role == KernelRole::kExpertDown;
}

const CallInfo& CallOf(std::string_view name) {
  const auto* found = std::ranges::find(kCalls, name, &CallInfo::name);
  return found == std::end(kCalls) ? kCalls[0] : *found;
}

}  // namespace tacho::simulate
