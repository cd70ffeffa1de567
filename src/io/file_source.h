#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/byte_source.h"
#include "io/open_file.h"

namespace tacho {

// The bytes of a file, a FIFO or standard input ("-").
//
// A regular file is read up to the size that it had when it was opened, so that a file which an
// engine is still writing has an end. If the file has grown or shrunk meanwhile, end() says so
// (kReadFailed). A file that claims to be empty, as those in /proc do, is read until the system
// reports its end, for at most kMaxUnsized bytes.
class FileSource : public ByteSource {
 public:
  static constexpr uint64_t kMaxUnsized = uint64_t{1} << 30;

  // kUnreadable: missing, no permission, a folder, a device, a socket.
  static Result<std::unique_ptr<FileSource>> Open(const std::string& path);

  size_t Read(char* to, size_t room) override;
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override {
    return position_.load(std::memory_order_relaxed);
  }
  void Cancel() override;

  // True for a regular file; its first `size_at_open` bytes are read. False for a FIFO or another
  // stream.
  [[nodiscard]] bool is_regular() const { return regular_; }
  [[nodiscard]] uint64_t size_at_open() const { return size_; }

 private:
  FileSource(FileDescriptor file, bool regular, uint64_t size);
  size_t AtEnd(uint64_t position, const std::string& text);
  size_t AtSizeLimit(uint64_t position);
  [[nodiscard]] bool WaitForBytes() const;

  FileDescriptor file_;
  FileDescriptor cancel_;  // for streams: an eventfd with which Cancel ends a wait
  const bool regular_;
  const uint64_t size_;
  std::atomic<uint64_t> position_ = 0;
  bool ended_ = false;
  StreamEnd end_;
};

}  // namespace tacho
