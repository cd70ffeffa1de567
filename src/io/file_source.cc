#include "io/file_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system_error.h"

namespace tacho {

Result<std::unique_ptr<FileSource>> FileSource::Open(const std::string& path) {
  TACHO_ASSIGN_OR_RETURN(OpenedFile opened, OpenForReading(path));
  const bool regular = S_ISREG(opened.status.st_mode);
  uint64_t size = static_cast<uint64_t>(std::max<off_t>(opened.status.st_size, 0));
  if (regular) {
    // Standard input may be a file that was already read in part.
    const off_t offset = ::lseek(opened.file.get(), 0, SEEK_CUR);
    if (offset > 0) size -= std::min(size, static_cast<uint64_t>(offset));
    ::posix_fadvise(opened.file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  return std::unique_ptr<FileSource>(new FileSource(std::move(opened.file), regular, size));
}

FileSource::FileSource(FileDescriptor file, bool regular, uint64_t size)
    : file_(std::move(file)),
      cancel_(regular ? FileDescriptor()
                      : FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      regular_(regular),
      size_(size) {}

size_t FileSource::Read(char* to, size_t room) {
  const uint64_t position = position_.load(std::memory_order_relaxed);
  if (ended_ || room == 0) return 0;
  if (regular_) {
    const uint64_t limit = size_ > 0 ? size_ : kMaxUnsized;
    if (position >= limit) return AtSizeLimit(position);
    room = static_cast<size_t>(std::min<uint64_t>(room, limit - position));
  }
  while (true) {
    if (!regular_ && !WaitForBytes()) return AtEnd(position, "");
    const ssize_t got = ::read(file_.get(), to, room);
    if (got > 0) {
      position_.store(position + static_cast<uint64_t>(got), std::memory_order_relaxed);
      return static_cast<size_t>(got);
    }
    if (got < 0) {
      if (errno == EINTR || (errno == EAGAIN && !regular_)) continue;
      return AtEnd(position, fmt::format("reading failed: {}", SystemErrorText(errno)));
    }
    if (regular_ && position < size_) {
      return AtEnd(position,
                   fmt::format("the file shrank while it was read: it had {} bytes when it "
                               "was opened",
                               size_));
    }
    return AtEnd(position, "");
  }
}

size_t FileSource::AtSizeLimit(uint64_t position) {
  char more = 0;
  // One more byte than the size at opening proves that the file has grown, on any file system.
  if (::read(file_.get(), &more, 1) <= 0) return AtEnd(position, "");
  return AtEnd(position,
               "the file grew while it was read: the rest is not read; wait until it is written");
}

size_t FileSource::AtEnd(uint64_t position, const std::string& text) {
  ended_ = true;
  if (!text.empty()) {
    end_ = {StreamDefect::kReadFailed, fmt::format("byte {}: {}", position, text)};
  }
  return 0;
}

// Returns false if Cancel was called. After an error of poll it returns true, because read gives
// the better message.
bool FileSource::WaitForBytes() const {
  std::array<pollfd, 2> waiting = {pollfd{file_.get(), POLLIN, 0},
                                   pollfd{cancel_.get(), POLLIN, 0}};
  while (::poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) {
  }
  return waiting[1].revents == 0;
}

void FileSource::Cancel() {
  if (regular_) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(cancel_.get(), &one, sizeof(one));
}

}  // namespace tacho
