#include "io/block_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/folder_for_test.h"
#include "io/packed_for_test.h"
#include "io/source_stream.h"

namespace tacho {
namespace {

using packed::Delivered;
using packed::ReadAll;
using packed::SampleText;

TEST(StreamOfMemory, GivesBlocksOfTheSizeAskedForAndThenTheEnd) {
  const auto stream = StreamOfMemory("abcdefg", 3);
  std::vector<std::string> blocks;
  while (true) {
    const Block block = stream->Next();
    if (block.size == 0) break;
    blocks.emplace_back(block.data, block.size);
  }
  EXPECT_EQ(blocks, (std::vector<std::string>{"abc", "def", "g"}));
  EXPECT_EQ(stream->Next().size, 0u);
  EXPECT_EQ(stream->defect(), StreamDefect::kNone);
  EXPECT_EQ(stream->stored_bytes(), 7u);
}

TEST(StreamOfMemory, OfNothingEndsAtOnce) {
  EXPECT_EQ(StreamOfMemory("")->Next().size, 0u);
  EXPECT_EQ(StreamOfMemory("", 0)->Next().size, 0u);
}

// A reader moves the cut-off start of a record to before the next block; vector code reads past the
// end.
TEST(BlockStream, LetsTheReaderWriteInTheBlockAndAroundIt) {
  const std::string text = SampleText(3'000'000);
  FolderForTest folder;
  for (const bool packed : {false, true}) {
    const std::string path = folder.Write("t", packed ? packed::Gzipped(text) : text);
    for (const StreamThreads threads : {StreamThreads::kInline, StreamThreads::kAhead}) {
      const auto stream = OpenStream(path, threads);
      ASSERT_TRUE(stream.has_value());
      std::string read;
      while (true) {
        const Block block = (*stream)->Next();
        if (block.size == 0) break;
        read.append(block.data, block.size);
        std::memset(block.data - BlockStream::kHeadroom, 'x',
                    BlockStream::kHeadroom + block.size + BlockStream::kTailroom);
      }
      EXPECT_TRUE(read == text) << "packed " << packed;
    }
  }
}

TEST(OpenStream, GivesPlainFilesInBlocks) {
  const std::string text = SampleText(2 * kBlockBytes + 5);
  FolderForTest folder;
  const auto stream = OpenStream(folder.Write("t.json", text), StreamThreads::kInline);
  ASSERT_TRUE(stream.has_value());
  std::vector<size_t> sizes;
  while (const size_t size = (*stream)->Next().size) sizes.push_back(size);
  EXPECT_LE(sizes.size(), 4u);
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), kBlockBytes);
  EXPECT_EQ((*stream)->stored_bytes(), text.size());
}

TEST(OpenStream, OfAnEmptyFileEndsWithoutADefect) {
  FolderForTest folder;
  for (const StreamThreads threads : {StreamThreads::kInline, StreamThreads::kAhead}) {
    const auto stream = OpenStream(folder.Write("empty", ""), threads);
    ASSERT_TRUE(stream.has_value());
    const Delivered all = ReadAll(**stream);
    EXPECT_EQ(all.bytes, "");
    EXPECT_EQ(all.defect, StreamDefect::kNone);
    EXPECT_EQ((*stream)->Next().size, 0u);
  }
}

}  // namespace
}  // namespace tacho
