#include "control/log/log_signs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace tacho {
namespace {

using testing::ElementsAre;

// The phases of a real start, in their order.
std::vector<std::string> PhasesOf(const std::string& log) {
  std::ifstream file(TACHO_SOURCE_DIR "/tests/data/engine-logs/" + log);
  std::vector<std::string> phases;
  for (std::string line; std::getline(file, line);)
    if (const std::string phase(StartPhaseOf(line));
        !phase.empty() && (phases.empty() || phases.back() != phase))
      phases.push_back(phase);
  return phases;
}

TEST(StartPhase, OfRealStarts) {
  EXPECT_THAT(PhasesOf("vllm-0.32-healthy.log"),
              ElementsAre("starting its processes", "starting its workers", "loading the weights",
                          "warming up", "starting its server"));
  EXPECT_THAT(PhasesOf("sglang-0.5.23-healthy.log"),
              ElementsAre("starting its processes", "connecting its ranks", "loading the weights",
                          "allocating its KV cache", "warming up", "starting its server",
                          "warming up", "answering"));
}

// Lines as vLLM 0.32 and SGLang 0.5.23 write them where there is a GPU.
TEST(StartPhase, OfAGpu) {
  EXPECT_EQ(StartPhaseOf("Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  45%|####"),
            "capturing CUDA graphs");
  EXPECT_EQ(StartPhaseOf("Dynamo bytecode transform time: 5.21 s"), "compiling the model");
  EXPECT_EQ(StartPhaseOf("Capture decode CUDA graph begin. backend=full, num_tokens_per_bs=1"),
            "capturing CUDA graphs");
  EXPECT_EQ(StartPhaseOf("Capture decode CUDA graph end. elapsed=3.10 s"), "starting its server");
  // vllm #39033, #46389, #25848; sglang #5580, #10622
  for (const auto& [line, phase] :
       {std::pair{"Loading weights took 0.98 seconds", "preparing the model"},
        std::pair{"Model loading took 7.16 GiB memory and 9.5 seconds", "measuring its memory"},
        std::pair{"Using cache directory: /c/rank_0_0/backbone for vLLM's torch.compile",
                  "compiling the model"},
        std::pair{"torch.compile took 14.85 s in total", "measuring its memory"},
        std::pair{"torch.compile takes 14.45 s in total", "measuring its memory"},
        std::pair{"Init torch distributed begin.", "connecting its ranks"},
        std::pair{"Try DeepGEMM JIT Compiling for <GEMM_NT_F8F8BF16> N=2048, K=512",
                  "compiling kernels"}})
    EXPECT_EQ(StartPhaseOf(line), phase) << line;
  EXPECT_EQ(StartPhaseOf("Triton is not supported on current platform, roll back to CPU."), "");
}

}  // namespace
}  // namespace tacho
