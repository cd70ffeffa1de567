#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "io/archive_reader.h"
#include "io/byte_source.h"

namespace tacho {

// At most so many members of an archive are looked at.
inline constexpr size_t kMaxArchiveMembers = 100'000;

// Opens the archive in the file `path`, also when it is packed with gzip or zstd. Errors have
// `path` in front.
Result<std::unique_ptr<ArchiveReader>> OpenArchive(const std::string& path);

// The bytes of the member `name` (as ArchiveReader names it), as they are stored in the archive.
Result<std::unique_ptr<ByteSource>> OpenArchiveMember(const std::string& path,
                                                      const std::string& name);

// The bytes of the current member of `reader`, which the caller keeps alive and does not move on.
std::unique_ptr<ByteSource> SourceOfMember(ArchiveReader& reader);

}  // namespace tacho
