#include "trace_shape.h"

namespace tacho::bench {
namespace {

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

}  // namespace

std::span<const OpShape> OpShapes() { return kOpShapes; }

}  // namespace tacho::bench
