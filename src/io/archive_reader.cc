#include "io/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace tacho {
namespace {

constexpr size_t kInputBlock = 256 * 1024;

constexpr size_t kMostName = 4096;  // longest path; libarchive allows a megabyte

std::string WithoutControls(std::string name) {
  if (name.size() > kMostName) name.resize(kMostName);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return name;
}

}  // namespace

struct ArchiveReader::Input {
  explicit Input(std::unique_ptr<ByteSource> s)
      : source(std::move(s)), buffer(std::make_unique_for_overwrite<char[]>(kInputBlock)) {}

  static la_ssize_t Read(archive*, void* data, const void** bytes) {
    auto* input = static_cast<Input*>(data);
    *bytes = input->buffer.get();
    // An exception must not pass through C code, so it is rethrown once libarchive has returned.
    try {
      return static_cast<la_ssize_t>(input->source->Read(input->buffer.get(), kInputBlock));
    } catch (...) {
      input->failure = std::current_exception();
      return -1;
    }
  }
  void Rethrow() {
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  std::unique_ptr<ByteSource> source;
  std::unique_ptr<char[]> buffer;
  std::exception_ptr failure;
};

ArchiveReader::ArchiveReader() : archive_(archive_read_new()) {
  if (archive_ == nullptr) throw std::bad_alloc();
  archive_read_support_format_tar(archive_);
  archive_read_support_format_zip(archive_);
}

ArchiveReader::~ArchiveReader() { archive_read_free(archive_); }

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::OfFile(FileDescriptor file) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader());
  reader->file_ = std::move(file);
  const int status = archive_read_open_fd(reader->archive_, reader->file_.get(), kInputBlock);
  if (status != ARCHIVE_OK) return Fail(ErrorKind::kUnreadable, reader->FailureText());
  return reader;
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::OfSource(std::unique_ptr<ByteSource> source) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader());
  reader->input_ = std::make_unique<Input>(std::move(source));
  const int status =
      archive_read_open(reader->archive_, reader->input_.get(), nullptr, &Input::Read, nullptr);
  reader->input_->Rethrow();
  if (status != ARCHIVE_OK) return Fail(ErrorKind::kUnreadable, reader->FailureText());
  return reader;
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::OfMemory(std::string_view bytes) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader());
  const int status = archive_read_open_memory(reader->archive_, bytes.data(), bytes.size());
  if (status != ARCHIVE_OK) return Fail(ErrorKind::kUnreadable, reader->FailureText());
  return reader;
}

Result<std::optional<ArchiveMember>> ArchiveReader::Next() {
  while (true) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(archive_, &entry);
    if (input_) input_->Rethrow();
    if (status == ARCHIVE_RETRY) continue;
    const bool whole = InputDefect().defect == StreamDefect::kNone;
    if (status == ARCHIVE_EOF && whole) return std::nullopt;
    if (status == ARCHIVE_EOF || status < ARCHIVE_WARN) {
      return Fail(ErrorKind::kUnreadable, whole ? FailureText() : InputDefect().text);
    }
    ++entries_;
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    // Skip a hard link: its bytes are stored under the file's other name.
    if (archive_entry_hardlink(entry) != nullptr) continue;
    piece_ = {};
    member_position_ = 0;
    member_ended_ = false;
    member_end_ = {};
    ArchiveMember member;
    member.name = UniqueName(entry);
    member.size = static_cast<uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
    member.encrypted = archive_entry_is_encrypted(entry) != 0;
    return member;
  }
}

size_t ArchiveReader::Read(char* to, size_t room) {
  while (piece_.empty()) {
    if (member_ended_ || !NextPiece()) return 0;
  }
  const size_t size = std::min(room, piece_.size());
  std::memcpy(to, piece_.data(), size);
  piece_.remove_prefix(size);
  member_position_ += size;
  return size;
}

bool ArchiveReader::NextPiece() {
  const void* data = nullptr;
  size_t size = 0;
  la_int64_t offset = 0;
  const int status = archive_read_data_block(archive_, &data, &size, &offset);
  if (input_) input_->Rethrow();
  if (status == ARCHIVE_RETRY) return true;
  if (status == ARCHIVE_EOF) return EndMember(StreamDefect::kNone, "");
  if (status < ARCHIVE_WARN) {
    if (const StreamEnd input = InputDefect(); input.defect != StreamDefect::kNone) {
      return EndMember(input.defect, "in the archive, " + input.text);
    }
    return EndMember(StreamDefect::kCorrupt, FailureText());
  }
  // Refuse holes: a few bytes can describe one of exabytes, which would be read as zeros.
  if (offset < 0 || static_cast<uint64_t>(offset) != member_position_) {
    return EndMember(StreamDefect::kCorrupt, "the member has a hole: pack it without --sparse");
  }
  piece_ = std::string_view(static_cast<const char*>(data), size);
  return true;
}

bool ArchiveReader::EndMember(StreamDefect defect, const std::string& text) {
  member_ended_ = true;
  if (defect != StreamDefect::kNone) {
    member_end_ = {defect, fmt::format("byte {}: {}", member_position_, text)};
  }
  return false;
}

std::string ArchiveReader::UniqueName(archive_entry* entry) {
  // The UTF-8 form of a name does not depend on the locale, but not every name has one.
  const char* text = archive_entry_pathname_utf8(entry);
  if (text == nullptr) text = archive_entry_pathname(entry);
  std::string name =
      text != nullptr && *text != '\0' ? WithoutControls(text) : fmt::format("member {}", entries_);
  // Continue from the name's last number, so that many members with one name do not take quadratic
  // time.
  if (names_.try_emplace(name, 1).second) return name;
  std::string unique;
  do {
    unique = fmt::format("{}#{}", name, ++names_[name]);
  } while (!names_.try_emplace(unique, 1).second);
  return unique;
}

// How the bytes of the archive ended, if they have. Unlike libarchive, this distinguishes a
// truncated file from a wrong checksum.
StreamEnd ArchiveReader::InputDefect() const {
  if (!input_ || input_->source->end().defect == StreamDefect::kTrailingJunk) return {};
  return input_->source->end();
}

std::string ArchiveReader::FailureText() const {
  const char* text = archive_error_string(archive_);
  return fmt::format("the archive is damaged: {}", text != nullptr ? text : "no reason is known");
}

}  // namespace tacho
