#include "trace_shape.h"

// The pieces of long names that come back in several of them.
#define COPY_LAMBDA(n)                                                                        \
  "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() " \
  "const::{lambda()#" n "}::operator()() const::{lambda("
#define FLASH_KERNEL                                                                             \
  "flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, "     \
  "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<128>, "   \
  "cute::C<128> >, 128, cutlass::bfloat16_t, float, cutlass::arch::Sm90, true, false, false, "   \
  "true, true, true, false, false, false, true, false, true, false, false>, "                    \
  "flash::CollectiveEpilogueFwd<cute::tuple<cute::C<128>, cute::C<128>, cute::C<128> >, "        \
  "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cutlass::bfloat16_t, cutlass::arch::Sm90, " \
  "256, true, true, true, false>, flash::VarlenDynamicPersistentTileScheduler<128, 256, 128, "   \
  "true, true, true> > >"

namespace tacho::bench {
namespace {

constexpr const char* kLaunch = "cudaLaunchKernel";
constexpr const char* kLaunchExC = "cudaLaunchKernelExC";
constexpr const char* kDriverLaunch = "cuLaunchKernelEx";

constexpr KernelShape kKernelShapes[] = {
    // The layer.
    {"rms_norm",
     "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, "
     "c10::BFloat16 const*, float, int, int)",
     kLaunch, 32, 168, 0, 1, 1, 512, 75, 2400},
    {"qkv", "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_TNT", kLaunchExC, 168, 217680, 132, 0, 1, 384, 18,
     9800},
    {"rotary",
     "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, "
     "c10::BFloat16*, c10::BFloat16 const*, int, long, long, long, int, int, int)",
     kLaunch, 28, 0, 0, 1, 1, 512, 50, 2100},
    {"cache",
     "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, "
     "(vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16*, "
     "__nv_bfloat16*, long const*, long, long, long, long, long, int, int, int, float const*, "
     "float const*)",
     kLaunch, 40, 0, 0, 1, 1, 512, 41, 2300},
    {"flash", "void cutlass::device_kernel<" FLASH_KERNEL " >(" FLASH_KERNEL "::Params)",
     kLaunchExC, 168, 229392, 132, 0, 1, 384, 18, 11400},
    {"o_proj", "nvjet_tst_64x32_64x16_4x1_v_bz_splitK_TNT", kLaunchExC, 168, 197632, 128, 0, 2, 384,
     18, 6900},
    {"all_reduce",
     "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*, "
     "vllm::RankSignals, vllm::Signal*, __nv_bfloat16*, int, int)",
     kLaunch, 44, 0, 36, 0, 1, 512, 24, 7300},
    {"gate_up", "nvjet_tst_128x64_64x9_2x1_v_bz_TNT", kLaunchExC, 168, 214608, 132, 0, 1, 384, 18,
     15200},
    {"act_and_mul",
     "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 "
     "vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, "
     "c10::BFloat16 const*, int)",
     kLaunch, 32, 0, 0, 1, 1, 1024, 66, 2500},
    {"down", "nvjet_tst_64x64_64x13_4x1_v_bz_splitK_TNT", kLaunchExC, 168, 221776, 120, 0, 3, 384,
     18, 10100},
    {"nccl_all_reduce",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kLaunchExC, 96,
     82240, 24, 0, 1, 544, 13, 13900},
    // Sampling.
    {"gather",
     "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, "
     "long, long, bool)",
     kLaunch, 32, 0, 0, 5, 1, 128, 80, 2200},
    {"lm_head", "nvjet_tst_192x8_64x8_4x1_v_bz_TNT", kLaunchExC, 168, 212480, 132, 0, 1, 384, 18,
     98000},
    {"all_gather", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kLaunchExC,
     96, 82240, 24, 0, 1, 544, 13, 17800},
    {"to_float",
     "void at::native::unrolled_elementwise_kernel<" COPY_LAMBDA(
         "7") "float)#1}, "
              "std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, "
              "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, "
              "at::native::memory::StoreWithCast<1> >(int, " COPY_LAMBDA(
                  "7") "float)#1}, "
                       "std::array<char*, 2ul>, TrivialOffsetCalculator<1, unsigned int>, "
                       "TrivialOffsetCalculator<1, unsigned int>, "
                       "at::native::memory::LoadWithCast<1>, "
                       "at::native::memory::StoreWithCast<1>)",
     kLaunch, 30, 0, 0, 297, 1, 128, 93, 9100},
    {"divide",
     "void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<float, float, float, "
     "at::native::binary_internal::DivFunctor<float> > >(at::TensorIteratorBase&, "
     "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::DivFunctor"
     "<float> > const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<"
     "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::DivFunctor"
     "<float> > >(at::TensorIteratorBase&, at::native::BinaryFunctor<float, float, float, "
     "at::native::binary_internal::DivFunctor<float> > const&)::{lambda(int)#1})",
     kLaunch, 36, 0, 0, 297, 1, 128, 80, 8800},
    {"less_than",
     "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
     "bool, at::native::(anonymous namespace)::CompareFunctor<float> >, std::array<char*, 2ul> "
     ">(int, at::native::AUnaryFunctor<float, float, bool, at::native::(anonymous "
     "namespace)::CompareFunctor<float> >, std::array<char*, 2ul>)",
     kLaunch, 24, 0, 1, 0, 1, 128, 6, 1700},
    {"sort_histogram",
     "void at_cuda_detail::cub::DeviceRadixSortHistogramKernel<at_cuda_detail::cub::"
     "DeviceRadixSortPolicy<float, at::cuda::cub::detail::OpaqueType<8>, unsigned long "
     "long>::Policy900, false, float, unsigned long long, at_cuda_detail::cub::detail::"
     "identity_decomposer_t>(unsigned long long*, float const*, unsigned long long, int, int, "
     "at_cuda_detail::cub::detail::identity_decomposer_t)",
     kLaunch, 40, 16384, 264, 0, 1, 128, 43, 10300},
    {"sort_scan",
     "void at_cuda_detail::cub::DeviceRadixSortExclusiveSumKernel<at_cuda_detail::cub::"
     "DeviceRadixSortPolicy<float, at::cuda::cub::detail::OpaqueType<8>, unsigned long "
     "long>::Policy900, unsigned long long>(unsigned long long*)",
     kLaunch, 26, 2080, 4, 0, 1, 256, 3, 2600},
    {"sort_pass",
     "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<at_cuda_detail::cub::"
     "DeviceRadixSortPolicy<float, at::cuda::cub::detail::OpaqueType<8>, unsigned long "
     "long>::Policy900, false, float, at::cuda::cub::detail::OpaqueType<8>, unsigned long long, "
     "int, int, at_cuda_detail::cub::detail::identity_decomposer_t>(int*, int*, unsigned long "
     "long*, unsigned long long const*, float*, float const*, at::cuda::cub::detail::"
     "OpaqueType<8>*, at::cuda::cub::detail::OpaqueType<8> const*, int, int, int, "
     "at_cuda_detail::cub::detail::identity_decomposer_t)",
     kLaunch, 62, 41984, 0, 23, 1, 384, 37, 12600},
    {"softmax",
     "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
     "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)",
     kLaunch, 38, 128, 0, 1, 1, 1024, 33, 9700},
    {"cumsum",
     "void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >(float*, float "
     "const*, unsigned int, unsigned int, unsigned int, float, std::plus<float>)",
     kLaunch, 32, 4096, 0, 1, 1, 512, 29, 14100},
    {"mask",
     "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
     "at::native::(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar "
     "const&)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(float, "
     "bool)#1}>(at::TensorIteratorBase&, at::native::(anonymous namespace)::masked_fill_kernel("
     "at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda()#7}::"
     "operator()() const::{lambda(float, bool)#1} const&)::{lambda(int)#1}>(int, "
     "at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::masked_fill_kernel("
     "at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda()#7}::"
     "operator()() const::{lambda(float, bool)#1}>(at::TensorIteratorBase&, at::native::(anonymous "
     "namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::"
     "operator()() const::{lambda()#7}::operator()() const::{lambda(float, bool)#1} "
     "const&)::{lambda(int)#1})",
     kLaunch, 34, 0, 0, 297, 1, 128, 80, 8900},
    {"scatter",
     "void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::"
     "_cuda_scatter_gather_internal_kernel<true, float>::operator()<at::native::TensorAssign>("
     "at::TensorIterator&, long, long, long, at::native::TensorAssign const&)::{lambda(int)#1}>("
     "int, at::native::_cuda_scatter_gather_internal_kernel<true, float>::operator()<"
     "at::native::TensorAssign>(at::TensorIterator&, long, long, long, at::native::TensorAssign "
     "const&)::{lambda(int)#1})",
     kLaunch, 40, 0, 0, 149, 1, 128, 72, 11800},
    {"exponential",
     "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
     "4, at::native::templates::cuda::exponential_kernel<at::CUDAGeneratorImpl*>("
     "at::TensorIteratorBase&, double, at::CUDAGeneratorImpl*)::{lambda()#2}::operator()() "
     "const::{lambda(curandStatePhilox4_32_10*)#2}>(long, at::PhiloxCudaState)",
     kLaunch, 56, 0, 1056, 0, 1, 256, 48, 13300},
    {"argmax",
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps"
     "<float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float, at::native::ArgMaxOps"
     "<float>, unsigned int, long, 4, 4>)",
     kLaunch, 32, 4112, 0, 1, 1, 512, 41, 8400},
    {"where",
     "void at::native::vectorized_elementwise_kernel<2, at::native::(anonymous "
     "namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() "
     "const::{lambda()#4}::operator()() const::{lambda(bool, long, long)#1}, std::array<char*, "
     "4ul> >(int, at::native::(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::"
     "{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(bool, long, "
     "long)#1}, std::array<char*, 4ul>)",
     kLaunch, 22, 0, 1, 0, 1, 128, 6, 1900},
    {"fill",
     "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<int>, "
     "std::array<char*, 1ul> >(int, at::native::FillFunctor<int>, std::array<char*, 1ul>)",
     kLaunch, 16, 0, 4, 0, 1, 128, 6, 1300},
    {"slot_mapping", "_compute_slot_mapping_kernel", kDriverLaunch, 32, 0, 1, 1, 1, 128, 6, 2900},
    {"metadata",
     "void flash::prepare_varlen_num_blocks_kernel<1, true>(int, int, int, int const*, int "
     "const*, int const*, int const*, int const*, int const*, int, int, int, int, int, "
     "cutlass::FastDivmod, cutlass::FastDivmod, int*, int*, int*, int*, int*, bool, bool, bool, "
     "int)",
     kLaunchExC, 40, 12, 1, 0, 1, 1024, 50, 3100},
};

constexpr const char* kLayerKernels[] = {
    "rms_norm",   "qkv",      "rotary",  "cache",       "flash", "o_proj",
    "all_reduce", "rms_norm", "gate_up", "act_and_mul", "down",  "nccl_all_reduce",
};

constexpr CopyShape kCopyShapes[] = {
    {"to_device", "Memcpy HtoD (Pinned -> Device)", kComputeStream, 16, 8},
    {"table_to_device", "Memcpy HtoD (Pinned -> Device)", kComputeStream, 0, 1024},
    {"on_device", "Memcpy DtoD (Device -> Device)", kComputeStream, 0, 10240},
    {"to_host", "Memcpy DtoH (Device -> Pinned)", kCopyStream, 0, 8},
};

constexpr CallShape kCallShapes[] = {
    {"cudaLaunchKernel", "cuda_runtime", 211, true, 5200},
    {"cudaLaunchKernelExC", "cuda_runtime", 430, true, 6100},
    {"cuLaunchKernelEx", "cuda_driver", 652, true, 6900},
    {"cudaGraphLaunch", "cuda_runtime", 311, true, 410000},
    {"cudaMemcpyAsync", "cuda_runtime", 41, true, 6400},
    {"cudaDeviceGetAttribute", "cuda_runtime", 200, false, 160},
    {"cudaFuncSetAttribute", "cuda_runtime", 273, false, 780},
    {"cudaStreamIsCapturing", "cuda_runtime", 317, false, 950},
    {"cudaStreamGetCaptureInfo_v2", "cuda_runtime", 409, false, 1600},
    {"cudaEventRecord", "cuda_runtime", 135, false, 1900},
    {"cudaEventRecordWithFlags", "cuda_runtime", 370, false, 1400},
    {"cudaEventQuery", "cuda_runtime", 137, false, 1100},
    {"cudaStreamWaitEvent", "cuda_runtime", 147, true, 1500},
    {"cudaEventSynchronize", "cuda_runtime", 136, true, 2100},
};

}  // namespace

std::span<const KernelShape> KernelShapes() { return kKernelShapes; }
std::span<const CopyShape> CopyShapes() { return kCopyShapes; }
std::span<const CallShape> CallShapes() { return kCallShapes; }
std::span<const char* const> LayerKernels() { return kLayerKernels; }

}  // namespace tacho::bench
