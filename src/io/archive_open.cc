#include "io/archive_open.h"

#include <atomic>

#include "io/decode.h"
#include "io/file_source.h"
#include "io/peeked_source.h"

namespace tacho {
namespace {

class MemberSource : public ByteSource {
 public:
  explicit MemberSource(ArchiveReader& reader) : reader_(reader) {}
  explicit MemberSource(std::unique_ptr<ArchiveReader> reader)
      : owned_(std::move(reader)), reader_(*owned_) {}

  size_t Read(char* to, size_t room) override {
    const size_t size = reader_.Read(to, room);
    stored_bytes_.fetch_add(size, std::memory_order_relaxed);
    return size;
  }
  [[nodiscard]] const StreamEnd& end() const override { return reader_.member_end(); }
  [[nodiscard]] uint64_t stored_bytes() const override {
    return stored_bytes_.load(std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<ArchiveReader> owned_;
  ArchiveReader& reader_;
  std::atomic<uint64_t> stored_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<ArchiveReader>> OpenArchive(const std::string& path) {
  TACHO_ASSIGN_OR_RETURN(std::unique_ptr<FileSource> file, FileSource::Open(path));
  const bool regular = file->is_regular();
  auto stored = std::make_unique<PeekedSource>(std::move(file));
  if (!regular || PackingOf(stored->Peek(kPackingBytes)) != Packing::kPlain) {
    return WithContext(ArchiveReader::OfSource(Decode(std::move(stored))), path);
  }
  // The archive is not compressed, so libarchive may seek: past unwanted members, and to a zip's
  // directory.
  TACHO_ASSIGN_OR_RETURN(OpenedFile again, OpenForReading(path));
  return WithContext(ArchiveReader::OfFile(std::move(again.file)), path);
}

Result<std::unique_ptr<ByteSource>> OpenArchiveMember(const std::string& path,
                                                      const std::string& name) {
  TACHO_ASSIGN_OR_RETURN(std::unique_ptr<ArchiveReader> reader, OpenArchive(path));
  for (size_t i = 0; i < kMaxArchiveMembers; ++i) {
    TACHO_ASSIGN_OR_RETURN(std::optional<ArchiveMember> member, WithContext(reader->Next(), path));
    if (!member) break;
    if (member->name == name) return std::make_unique<MemberSource>(std::move(reader));
  }
  return FailAt(ErrorKind::kUnreadable, path,
                "has no member " + name + ": the archive was changed, look for traces again");
}

std::unique_ptr<ByteSource> SourceOfMember(ArchiveReader& reader) {
  return std::make_unique<MemberSource>(reader);
}

}  // namespace tacho
