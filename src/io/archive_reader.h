#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "io/byte_source.h"
#include "io/open_file.h"

struct archive;
struct archive_entry;

namespace tacho {

// One file in an archive.
struct ArchiveMember {
  // The member's name in the archive, made unique: "NAME#2" for the second member with that name.
  // It is never used as a path on disk. Control characters are replaced by "?"; after 4096 bytes it
  // is cut.
  std::string name;
  uint64_t size = 0;  // 0 if the archive does not say
  bool encrypted = false;
};

// Goes through the members of a tar or zip archive, using libarchive. Writes nothing to disk.
class ArchiveReader {
 public:
  // The archive in a file, from the file's start. Seeks past members that are not read.
  static Result<std::unique_ptr<ArchiveReader>> OfFile(FileDescriptor file);
  // The archive in the bytes of `source`, which are read in order.
  static Result<std::unique_ptr<ArchiveReader>> OfSource(std::unique_ptr<ByteSource> source);
  // The archive in bytes that the caller keeps alive.
  static Result<std::unique_ptr<ArchiveReader>> OfMemory(std::string_view bytes);

  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  ~ArchiveReader();

  // Moves to the next member that is a regular file; nullopt at the archive's end. An error ends
  // the walk: the archive is damaged after the members seen so far.
  Result<std::optional<ArchiveMember>> Next();

  // Reads bytes of the current member. Returns 0 at its end, whether that is complete or damaged.
  size_t Read(char* to, size_t room);
  // How the current member ended; valid after Read has returned 0.
  [[nodiscard]] const StreamEnd& member_end() const { return member_end_; }

 private:
  struct Input;  // the source from which libarchive's callbacks read

  ArchiveReader();
  std::string UniqueName(archive_entry* entry);
  [[nodiscard]] StreamEnd InputDefect() const;
  [[nodiscard]] std::string FailureText() const;
  bool NextPiece();
  bool EndMember(StreamDefect defect, const std::string& text);

  FileDescriptor file_;
  std::unique_ptr<Input> input_;
  archive* archive_;
  // name -> number of its last member (2 for "NAME#2").
  std::unordered_map<std::string, int> names_;
  uint64_t entries_ = 0;
  std::string_view piece_;  // bytes of the current member, in libarchive's memory
  uint64_t member_position_ = 0;
  bool member_ended_ = true;
  StreamEnd member_end_;
};

}  // namespace tacho
