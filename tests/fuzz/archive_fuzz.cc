// Any bytes as an archive, from memory (with seeking) and as a stream in pieces; every member is
// judged by its content and decoded as a trace would be.
#include <cstdint>
#include <memory>
#include <string_view>

#include "io/archive_open.h"
#include "io/archive_reader.h"
#include "io/content_kind.h"
#include "io/decode.h"
#include "io/memory_source.h"
#include "io/peeked_source.h"

namespace {

constexpr size_t kMaxMembers = 200;
constexpr size_t kMaxBytes = 1 << 20;  // of one member

void ReadMembers(tacho::ArchiveReader& reader) {
  for (size_t i = 0; i < kMaxMembers; ++i) {
    const auto member = reader.Next();
    if (!member || !*member) return;
    tacho::PeekedSource plain(tacho::Decode(tacho::SourceOfMember(reader)));
    tacho::RemedyFor(tacho::KindOf(plain.Peek(tacho::kSniffBytes)));
    char buffer[5000];
    size_t total = 0;
    while (const size_t size = plain.Read(buffer, sizeof(buffer))) {
      total += size;
      if (total > kMaxBytes) break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tacho::KindOf(bytes);
  if (auto reader = tacho::ArchiveReader::OfMemory(bytes)) ReadMembers(**reader);
  auto pieces = std::make_unique<tacho::MemorySource>(bytes, 1000);
  if (auto reader = tacho::ArchiveReader::OfSource(tacho::Decode(std::move(pieces)))) {
    ReadMembers(**reader);
  }
  return 0;
}
