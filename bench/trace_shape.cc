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
#define PYBIND_OBJECT                                                                             \
  "pybind11_builtins.pybind11_detail_function_record_v1_system_libstdcpp_gxx_abi_1xxx_use_cxx11_" \
  "abi_1 object at @>"

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

#define INPUTS(concrete, types, strides, dims)                                                     \
  "\"Concrete Inputs\": [" concrete "], \"Input type\": [" types "], \"Input Strides\": [" strides \
  "], \"Input Dims\": [" dims "]"
#define BF16 "\"c10::BFloat16\""
#define SCALAR "\"Scalar\""
#define LIST "\"ScalarList\""
#define LONG "\"long int\""
#define FLOAT "\"float\""
#define NONE "\"\""

constexpr OpShape kOpShapes[] = {
    {"_C::fused_add_rms_norm",
     INPUTS(NONE ", " NONE ", " NONE ", \"9.9999999999999995e-07\"",
            BF16 ", " BF16 ", " BF16 ", " SCALAR, "[5120, 1], [5120, 1], [1], []",
            "[$, 5120], [$, 5120], [5120], []")},
    {"aten::linear", INPUTS(NONE ", " NONE ", " NONE, BF16 ", " BF16 ", " NONE,
                            "[5120, 1], [5120, 1], []", "[$, 5120], [1280, 5120], []")},
    {"aten::t", INPUTS(NONE, BF16, "[5120, 1]", "[1280, 5120]")},
    {"aten::transpose", INPUTS(NONE ", \"0\", \"1\"", BF16 ", " SCALAR ", " SCALAR,
                               "[5120, 1], [], []", "[1280, 5120], [], []")},
    {"aten::as_strided",
     INPUTS(NONE ", \"[$, 128]\", \"[1, 5120]\", \"0\"", BF16 ", " LIST ", " LIST ", " SCALAR,
            "[5120, 1], [], [], []", "[1280, 5120], [], [], []")},
    {"aten::mm",
     INPUTS(NONE ", " NONE, BF16 ", " BF16, "[5120, 1], [1, 5120]", "[$, 5120], [5120, 1280]")},
    {"aten::split_with_sizes",
     INPUTS(NONE ", \"[1024, 128, 128]\", \"-1\"", BF16 ", " LIST ", " SCALAR, "[1280, 1], [], []",
            "[$, 1280], [], []")},
    {"_C::rotary_embedding", INPUTS(NONE ", " NONE ", " NONE ", \"128\", " NONE ", \"True\"",
                                    LONG ", " BF16 ", " BF16 ", " SCALAR ", " BF16 ", " SCALAR,
                                    "[1], [1280, 1], [1280, 1], [], [128, 1], []",
                                    "[$], [$, 1024], [$, 128], [], [40960, 128], []")},
    {"aten::view",
     INPUTS(NONE ", \"[-1, 8, 128]\"", BF16 ", " LIST, "[1280, 1], []", "[$, 1024], []")},
    {"aten::empty", INPUTS("\"[$, 1024]\", \"15\", \"0\", " NONE ", \"False\", " NONE,
                           LIST ", " SCALAR ", " SCALAR ", " NONE ", " SCALAR ", " NONE,
                           "[], [], [], [], [], []", "[], [], [], [], [], []")},
    {"vllm::unified_attention_with_output",
     INPUTS(NONE ", " NONE ", " NONE ", " NONE ", \"model.layers.0.self_attn.attn\", " NONE,
            BF16 ", " BF16 ", " BF16 ", " BF16 ", " NONE ", " NONE,
            "[1024, 128, 1], [1280, 128, 1], [1280, 128, 1], [1024, 128, 1], [], []",
            "[$, 8, 128], [$, 1, 128], [$, 1, 128], [$, 8, 128], [], []")},
    {"aten::unbind", INPUTS(NONE ", \"0\"", BF16 ", " SCALAR, "[33554432, 2048, 128, 128, 1], []",
                            "[2, 16384, 16, 1, 128], []")},
    {"aten::select",
     INPUTS(NONE ", \"0\", \"0\"", BF16 ", " SCALAR ", " SCALAR,
            "[33554432, 2048, 128, 128, 1], [], []", "[2, 16384, 16, 1, 128], [], []")},
    {"_C_cache_ops::reshape_and_cache_flash",
     INPUTS(NONE ", " NONE ", " NONE ", " NONE ", " NONE ", \"auto\", " NONE ", " NONE,
            BF16 ", " BF16 ", " BF16 ", " BF16 ", " LONG ", " NONE ", " FLOAT ", " FLOAT,
            "[1280, 128, 1], [1280, 128, 1], [2048, 128, 128, 1], [2048, 128, 128, 1], [1], [], "
            "[], []",
            "[$, 1, 128], [$, 1, 128], [16384, 16, 1, 128], [16384, 16, 1, 128], [$], [], [], []")},
    {"_vllm_fa3_C::fwd",
     INPUTS(NONE ", " NONE ", " NONE ", " NONE ", " NONE ", " NONE
                 ", \"0.088388347648318447\", \"True\"",
            BF16 ", " BF16 ", " BF16 ", " BF16 ", \"int\", \"int\", " SCALAR ", " SCALAR,
            "[1024, 128, 1], [2048, 128, 128, 1], [2048, 128, 128, 1], [1024, 128, 1], [1], [1], "
            "[], []",
            "[$, 8, 128], [16384, 16, 1, 128], [16384, 16, 1, 128], [$, 8, 128], [$], [$], [], "
            "[]")},
    {"vllm::all_reduce",
     INPUTS(NONE ", \"tp:0\"", BF16 ", " NONE, "[5120, 1], []", "[$, 5120], []")},
    {"_C_custom_ar::all_reduce",
     INPUTS("\"94301532816\", " NONE ", " NONE ", \"140412886810624\", \"8388608\"",
            SCALAR ", " BF16 ", " BF16 ", " SCALAR ", " SCALAR, "[], [5120, 1], [5120, 1], [], []",
            "[], [$, 5120], [$, 5120], [], []")},
    {"aten::empty_like", INPUTS(NONE ", " NONE ", " NONE ", " NONE ", \"False\", " NONE,
                                BF16 ", " NONE ", " NONE ", " NONE ", " SCALAR ", " NONE,
                                "[5120, 1], [], [], [], [], []", "[$, 5120], [], [], [], [], []")},
    {"_C::silu_and_mul",
     INPUTS(NONE ", " NONE, BF16 ", " BF16, "[3200, 1], [6400, 1]", "[$, 3200], [$, 6400]")},
    {"aten::copy_", INPUTS(NONE ", " NONE ", \"True\"", "\"int\", \"int\", " SCALAR, "[1], [1], []",
                           "[$], [$], []")},
    {"aten::slice", INPUTS(NONE ", \"0\", \"0\", \"$\", \"1\"",
                           "\"int\", " SCALAR ", " SCALAR ", " SCALAR ", " SCALAR,
                           "[1], [], [], [], []", "[1024], [], [], [], []")},
    {"aten::fill_", INPUTS(NONE ", \"-1\"", "\"int\", " SCALAR, "[1], []", "[1024], []")},
    {"aten::index_select", INPUTS(NONE ", \"0\", " NONE, BF16 ", " SCALAR ", " LONG,
                                  "[5120, 1], [], [1]", "[$, 5120], [], [$]")},
    {"aten::to", INPUTS(NONE ", \"6\", \"False\", \"False\", " NONE,
                        BF16 ", " SCALAR ", " SCALAR ", " SCALAR ", " NONE,
                        "[151936, 1], [], [], [], []", "[$, 151936], [], [], [], []")},
    {"aten::div_",
     INPUTS(NONE ", " NONE, FLOAT ", " FLOAT, "[151936, 1], [1, 1]", "[$, 151936], [$, 1]")},
    {"aten::sort", INPUTS(NONE ", \"-1\", \"False\"", FLOAT ", " SCALAR ", " SCALAR,
                          "[151936, 1], [], []", "[$, 151936], [], []")},
    {"aten::softmax", INPUTS(NONE ", \"-1\", \"6\"", FLOAT ", " SCALAR ", " SCALAR,
                             "[151936, 1], [], []", "[$, 151936], [], []")},
    {"aten::cumsum", INPUTS(NONE ", \"-1\", " NONE, FLOAT ", " SCALAR ", " NONE,
                            "[151936, 1], [], []", "[$, 151936], [], []")},
    {"aten::masked_fill_", INPUTS(NONE ", " NONE ", \"-inf\"", FLOAT ", \"bool\", " SCALAR,
                                  "[151936, 1], [151936, 1], []", "[$, 151936], [$, 151936], []")},
    {"aten::scatter_",
     INPUTS(NONE ", \"-1\", " NONE ", " NONE, FLOAT ", " SCALAR ", " LONG ", " FLOAT,
            "[151936, 1], [], [151936, 1], [151936, 1]",
            "[$, 151936], [], [$, 151936], [$, 151936]")},
    {"aten::exponential_", INPUTS(NONE ", \"1.\", " NONE, FLOAT ", " SCALAR ", " NONE,
                                  "[151936, 1], [], []", "[$, 151936], [], []")},
    {"aten::argmax", INPUTS(NONE ", \"-1\", \"False\"", FLOAT ", " SCALAR ", " SCALAR,
                            "[151936, 1], [], []", "[$, 151936], [], []")},
    {"aten::where", INPUTS(NONE ", " NONE ", " NONE, "\"bool\", " LONG ", " LONG, "[1], [1], [1]",
                           "[$], [$], [$]")},
    {"aten::lt",
     INPUTS(NONE ", \"1.0000000000000001e-05\"", FLOAT ", " SCALAR, "[1], []", "[$], []")},
    {"vllm::all_gather",
     INPUTS(NONE ", \"-1\", \"8\", \"tp:0\"", BF16 ", " SCALAR ", " SCALAR ", " NONE,
            "[18992, 1], [], [], []", "[$, 18992], [], [], []")},
    {"_vllm_fa3_C::get_scheduler_metadata",
     INPUTS("\"$\", \"1\", \"4096\", \"8\", \"1\", \"128\", " NONE,
            SCALAR ", " SCALAR ", " SCALAR ", " SCALAR ", " SCALAR ", " SCALAR ", \"int\"",
            "[], [], [], [], [], [], [1]", "[], [], [], [], [], [], [$]")},
};

