#include "cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "cli/output.h"

namespace tacho {

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
  std::error_code error;
  std::filesystem::create_directories(place.folder, error);
  if (error) return CannotWrite(path, error.value());
  file->beside_ = std::make_unique<FileBeside>(place.folder + "/" + place.name);
  if (const int reason = file->beside_->Open(); reason != 0) return CannotWrite(path, reason);
  return file;
}

bool OutputFile::Write(std::string_view bytes) {
  if (error_ == 0 && !stop_.stop_requested())
    error_ = beside_ ? beside_->Append(bytes) : WriteAll(stream_.get(), bytes);
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
