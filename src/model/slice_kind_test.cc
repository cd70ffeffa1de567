#include "model/slice_kind.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(MeaningOfCategory, HasKinetosWords) {
  EXPECT_EQ(MeaningOfCategory("kernel").kind, SliceKind::kKernel);
  EXPECT_EQ(MeaningOfCategory("cuda_graph").kind, SliceKind::kKernel);
  EXPECT_EQ(MeaningOfCategory("gpu_memset").kind, SliceKind::kMemset);
  EXPECT_EQ(MeaningOfCategory("gpu_user_annotation").kind, SliceKind::kGpuAnnotation);
  EXPECT_EQ(MeaningOfCategory("user_annotation").kind, SliceKind::kAnnotation);
  EXPECT_EQ(MeaningOfCategory("cuda_driver").kind, SliceKind::kHostCall);
  EXPECT_EQ(MeaningOfCategory("cuda_sync").kind, SliceKind::kOther);
  EXPECT_EQ(MeaningOfCategory("cuda_sync").sign, DeviceSign::kPresent);
  EXPECT_EQ(MeaningOfCategory("Trace").sign, DeviceSign::kNone);
  EXPECT_TRUE(MeaningOfCategory("Trace").known);
}

TEST(MeaningOfCategory, AMakePutsItsNameInFrontOfThem) {
  for (const char* runtime : {"mlu_runtime", "musa_runtime", "xpu_driver", "hpu_runtime"}) {
    EXPECT_EQ(MeaningOfCategory(runtime).kind, SliceKind::kHostCall) << runtime;
  }
  EXPECT_EQ(MeaningOfCategory("mlu_memcpy").kind, SliceKind::kMemcpy);
  EXPECT_EQ(MeaningOfCategory("musa_memset").kind, SliceKind::kMemset);
  EXPECT_EQ(MeaningOfCategory("gcu_kernel").kind, SliceKind::kKernel);
  EXPECT_EQ(MeaningOfCategory("mlu_user_annotation").kind, SliceKind::kGpuAnnotation);
  EXPECT_EQ(MeaningOfCategory("mlu_profiler_range").sign, DeviceSign::kRangeProfiler);
  EXPECT_EQ(MeaningOfCategory("cuda_profiler_range").sign, DeviceSign::kRangeProfiler);
}

TEST(MeaningOfCategory, OtherRowsOfAMakeAreNotRead) {
  for (const char* rows : {"hpu_op", "mtia_ccp_events", "npu_op", "glow_something"}) {
    EXPECT_EQ(MeaningOfCategory(rows).sign, DeviceSign::kUnread) << rows;
    EXPECT_EQ(MeaningOfCategory(rows).kind, SliceKind::kOther) << rows;
  }
  EXPECT_EQ(MeaningOfCategory("gpu_op").sign, DeviceSign::kWorkByName);
}

TEST(MeaningOfCategory, OtherWordsAreUnknown) {
  for (const char* other : {"FEE", "", "_", "gpu_", "java_runtime", "user_memcpy", "gpu"}) {
    EXPECT_FALSE(MeaningOfCategory(other).known) << other;
  }
}

}  // namespace
}  // namespace tacho
