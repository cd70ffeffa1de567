#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "io/packed_for_test.h"
#include "io/trace_sources.h"
#include "support/corpus.h"

namespace tacho {
namespace {

using packed::Delivered;
using packed::ReadAll;
using ::testing::HasSubstr;

// Real traces, which are not in the repository.
class CorpusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasCorpus()) GTEST_SKIP() << NoCorpus();
  }
  [[nodiscard]] std::string At(const std::string& name) const { return corpus_ + "/" + name; }

  static Delivered Read(const TraceSource& source, StreamThreads threads) {
    const auto stream = OpenSource(source, threads);
    EXPECT_TRUE(stream.has_value()) << stream.error().message;
    return stream ? ReadAll(**stream) : Delivered{};
  }

  const std::string corpus_ = CorpusFolder();
};

TEST_F(CorpusTest, TarOfEightRanks) {
  const auto found = FindTraces({At("facebookresearch+param/dlrm_kineto.tar.gz")});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->traces.size(), 8u);
  for (size_t i = 0; i < 8; ++i) {
    const TraceSource& trace = found->traces[i];
    EXPECT_THAT(trace.member, HasSubstr("dlrm_kineto/worker" + std::to_string(i)));
    const Delivered all = Read(trace, i % 2 == 0 ? StreamThreads::kAhead : StreamThreads::kInline);
    EXPECT_EQ(all.defect, StreamDefect::kNone) << all.text;
    EXPECT_EQ(all.bytes.size(), trace.stored_bytes);
    EXPECT_THAT(all.bytes.substr(0, 100), HasSubstr("schemaVersion"));
  }
}

TEST_F(CorpusTest, EveryTraceIsFoundAndReadToItsEnd) {
  const auto found = FindTraces({corpus_});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  std::vector<std::string> paths;
  for (const TraceSource& trace : found->traces) paths.push_back(trace.path);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus_)) {
    const std::string path = entry.path().string();
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() || entry.file_size() == 0) continue;
    const bool trace =
        name.ends_with(".json.gz") || name.ends_with(".tar.gz") || name.ends_with(".tmp") ||
        name.ends_with(".pt.trace.json") || name.ends_with(".sqlite") ||
        (path.find("broken-variants") != std::string::npos && name != "EXPECT.json") ||
        name == "docs_traces_after_fix_trace.json";
    EXPECT_EQ(std::count(paths.begin(), paths.end(), path) > 0, trace) << path;
    if (name.ends_with(".nsys-rep")) {
      EXPECT_THAT(found->skipped, ::testing::Contains(HasSubstr(path + ": is an Nsight Systems")));
    }
  }
  for (const TraceSource& source : found->traces) {
    const Delivered ahead = Read(source, StreamThreads::kAhead);
    const bool cut = source.path.ends_with("killed_rank0.pt.trace.json.gz");
    EXPECT_EQ(ahead.defect, cut ? StreamDefect::kTruncated : StreamDefect::kNone)
        << source.Display() << ": " << ahead.text;
    EXPECT_TRUE(ahead.bytes == Read(source, StreamThreads::kInline).bytes) << source.Display();
    EXPECT_EQ(ahead.bytes.size() > 30, !source.path.ends_with("/empty-file.json"));
  }
}

TEST_F(CorpusTest, GzipVariantsAreTheSameTrace) {
  const Delivered one =
      Read({At("broken-variants/gzip-without-gz-suffix.json"), "", 0}, StreamThreads::kInline);
  const Delivered two =
      Read({At("broken-variants/two-gzip-members.json.gz"), "", 0}, StreamThreads::kAhead);
  EXPECT_EQ(one.defect, StreamDefect::kNone);
  EXPECT_EQ(two.defect, StreamDefect::kNone);
  EXPECT_GT(one.bytes.size(), 700'000u);
  EXPECT_TRUE(one.bytes == two.bytes);
}

}  // namespace
}  // namespace tacho
