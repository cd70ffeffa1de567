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
  Result<std::unique_ptr<FileSource>> file = FileSource::Open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  const bool regular = (*file)->is_regular();
  auto stored = std::make_unique<PeekedSource>(std::move(*file));
  const auto with_path = [&](const Error& e) { return e.WithContext(path); };
  if (!regular || PackingOf(stored->Peek(kPackingBytes)) != Packing::kPlain) {
    return ArchiveReader::OfSource(Decode(std::move(stored))).map_error(with_path);
  }
  // Not packed: libarchive may seek, over members that nobody wants and to the directory of a zip.
  Result<OpenedFile> again = OpenForReading(path);
  if (!again) return tl::unexpected<Error>(again.error());
  return ArchiveReader::OfFile(std::move(again->file)).map_error(with_path);
}

Result<std::unique_ptr<ByteSource>> OpenArchiveMember(const std::string& path,
                                                      const std::string& name) {
  Result<std::unique_ptr<ArchiveReader>> reader = OpenArchive(path);
  if (!reader) return tl::unexpected<Error>(reader.error());
  for (size_t i = 0; i < kMaxArchiveMembers; ++i) {
    Result<std::optional<ArchiveMember>> member = (*reader)->Next();
    if (!member) return tl::unexpected<Error>(member.error().WithContext(path));
    if (!*member) break;
    if ((*member)->name == name) return std::make_unique<MemberSource>(std::move(*reader));
  }
  return Fail(ErrorKind::kUnreadable, path + ": has no member " + name +
                                          ": the archive was changed, look for traces again");
}

std::unique_ptr<ByteSource> SourceOfMember(ArchiveReader& reader) {
  return std::make_unique<MemberSource>(reader);
}

}  // namespace tacho
