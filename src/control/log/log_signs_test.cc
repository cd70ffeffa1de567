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
  EXPECT_EQ(StartPhaseOf("Triton is not supported on current platform, roll back to CPU."), "");
}

}  // namespace
}  // namespace tacho