constexpr const char* kRootFrames[] = {
    "<string>(1): <module>",
    "multiprocessing/spawn.py(122): spawn_main",
    "multiprocessing/spawn.py(135): _main",
    "multiprocessing/process.py(314): _bootstrap",
    "multiprocessing/process.py(108): run",
    "vllm/v1/executor/multiproc_executor.py(944): worker_main",
    "vllm/v1/executor/multiproc_executor.py(1041): worker_busy_loop",
};

constexpr NodeKind P = NodeKind::kPython;
constexpr NodeKind O = NodeKind::kOp;
constexpr NodeKind K = NodeKind::kKernel;
constexpr NodeKind C = NodeKind::kCopy;
constexpr NodeKind R = NodeKind::kCall;

// A copy from pinned memory, as the model runner makes half a dozen of before each step.
#define COPY_TO_GPU(d, key)                                                                     \
  {d, P, "vllm/v1/utils.py(139): copy_to_gpu"},                                                 \
      {d + 1, P, "<built-in method copy_ of Tensor object at %>"}, {d + 2, O, "aten::copy_"}, { \
    d + 3, C, key                                                                               \
  }

constexpr Node kStepNodes[] = {
    {0, P, "vllm/distributed/device_communicators/shm_broadcast.py(960): dequeue"},
    {1, P, "vllm/distributed/device_communicators/shm_broadcast.py(866): acquire_read"},
    {2, P, "<built-in function monotonic>"},
    {2, P, "vllm/distributed/device_communicators/shm_broadcast.py(84): memory_fence"},
    {3, P, "<built-in method __exit__ of _thread.lock object at @>"},
    {2, P, "vllm/distributed/device_communicators/shm_broadcast.py(402): get_metadata"},
    {2, P, "vllm/distributed/device_communicators/shm_broadcast.py(843): check"},
    {2, P, "vllm/distributed/device_communicators/shm_broadcast.py(803): timeout_ms"},
    {2, P, "vllm/distributed/device_communicators/shm_broadcast.py(195): wait"},
    {3, P, "vllm/distributed/utils.py(44): sched_yield"},
    {4, P, "<built-in function sched_yield>"},
    {2, P, "vllm/distributed/device_communicators/shm_broadcast.py(388): get_data"},
    {1, P, "<built-in function loads>"},
    {1, P, "<built-in method __exit__ of memoryview object at %>"},
    {0, P, "vllm/v1/executor/multiproc_executor.py(1055): _execute_worker_rpc"},
    {1, P, "vllm/v1/worker/worker_base.py(365): execute_model"},
    {2, P, "vllm/v1/worker/worker_base.py(355): _apply_mm_cache"},
    {2, P, "torch/utils/_contextlib.py(120): decorate_context"},
    {3, P, "torch/autograd/grad_mode.py(290): __enter__"},
    {3, P, "vllm/v1/worker/gpu_worker.py(1300): execute_model"},
    {4, P, "vllm/v1/worker/gpu_worker.py(1180): annotate_profile"},
    {5, P, "vllm/v1/utils.py(835): compute_iteration_details"},
    {6, P, "vllm/v1/utils.py(853): <setcomp>"},
    {6, P, "<built-in method items of dict object at %>"},
    {6, P, "vllm/v1/core/sched/output.py(189): is_context_phase"},
    {7, P, "vllm/v1/core/sched/output.py(179): _req_id_to_num_output_tokens"},
    {4, NodeKind::kAnnotation, "execute"},
    {5, P, "vllm/v1/worker/gpu_model_runner.py(3939): execute_model"},
    {6, P, "vllm/v1/worker/gpu_model_runner.py(3605): synchronize_input_prep"},
    {7, R, "cudaEventQuery"},
    {6, P, "vllm/v1/worker/gpu_model_runner.py(1172): _update_states"},
    {7, P, "<built-in method get of dict object at %>"},
    {7, P, "<built-in method keys of dict object at %>"},
    {7, P, "vllm/distributed/parallel_state.py(653): is_last_rank"},
    {7, P, "vllm/v1/worker/gpu_input_batch.py(496): update_req_spec_token_ids"},
    {8, P, "<built-in method clear of list object at %>"},
    {7, P, "vllm/v1/worker/gpu_input_batch.py(698): condense"},
    {8, P, "vllm/v1/worker/gpu_input_batch.py(1103): num_reqs"},
    {8, P, "vllm/v1/sample/logits_processor/state.py(69): removed"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(1101): _may_reorder_batch"},
    {7, P, "vllm/v1/worker/gpu_input_batch.py(832): refresh_metadata"},
    {8, P, "vllm/v1/sample/logits_processor/state.py(120): get_and_reset"},
    {8, P, "vllm/v1/sample/logits_processor/state.py(164): all"},
    {8, P, "vllm/v1/sample/logits_processor/builtin.py(54): update_state"},
    {8, P, "vllm/v1/sample/logits_processor/builtin.py(208): update_state"},
    {9, P, "vllm/v1/sample/logits_processor/builtin.py(374): process_dict_updates"},
    {8, P, "vllm/v1/sample/logits_processor/builtin.py(135): update_state"},
    {9, P, "vllm/v1/sample/logits_processor/builtin.py(374): process_dict_updates"},
    {6, P, "<built-in function array>"},
    {6, P, "<built-in method max of numpy.ndarray object at %>"},
    {7, P, "numpy/_core/_methods.py(41): _amax"},
    {8, P, "<built-in method reduce of numpy.ufunc object at @>"},
    {6, P, "vllm/v1/worker/gpu_model_runner.py(1920): _prepare_inputs"},
    {7, P, "vllm/v1/worker/block_table.py(292): commit_block_table"},
    COPY_TO_GPU(8, "table_to_device"),
    {7, P, "numpy/_core/fromnumeric.py(462): repeat"},
    {8, P, "<built-in method repeat of numpy.ndarray object at %>"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(1721): _compute_prev_positions"},
    {8, P, "<built-in method fill of numpy.ndarray object at %>"},
    {8, P, "vllm/v1/worker/gpu_input_batch.py(314): req_ids"},
    {9, P, "typing.py(2268): cast"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(1695): _get_cumsum_and_arange"},
    {8, P, "numpy/_core/fromnumeric.py(2879): cumsum"},
    {9, P, "<built-in method cumsum of numpy.ndarray object at %>"},
    {7, P, "<built-in method from_numpy of type object at @>"},
    {7, P, "<built-in method index_select of type object at @>"},
    {8, O, "aten::index_select"},
    COPY_TO_GPU(7, "to_device"),
    {7, P, "vllm/v1/worker/gpu_model_runner.py(1736): _prepare_input_ids"},
    COPY_TO_GPU(8, "to_device"),
    {8, P, "<built-in method copy_ of Tensor object at %>"},
    {9, O, "aten::slice"},
    {9, O, "aten::copy_"},
    {10, C, "on_device"},
    COPY_TO_GPU(7, "to_device"),
    COPY_TO_GPU(7, "to_device"),
    COPY_TO_GPU(7, "to_device"),
    {7, P, "<built-in method fill_ of Tensor object at %>"},
    {8, O, "aten::fill_"},
    {9, K, "fill"},
    {7, P, "vllm/v1/worker/block_table.py(283): compute_slot_mapping"},
    {8, P, "vllm/v1/worker/block_table.py(153): compute_slot_mapping"},
    {9, P, "triton/runtime/jit.py(419): <lambda>"},
    {10, P, "triton/runtime/jit.py(706): run"},
    {11, P, "<built-in method get of dict object at %>"},
    {11, P, "triton/backends/nvidia/driver.py(713): __call__"},
    {12, K, "slot_mapping"},
    {6, P, "vllm/v1/worker/gpu_model_runner.py(3718): _determine_batch_execution_and_padding"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(3653): _is_uniform_decode"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(3762): dispatch_cudagraph"},
    {8, P, "vllm/v1/cudagraph_dispatcher.py(233): dispatch"},
    {9, P, "<built-in function hash>"},
    {6, P, "vllm/v1/worker/gpu_model_runner.py(2249): _build_attention_metadata"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(2290): _get_block_table"},
    {8, P, "vllm/v1/worker/block_table.py(188): get_device_tensor"},
    {9, O, "aten::slice"},
    {10, O, "aten::as_strided"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(2447): _build_attn_group_metadata"},
    {8, P, "vllm/v1/worker/utils.py(341): build_metadata"},
    {9, P, "vllm/v1/attention/backends/flash_attn.py(395): build"},
    {10, P, "vllm/vllm_flash_attn/flash_attn_interface.py(138): get_scheduler_metadata"},
    {11, P, "<built-in method get_scheduler_metadata of " PYBIND_OBJECT},
    {12, O, "_vllm_fa3_C::get_scheduler_metadata"},
    {13, R, "cudaDeviceGetAttribute"},
    {13, K, "metadata"},
    {10, P, "<built-in method copy_ of Tensor object at %>"},
    {11, O, "aten::copy_"},
    {12, C, "on_device"},
    {6, P, "vllm/v1/worker/gpu_model_runner.py(3292): _preprocess"},
    {7, P, "vllm/v1/worker/gpu_model_runner.py(1053): _init_model_kwargs"},
    {6, P, "contextlib.py(132): __enter__"},
    {7, P, "<built-in function next>"},
    {8, P, "vllm/forward_context.py(292): set_forward_context"},
    {6, P, "vllm/v1/worker/gpu_model_runner.py(3620): _model_forward"},
    {7, NodeKind::kModel, "model"},
    {6, P, "contextlib.py(141): __exit__"},
    {7, P, "<built-in function next>"},
    {6, P, "<built-in method __getitem__ of Tensor object at %>"},
    {7, O, "aten::index_select"},
    {8, K, "gather"},
    {6, P, "vllm/model_executor/models/qwen3.py(336): compute_logits"},
    {7, P, "nn.Module: LogitsProcessor_0"},
    {8, P, "vllm/model_executor/layers/logits_processor.py(52): forward"},
    {9, P, "<built-in function linear>"},
    {10, O, "aten::linear"},
    {11, O, "aten::mm"},
    {12, K, "lm_head"},
    {9, P, "vllm/distributed/communication_op.py(17): tensor_model_parallel_all_gather"},
    {10, O, "vllm::all_gather"},
    {11, R, "cudaStreamGetCaptureInfo_v2"},
    {11, K, "all_gather"},
    {2, P, "torch/autograd/grad_mode.py(294): __exit__"},
    {1, P, "vllm/v1/worker/worker_base.py(352): __getattr__"},
    {1, P, "vllm/v1/worker/gpu_worker.py(1293): sample_tokens"},
    {2, P, "vllm/v1/worker/gpu_model_runner.py(4303): sample_tokens"},
    {3, P, "vllm/v1/worker/gpu_model_runner.py(3437): _sample"},
    {4, P, "nn.Module: Sampler_0"},
    {5, P, "vllm/v1/sample/sampler.py(73): forward"},
    {6, P, "<built-in method to of Tensor object at %>"},
    {7, O, "aten::to"},
    {8, K, "to_float"},
    {6, P, "vllm/v1/sample/sampler.py(375): apply_logits_processors"},
    {7, P, "vllm/v1/sample/logits_processor/builtin.py(279): apply"},
    {7, P, "vllm/v1/sample/logits_processor/builtin.py(159): apply"},
    {6, P, "vllm/v1/sample/sampler.py(423): apply_penalties"},
    {6, P, "vllm/v1/sample/sampler.py(247): sample"},
    {7, P, "vllm/v1/sample/sampler.py(241): greedy_sample"},
    {8, P, "<built-in method argmax of Tensor object at %>"},
    {9, O, "aten::argmax"},
    {10, K, "argmax"},
    {7, P, "vllm/v1/sample/sampler.py(228): apply_temperature"},
    {8, P, "<built-in method where of type object at @>"},
    {9, O, "aten::lt"},
    {10, K, "less_than"},
    {9, O, "aten::where"},
    {10, K, "where"},
    {8, P, "<built-in method div_ of Tensor object at %>"},
    {9, O, "aten::div_"},
    {10, K, "divide"},
    {7, P, "vllm/v1/sample/ops/topk_topp_sampler.py(111): forward_cuda"},
    {8, P, "vllm/v1/sample/ops/topk_topp_sampler.py(236): apply_top_k_top_p"},
    {9, P, "<built-in method sort of Tensor object at %>"},
    {10, O, "aten::sort"},
    {11, R, "cudaStreamIsCapturing"},
    {11, K, "fill"},
    {11, K, "sort_histogram"},
    {11, K, "sort_scan"},
    {11, K, "sort_pass"},
    {11, K, "sort_pass"},
    {11, K, "sort_pass"},
    {9, P, "<built-in method masked_fill_ of Tensor object at %>"},
    {10, O, "aten::masked_fill_"},
    {11, K, "mask"},
    {9, P, "<built-in method softmax of Tensor object at %>"},
    {10, O, "aten::softmax"},
    {11, K, "softmax"},
    {9, P, "<built-in method cumsum of type object at @>"},
    {10, O, "aten::cumsum"},
    {11, K, "cumsum"},
    {9, O, "aten::masked_fill_"},
    {10, K, "mask"},
    {9, P, "<built-in method scatter_ of Tensor object at %>"},
    {10, O, "aten::scatter_"},
    {11, K, "scatter"},
    {8, P, "vllm/v1/sample/ops/topk_topp_sampler.py(331): random_sample"},
    {9, P, "<built-in method exponential_ of Tensor object at %>"},
    {10, O, "aten::exponential_"},
    {11, K, "exponential"},
    {9, P, "<built-in method argmax of Tensor object at %>"},
    {10, O, "aten::argmax"},
    {11, K, "argmax"},
    {3, P, "vllm/v1/worker/gpu_model_runner.py(1544): _update_states_after_model_execute"},
    {3, P, "vllm/v1/worker/gpu_model_runner.py(3468): _bookkeeping_sync"},
    {4, P, "vllm/v1/worker/gpu_model_runner.py(5660): _to_list"},
    {5, R, "cudaEventRecord"},
    {5, R, "cudaStreamWaitEvent"},
    {5, P, "<built-in method copy_ of Tensor object at %>"},
    {6, O, "aten::copy_"},
    {7, C, "to_host"},
    {5, P, "<built-in method record of Event object at @>"},
    {6, R, "cudaEventRecordWithFlags"},
    {5, P, "<built-in method synchronize of Event object at @>"},
    {6, NodeKind::kWait, "cudaEventSynchronize"},
    {5, P, "<built-in method tolist of Tensor object at %>"},
    {4, P, "vllm/v1/worker/gpu_model_runner.py(5306): _get_prompt_logprobs_dict"},
    {4, P, "<built-in method append of list object at %>"},
    {3, P, "vllm/v1/worker/gpu_model_runner.py(3187): eplb_step"},
    {0, P, "vllm/v1/executor/multiproc_executor.py(1010): handle_output"},
    {1, P, "vllm/v1/executor/multiproc_executor.py(991): enqueue_output"},
    {2, P, "vllm/distributed/device_communicators/shm_broadcast.py(902): enqueue"},
    {3, P, "<built-in method to_bytes of int object at @>"},
};

// A linear layer: the frames and operators of a matrix product.
#define LINEAR(d, module, forward, key)                                                            \
  {d, P, module}, {d + 1, P, "torch/nn/modules/module.py(1779): _call_impl"}, {d + 2, P, forward}, \
      {d + 3, P, "<built-in function linear>"}, {d + 4, O, "aten::linear"}, {d + 5, O, "aten::t"}, \
      {d + 6, O, "aten::transpose"}, {d + 5, O, "aten::mm"}, {                                     \
    d + 6, K, key                                                                                  \
  }

constexpr Node kLayerNodes[] = {
    {0, P, "nn.Module: Qwen3DecoderLayer_#"},
    {1, P, "torch/nn/modules/module.py(1779): _call_impl"},
    {2, P, "vllm/model_executor/models/qwen3.py(231): forward"},
    {3, P, "nn.Module: RMSNorm_#"},
    {4, P, "vllm/model_executor/layers/layernorm.py(194): forward_cuda"},
    {5, P, "vllm/_custom_ops.py(334): fused_add_rms_norm"},
    {6, P, "<built-in method fused_add_rms_norm of " PYBIND_OBJECT},
    {7, O, "_C::fused_add_rms_norm"},
    {8, K, "rms_norm"},
    {3, P, "nn.Module: Qwen3Attention_#"},
    {4, P, "vllm/model_executor/models/qwen3.py(156): forward"},
    LINEAR(5, "nn.Module: QKVParallelLinear_#",
           "vllm/model_executor/layers/linear.py(557): forward", "qkv"),
    {5, P, "<built-in method split_with_sizes of type object at @>"},
    {6, O, "aten::split_with_sizes"},
    {7, O, "aten::as_strided"},
    {7, O, "aten::as_strided"},
    {5, P, "nn.Module: RotaryEmbedding_0"},
    {6, P, "vllm/model_executor/layers/rotary_embedding/base.py(170): forward_cuda"},
    {7, P, "vllm/_custom_ops.py(314): rotary_embedding"},
    {8, O, "_C::rotary_embedding"},
    {9, K, "rotary"},
    {5, P, "nn.Module: Attention_#"},
    {6, P, "vllm/attention/layer.py(290): forward"},
    {7, P, "<built-in method view of Tensor object at %>"},
    {8, O, "aten::view"},
    {7, P, "<built-in method empty of type object at @>"},
    {8, O, "aten::empty"},
    {7, P, "torch/_ops.py(1244): __call__"},
    {8, O, "vllm::unified_attention_with_output"},
    {9, P, "vllm/attention/layer.py(852): unified_attention_with_output"},
    {10, P, "vllm/forward_context.py(217): get_forward_context"},
    {10, P, "vllm/v1/attention/backends/flash_attn.py(571): forward"},
    {11, O, "aten::unbind"},
    {12, O, "aten::select"},
    {13, O, "aten::as_strided"},
    {11, P, "<built-in method reshape_and_cache_flash of " PYBIND_OBJECT},
    {12, O, "_C_cache_ops::reshape_and_cache_flash"},
    {13, K, "cache"},
    {11, P, "vllm/vllm_flash_attn/flash_attn_interface.py(214): flash_attn_varlen_func"},
    {12, P, "<built-in method fwd of " PYBIND_OBJECT},
    {13, O, "_vllm_fa3_C::fwd"},
    {14, R, "cudaDeviceGetAttribute"},
    {14, R, "cudaFuncSetAttribute"},
    {14, K, "flash"},
    LINEAR(5, "nn.Module: RowParallelLinear_#",
           "vllm/model_executor/layers/linear.py(1388): forward", "o_proj"),
    {5, P, "vllm/distributed/parallel_state.py(480): all_reduce"},
    {6, O, "vllm::all_reduce"},
    {7, P, "vllm/distributed/device_communicators/cuda_communicator.py(126): all_reduce"},
    {8, P, "vllm/distributed/device_communicators/custom_all_reduce.py(233): should_custom_ar"},
    {8, O, "aten::empty_like"},
    {8, O, "_C_custom_ar::all_reduce"},
    {9, K, "all_reduce"},
    {3, P, "nn.Module: RMSNorm_#"},
    {4, P, "vllm/_custom_ops.py(334): fused_add_rms_norm"},
    {5, O, "_C::fused_add_rms_norm"},
    {6, K, "rms_norm"},
    {3, P, "nn.Module: Qwen2MLP_#"},
    {4, P, "vllm/model_executor/models/qwen2.py(111): forward"},
    LINEAR(5, "nn.Module: MergedColumnParallelLinear_#",
           "vllm/model_executor/layers/linear.py(557): forward", "gate_up"),
    {5, P, "nn.Module: SiluAndMul_#"},
    {6, P, "<built-in method silu_and_mul of " PYBIND_OBJECT},
    {7, O, "_C::silu_and_mul"},
    {8, K, "act_and_mul"},
    LINEAR(5, "nn.Module: RowParallelLinear_#",
           "vllm/model_executor/layers/linear.py(1388): forward", "down"),
    {5, P, "vllm/distributed/parallel_state.py(480): all_reduce"},
    {6, O, "vllm::all_reduce"},
    {7, P, "vllm/distributed/device_communicators/pynccl.py(137): all_reduce"},
    {8, K, "nccl_all_reduce"},
};

constexpr Node kGraphNodes[] = {
    {0, P, "vllm/compilation/cuda_graph.py(206): __call__"},
    {1, P, "vllm/forward_context.py(217): get_forward_context"},
    {1, P, "torch/cuda/graphs.py(139): replay"},
    {2, P, "<built-in method replay of " PYBIND_OBJECT},
    {3, R, "cudaGraphLaunch"},
};

}  // namespace

std::span<const KernelShape> KernelShapes() { return kKernelShapes; }
std::span<const CopyShape> CopyShapes() { return kCopyShapes; }
std::span<const OpShape> OpShapes() { return kOpShapes; }
std::span<const CallShape> CallShapes() { return kCallShapes; }
std::span<const char* const> RootFrames() { return kRootFrames; }
std::span<const Node> StepNodes() { return kStepNodes; }
std::span<const Node> LayerNodes() { return kLayerNodes; }
std::span<const Node> GraphNodes() { return kGraphNodes; }
std::span<const char* const> LayerKernels() { return kLayerKernels; }

}  // namespace tacho::bench
