#include "base/capture_file.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(IsCaptureFile, KnowsFoldersAndNames) {
  for (const char* path :
       {"a/capture_traces/bs_8_rank0.json.gz", "graph_capture_profile/x.json",
        "t.tar:capture_traces/x.json", "cuda_graph_capture-DecodeCudaGraphRunner-TP-0.json.gz",
        "graph_capture_rank_0.1795.pt.trace.json.gz", "Runner_bs_16_fa3_stream_0_rank3.json.gz",
        "bs_104_rank0.json"}) {
    EXPECT_TRUE(IsCaptureFile(path)) << path;
  }
  for (const char* path : {"capture_traces", "a/llama_bs_8_rank0.pt.trace.json", "bs_rank0.json",
                           "my_capture_traces/x.json", "1785501977.97-TP-0.trace.json.gz"}) {
    EXPECT_FALSE(IsCaptureFile(path)) << path;
  }
}

}  // namespace
}  // namespace tacho
