#include "io/ahead_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>

#include "base/file_descriptor.h"
#include "base/folder_for_test.h"
#include "io/memory_source.h"
#include "io/packed_for_test.h"

namespace tacho {
namespace {

using packed::ReadAll;
using packed::SampleText;

// Never ends, or throws std::bad_alloc after `throw_at` reads.
class CountingSource : public ByteSource {
 public:
  CountingSource(std::atomic<int>& reads, int throw_at) : reads_(reads), throw_at_(throw_at) {}
  size_t Read(char* to, size_t room) override {
    if (reads_ == throw_at_) throw std::bad_alloc();
    std::fill_n(to, room, static_cast<char>('a' + reads_ % 26));
    ++reads_;
    return room;
  }
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override { return static_cast<uint64_t>(reads_); }

 private:
  std::atomic<int>& reads_;
  const int throw_at_;
  const StreamEnd end_;
};

TEST(AheadStream, GivesTheBytesInOrder) {
  const std::string text = SampleText(500'000);
  for (const size_t block : {1000u, 4096u, 100'000u, 1u << 20}) {
    AheadStream stream(std::make_unique<MemorySource>(text), block);
    EXPECT_EQ(stream.defect(), StreamDefect::kNone);
    EXPECT_TRUE(ReadAll(stream).bytes == text);
    EXPECT_EQ(stream.Next().size, 0u);
    EXPECT_EQ(stream.stored_bytes(), text.size());
  }
}

TEST(AheadStream, LeavesABlockAloneUntilTheNextCall) {
  std::atomic<int> reads = 0;
  AheadStream stream(std::make_unique<CountingSource>(reads, -1), 1000);
  for (int i = 0; i < 50; ++i) {
    const Block block = stream.Next();
    // Wait until the thread has filled all it may, then look.
    while (reads < i + static_cast<int>(AheadStream::kBlocks)) std::this_thread::yield();
    EXPECT_EQ(std::string(block.data, block.size),
              std::string(1000, static_cast<char>('a' + i % 26)));
    EXPECT_EQ(reads, i + static_cast<int>(AheadStream::kBlocks)) << "reads further than it may";
  }
}

TEST(AheadStream, StopsWhenTheReaderGoesAway) {
  for (const int blocks : {0, 1, 7}) {
    std::atomic<int> reads = 0;
    AheadStream stream(std::make_unique<CountingSource>(reads, -1), 1000);
    for (int i = 0; i < blocks; ++i) stream.Next();
    if (blocks == 7) {
      while (reads < blocks - 1 + static_cast<int>(AheadStream::kBlocks)) std::this_thread::yield();
    }
  }
}

TEST(AheadStream, ThrowsWhatTheSourceThrewAfterTheBlocksBeforeIt) {
  std::atomic<int> reads = 0;
  AheadStream stream(std::make_unique<CountingSource>(reads, 3), 1000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stream.Next().size, 1000u);
  EXPECT_THROW(stream.Next(), std::bad_alloc);
  EXPECT_THROW(stream.Next(), std::bad_alloc);
}

TEST(AheadStream, StopsWhileItWaitsForAPipe) {
  FolderForTest folder;
  const std::string path = folder.At("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // Held open for writing, so that its end never comes.
  const FileDescriptor writer(open(path.c_str(), O_RDWR));
  ASSERT_TRUE(writer);
  ASSERT_EQ(write(writer.get(), "some bytes", 10), 10);
  const auto start = std::chrono::steady_clock::now();
  {
    const auto stream = OpenStream(path, StreamThreads::kAhead);
    ASSERT_TRUE(stream.has_value());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace tacho
