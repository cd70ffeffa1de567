#include "session/files/unpack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/replace_file.h"
#include "io/archive_reader.h"
#include "session/files/trace_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostName = 200;

std::string TooMuch(uint64_t most) {
  return fmt::format("more than {} bytes came: record fewer steps, or copy the traces by hand",
                     most);
}

// Ends after `most` bytes, because nothing else limits the members that are skipped.
class BoundedSource final : public ByteSource {
 public:
  BoundedSource(std::unique_ptr<ByteSource> source, uint64_t most)
      : source_(std::move(source)), most_(most) {}
  size_t Read(char* to, size_t room) override {
    if (source_->stored_bytes() > most_) return 0;
    return source_->Read(to, room);
  }
  [[nodiscard]] const StreamEnd& end() const override {
    return source_->stored_bytes() > most_ ? too_long_ : source_->end();
  }
  [[nodiscard]] uint64_t stored_bytes() const override { return source_->stored_bytes(); }

 private:
  const std::unique_ptr<ByteSource> source_;
  const uint64_t most_;
  const StreamEnd too_long_ = {StreamDefect::kTruncated, TooMuch(most_)};
};

// The last part of a member's name; "" if the member is not one of the requested traces.
std::string NameOf(const std::string& member, std::string_view key) {
  const std::string name = member.substr(member.rfind('/') + 1);
  const bool asked = NameHasKey(name, key) && IsTraceName(name);
  return asked && name.size() <= kMostName ? name : "";
}

// Writes the current member to `path`, which appears only once the member is complete.
Result<void> WriteMember(ArchiveReader& reader, const std::string& path, uint64_t most,
                         uint64_t& so_far, const std::function<void(uint64_t)>& progress) {
  FileBeside file(path);
  int error = file.Open();
  std::string buffer(256 << 10, '\0');
  while (error == 0) {
    const size_t got = reader.Read(buffer.data(), buffer.size());
    if (got == 0) break;
    if (got > most - so_far) return Fail(ErrorKind::kRemote, TooMuch(most));
    so_far += got;
    error = file.Append(std::string_view(buffer.data(), got));
    progress(so_far);
  }
  if (error == 0) error = file.Flush();
  if (const StreamEnd& end = reader.member_end(); error == 0 && end.defect != StreamDefect::kNone)
    return Fail(ErrorKind::kRemote, end.text);
  if (error == 0) error = file.Commit();
  if (error == 0) return {};
  return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path, std::strerror(error)));
}

}  // namespace

Result<std::vector<std::string>> UnpackTraces(std::unique_ptr<ByteSource> archive,
                                              std::string_view key, const std::string& target,
                                              const UnpackBounds& bounds,
                                              const std::function<void(uint64_t)>& progress) {
  std::error_code failed;
  fs::create_directories(target, failed);
  if (failed) return Fail(ErrorKind::kOutput, fmt::format("{}: {}", target, failed.message()));
  Result<std::unique_ptr<ArchiveReader>> reader =
      ArchiveReader::OfSource(std::make_unique<BoundedSource>(std::move(archive), bounds.bytes));
  if (!reader) return Fail(ErrorKind::kRemote, reader.error().message);
  std::vector<std::string> files;
  FreshNames names(target);
  uint64_t so_far = 0;
  for (size_t members = 0;; ++members) {
    Result<std::optional<ArchiveMember>> member = (*reader)->Next();
    if (!member) return Fail(ErrorKind::kRemote, member.error().message);
    if (!*member) break;
    if (members == bounds.files)
      return Fail(ErrorKind::kRemote, fmt::format("more than {} files arrived", bounds.files));
    const std::string name = NameOf((*member)->name, key);
    if (name.empty()) continue;
    const std::string path = names.PathFor(name);
    TACHO_RETURN_IF_ERROR(WriteMember(**reader, path, bounds.bytes, so_far, progress));
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tacho
