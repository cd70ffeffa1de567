#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "io/archive_reader.h"
#include "io/byte_source.h"

namespace tacho {

// Only this many members of an archive are looked at.
inline constexpr size_t kMaxArchiveMembers = 100'000;

// Opens the archive in the file `path`, even if it is compressed with gzip or zstd. Errors begin
// with `path`.
Result<std::unique_ptr<ArchiveReader>> OpenArchive(const std::string& path);

// The bytes of the member `name` (spelled as by ArchiveReader), as the archive stores them.
Result<std::unique_ptr<ByteSource>> OpenArchiveMember(const std::string& path,
                                                      const std::string& name);

// The bytes of the current member of `reader`. The caller must keep `reader` alive and not advance
// it.
std::unique_ptr<ByteSource> SourceOfMember(ArchiveReader& reader);

}  // namespace tacho
