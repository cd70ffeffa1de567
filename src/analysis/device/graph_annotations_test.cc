#include "analysis/device/graph_annotations.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

TEST(GraphAnnotations, AreTheNamesOfNodesOfAGraph) {
  TraceBuilder b;
  const auto add = [&](TraceBuilder::Arguments args) {
    b.Kernel("gemm", {.start = 0, .duration = 1, .args = std::move(args)});
  };
  add({{"graph node id", "5000000000"}, {"name", R"("layers.0.qkv")"}});
  add({{"graph node id", "5000000001"}});
  add({{"name", R"("no node")"}});
  add({{"graph node id", "5000000002"}, {"name", R"("say \"x\"")"}});
  add({{"graph node id", "5000000003"}, {"name", R"("layers.0.qkv")"}});
  add({{"graph node id", "5000000004"}, {"name", "7"}});
  add({{"graph node id", "5000000005"}, {"name", R"("")"}});
  const Trace trace = std::move(b).Finish();
  const GraphAnnotations annotations(trace);
  EXPECT_TRUE(annotations.anywhere());
  EXPECT_EQ(annotations.texts().size(), 3u);
  for (const auto& [row, text] : std::vector<std::pair<size_t, std::string>>{{0, "layers.0.qkv"},
                                                                             {1, ""},
                                                                             {2, ""},
                                                                             {3, "say \"x\""},
                                                                             {4, "layers.0.qkv"},
                                                                             {5, ""},
                                                                             {6, ""}}) {
    EXPECT_EQ(annotations.Of(row), text) << row;
    EXPECT_EQ(GraphAnnotationOf(trace, row), text) << row;
  }
}

TEST(GraphAnnotations, ATraceWithoutThemHasNone) {
  TraceBuilder b;
  b.Kernel("gemm", {.start = 0, .duration = 1, .args = {{"graph node id", "5"}}});
  b.Host("cpu_op", "aten::mm", {.start = 0, .duration = 1, .args = {{"name", R"("x")"}}});
  const Trace trace = std::move(b).Finish();
  const GraphAnnotations annotations(trace);
  EXPECT_FALSE(annotations.anywhere());
  EXPECT_EQ(annotations.Of(0), "");
}

}  // namespace
}  // namespace tacho
