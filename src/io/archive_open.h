#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "io/archive_reader.h"
#include "io/byte_source.h"

namespace tacho {

// The most members of an archive that are looked at.
inline constexpr size_t kMaxArchiveMembers = 100'000;

// Opens the archive in the file `path`, also if it is packed with gzip or zstd. Errors begin with
// `path`.
Result<std::unique_ptr<ArchiveReader>> OpenArchive(const std::string& path);

// The bytes of the member `name` (as ArchiveReader names it), as they are stored in the archive.
Result<std::unique_ptr<ByteSource>> OpenArchiveMember(const std::string& path,
                                                      const std::string& name);

// The bytes of the current member of `reader`. The caller keeps `reader` alive and does not advance
// it.
std::unique_ptr<ByteSource> SourceOfMember(ArchiveReader& reader);

}  // namespace tacho
