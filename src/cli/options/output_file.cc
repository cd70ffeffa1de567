#include "cli/options/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/replace_file.h"

namespace tacho {
namespace {

constexpr int kLookForStopMs = 100;

// Like WriteAll, but a request to stop ends it, even while it waits for a reader of a full pipe.
int WriteUnlessStopped(int file, std::string_view text, const std::stop_token& stop) {
  if (file < 0) return EBADF;
  while (!text.empty() && !stop.stop_requested()) {
    pollfd ready{file, POLLOUT, 0};
    const int count = poll(&ready, 1, kLookForStopMs);
    if (count < 0 && errno != EINTR) return errno;
    if (count <= 0) continue;
    // If poll says that a pipe is ready, PIPE_BUF bytes go in without blocking.
    const std::string_view piece = text.substr(0, PIPE_BUF);
    if (const int error = WriteAll(file, piece); error != 0) return error;
    text.remove_prefix(piece.size());
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path,
                                                     std::stop_token stop) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, std::move(stop)));
  if (path == "-") {
    file->path_ = "standard output";
    file->stream_ = FileDescriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    return file;
  }
  TACHO_ASSIGN_OR_RETURN(const OutputPlace place, PlaceOf(path));
  if (place.name.empty()) {
    file->stream_ = FileDescriptor(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (file->stream_.get() < 0) return CannotWrite(path, errno);
    return file;
  }
  if (const int reason = file->folders_.Make(place.folder); reason != 0)
    return CannotWrite(path, reason);
  file->beside_ = std::make_unique<FileBeside>(place.folder + "/" + place.name);
  if (const int reason = file->beside_->Open(); reason != 0) return CannotWrite(path, reason);
  return file;
}

bool OutputFile::Write(std::string_view bytes) {
  if (error_ == 0 && !stop_.stop_requested())
    error_ = beside_ ? beside_->Append(bytes) : WriteUnlessStopped(stream_.get(), bytes, stop_);
  return error_ == 0 && !stop_.stop_requested();
}

Result<void> OutputFile::Finish() {
  if (stop_.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  if (beside_ && error_ == 0) error_ = beside_->Flush();
  if (beside_ && error_ == 0) error_ = beside_->Commit();
  if (error_ == 0 || (!beside_ && error_ == EPIPE)) return {};
  return CannotWrite(path_, error_);
}

}  // namespace tacho
