"""Kernels and operators whose names said something else to tacho."""


def _categories(case, file):
    return {row["name"]: row["category"] for row in case.rows(file, "select distinct name, category from kernels")}


def _check(case, categories, want, names):
    """Each of `names`, or the one kernel whose name begins so, has the category `want`, or one below it."""
    for name in names:
        found = sorted(c for n, c in categories.items() if n.removeprefix("void ").startswith(name))
        case.check(f"{name} is {want}", [c == want or c.startswith(want + ".") for c in found] or "not there", [True] * max(1, len(found)))


def category_normal(case):
    categories = _categories(case, "ops.json")
    _check(case, categories, "random", ["aten::normal", "aten::normal_", "aten::log_normal_", "aten::uniform_", "aten::rand"])
    _check(case, categories, "norm", ["aten::native_layer_norm", "aten::linalg_vector_norm"])
    case.check("aten::norm is a norm", categories["aten::norm"], "norm")


def nvfp4_names(case):
    categories = {kernel["name"]: kernel["category"] for kernel in case.trace("names.json")["kernels"]}
    _check(case, categories, "norm", ["std::enable_if<T2>(int)0&&", "std::enable_if<(((8)>(0)))&&", "vllm::rms_norm_kernel"])
    _check(case, categories, "moe.routing", ["tensorrt_llm::kernels::cutlass_kernels::" + name for name in (
        "computeStridesTmaWarpSpecializedKernel", "expandInputRowsKernel", "fusedBuildExpertMaps", "blockExpertPrefixSum", "mergeExpertPrefixSum",
        "globalExpertPrefixSum", "finalizeMoeRoutingKernel")])
    _check(case, categories, "host_sync", ["delayStreamKernel"])
    _check(case, categories, "gemm.dense", ["std::enable_if<!T7", "std::enable_if<!(false)", "nvjet_", "cublasLt::splitK"])
    case.check("all have a category", [name for name, category in categories.items() if category == "unclassified"], [])


def perf_topk_category(case):
    categories = _categories(case, "names2.json")
    _check(case, categories, "attention", [
        "topk_transform_decode_kernel", "topk_transform_prefill_kernel", "topk_transform_prefill_ragged_kernel", "vllm::topKPerRowDecode",
        "vllm::topKPerRowPrefill", "persistent_topk_kernel", "cooperative_topk_kernel", "_logical_to_physical_kernel", "_logical_score_kernel"])
    _check(case, categories, "kv_cache", ["_set_k_and_s_triton_kernel", "_get_k_and_s_triton_kernel", "fused_store_indexer_cache"])
    _check(case, categories, "moe.routing", [
        "token_gather_and_sum_varlen_K_kernel", "_compute_col_partial_sum_kernel", "_bitmatrix_metadata_compute_stage1", "_bitmatrix_metadata_compute_stage2"])
    categories = _categories(case, "names3.json")
    _check(case, categories, "moe.routing", ["_ragged_tensor_metadata_memset", "_ragged_tensor_metadata_compute", "_bitmatrix_metadata_compute_stage1"])
    _check(case, categories, "moe.gemm", ["_matmul_NNT_bf16xbf16xmxfp4", "_p_matmul_NNT_bf16xbf16xmxfp4", "_p_matmul"])
