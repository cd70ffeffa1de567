#include "io/file_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "base/file_descriptor.h"
#include "base/folder_for_test.h"
#include "base/system_error.h"
#include "io/packed_for_test.h"

namespace tacho {
namespace {

using packed::Delivered;
using packed::Gzipped;
using packed::ReadAll;
using packed::SampleText;
using ::testing::HasSubstr;

std::string ErrorOf(const std::string& path) {
  const auto file = FileSource::Open(path);
  if (file) return "";
  EXPECT_EQ(file.error().kind, ErrorKind::kUnreadable);
  return file.error().message;
}

// Makes a file the standard input while the object lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path)
      : StandardInput(FileDescriptor(open(path.c_str(), O_RDONLY))) {}
  explicit StandardInput(const FileDescriptor& input) : saved_(dup(STDIN_FILENO)) {
    EXPECT_TRUE(input);
    dup2(input.get(), STDIN_FILENO);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput() { dup2(saved_.get(), STDIN_FILENO); }

 private:
  const FileDescriptor saved_;
};

TEST(FileSource, SaysWhyAPathIsNotRead) {
  FolderForTest folder;
  const std::string missing = folder.At("missing.json");
  EXPECT_EQ(ErrorOf(missing), missing + ": does not exist: check the path");
  EXPECT_THAT(ErrorOf(folder.Write("file", "x") + "/below"), HasSubstr("does not exist"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("does not exist"));
  EXPECT_EQ(ErrorOf(folder.path()), folder.path() + ": is a folder: name a trace file in it");
  EXPECT_THAT(ErrorOf("/dev/zero"), HasSubstr("/dev/zero: is a character device"));
  EXPECT_THAT(ErrorOf("/dev/null"), HasSubstr("is a character device"));
  EXPECT_THAT(ErrorOf(folder.At(std::string(5000, 'n'))), HasSubstr("cannot be opened"));
}

TEST(FileSource, RefusesASocket) {
  FolderForTest folder;
  const std::string path = folder.At("s");
  const FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::strcpy(address.sun_path, path.c_str());
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_THAT(ErrorOf(path), HasSubstr("is a socket"));
}

TEST(FileSource, SaysThatPermissionIsMissing) {
  FolderForTest folder;
  const std::string path = folder.Write("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  const WithoutRoot user;
  if (!user.works()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_THAT(ErrorOf(path), HasSubstr("secret: no permission"));
}

TEST(FileSource, ReportsAReadThatFails) {
  const auto file = FileSource::Open("/proc/self/mem");  // nothing is mapped at address 0
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Delivered all = ReadAll(**file);
  EXPECT_EQ(all.bytes, "");
  EXPECT_EQ(all.defect, StreamDefect::kReadFailed);
  EXPECT_EQ(all.text, "byte 0: reading failed: " + SystemErrorText(EIO));
}

TEST(FileSource, ReadsFilesThatClaimToBeEmpty) {
  const auto file = FileSource::Open("/proc/self/status");
  ASSERT_TRUE(file.has_value());
  EXPECT_THAT(ReadAll(**file).bytes, HasSubstr("VmRSS"));
}

TEST(FileSource, EndsWhenTheFileShrinks) {
  FolderForTest folder;
  const std::string path = folder.Write("t", std::string(3000, 'x'));
  const auto file = FileSource::Open(path);
  ASSERT_TRUE(file.has_value());
  char buffer[1000];
  ASSERT_EQ((*file)->Read(buffer, sizeof(buffer)), sizeof(buffer));
  ASSERT_EQ(truncate(path.c_str(), 1500), 0);
  const Delivered rest = ReadAll(**file, sizeof(buffer));
  EXPECT_EQ(rest.bytes.size(), 500u);
  EXPECT_EQ(rest.defect, StreamDefect::kReadFailed);
  EXPECT_THAT(rest.text, HasSubstr("byte 1500: the file shrank"));
  EXPECT_THAT(rest.text, HasSubstr("3000 bytes"));
}

TEST(FileSource, ReadsTheSnapshotOfAFileThatGrows) {
  FolderForTest folder;
  const std::string path = folder.Write("t", std::string(3000, 'x'));
  const auto file = FileSource::Open(path);
  ASSERT_TRUE(file.has_value());
  const FileDescriptor writer(open(path.c_str(), O_WRONLY | O_APPEND));
  char buffer[100];
  size_t total = 0;
  while (const size_t size = (*file)->Read(buffer, sizeof(buffer))) {
    total += size;
    ASSERT_EQ(write(writer.get(), std::string(200, 'y').data(), 200), 200);
    ASSERT_LE(total, 3000u) << "runs after the writer";
  }
  EXPECT_EQ(total, 3000u);
  EXPECT_EQ((*file)->end().defect, StreamDefect::kReadFailed);
  EXPECT_THAT((*file)->end().text, HasSubstr("byte 3000: the file grew"));
}

TEST(FileSource, ShrinkingUnderGzipIsAFailedReadThatKeepsTheBytes) {
  FolderForTest folder;
  const std::string text = SampleText(20'000'000);
  const std::string path = folder.Write("t.gz", Gzipped(text, 1));
  for (const StreamThreads threads : {StreamThreads::kInline, StreamThreads::kAhead}) {
    folder.Write("t.gz", Gzipped(text, 1));
    const auto stream = OpenStream(path, threads);
    ASSERT_TRUE(stream.has_value());
    std::string bytes;
    for (Block block = (*stream)->Next(); block.size > 0; block = (*stream)->Next()) {
      if (bytes.empty()) {
        ASSERT_EQ(truncate(path.c_str(), 1000), 0);
      }
      bytes.append(block.data, block.size);
    }
    EXPECT_TRUE(text.starts_with(bytes));
    EXPECT_GT(bytes.size(), 0u);
    if (bytes.size() < text.size()) {  // the thread may have finished first
      EXPECT_EQ((*stream)->defect(), StreamDefect::kReadFailed);
      EXPECT_THAT((*stream)->defect_text(), HasSubstr("shrank"));
    }
  }
}

TEST(FileSource, ReadsAFifoToItsEnd) {
  FolderForTest folder;
  const std::string path = folder.At("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string text = SampleText(1'000'000);
  for (const StreamThreads threads : {StreamThreads::kInline, StreamThreads::kAhead}) {
    std::thread writer([&] { folder.Write("fifo", Gzipped(text)); });
    const auto stream = OpenStream(path, threads);
    ASSERT_TRUE(stream.has_value());
    const Delivered all = ReadAll(**stream);
    writer.join();
    EXPECT_TRUE(all.bytes == text);
    EXPECT_EQ(all.defect, StreamDefect::kNone);
  }
}

TEST(FileSource, ReadsAnUnblockedPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  FileDescriptor far(ends[1]);
  const StandardInput redirected{FileDescriptor(ends[0])};
  std::thread writer([&] {
    for (const char c : std::string("slowly")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(write(far.get(), &c, 1), 1);
    }
    far.Close();
  });
  const auto stream = OpenStream("-", StreamThreads::kInline);
  ASSERT_TRUE(stream.has_value()) << stream.error().message;
  EXPECT_EQ(ReadAll(**stream).bytes, "slowly");
  writer.join();
}

TEST(FileSource, ReadsStandardInputFromWhereItStands) {
  FolderForTest folder;
  const StandardInput redirected(folder.Write("t", "0123456789"));
  char buffer[3];
  ASSERT_EQ(read(STDIN_FILENO, buffer, sizeof(buffer)), 3);
  const auto file = FileSource::Open("-");
  ASSERT_TRUE(file.has_value());
  const Delivered all = ReadAll(**file);
  EXPECT_EQ(all.bytes, "3456789");
  EXPECT_EQ(all.defect, StreamDefect::kNone) << all.text;
}

TEST(FileSource, RefusesADeviceAndAClosedStandardInput) {
  {
    const StandardInput redirected("/dev/zero");
    EXPECT_THAT(ErrorOf("-"), HasSubstr("standard input: is a character device"));
  }
  const StandardInput restored("/dev/null");
  close(STDIN_FILENO);
  EXPECT_THAT(ErrorOf("-"), HasSubstr("standard input: is closed"));
}

}  // namespace
}  // namespace tacho
