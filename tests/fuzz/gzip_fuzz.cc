// Any bytes as stored data: no crash, and both inflate libraries deliver the same.
//
// The first byte chooses how the data is split and whether a good gzip header is put in front of
// it, so that the fuzzer reaches the deflate decoder at once.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "io/decode.h"
#include "io/gzip_source.h"
#include "io/memory_source.h"

namespace {

using tacho::ByteSource;
using tacho::StreamDefect;
using tacho::StreamEnd;

// The input of a fuzzer is small, but a kilobyte may become a megabyte.
constexpr size_t kMaxBytes = 256 * 1024;

constexpr size_t kMaxRoom = 70'000;  // more than the window that ISA-L holds back

// ISA-L decodes up to three letters at once: where the input is cut off, some of them may be
// missing or not, by how it was split.
constexpr size_t kLettersAtOnce = 3;

struct Delivered {
  std::string bytes;
  StreamEnd end;

  [[nodiscard]] bool IsCapped() const { return bytes.size() >= kMaxBytes; }
  [[nodiscard]] bool IsSame(const Delivered& o) const {
    return bytes == o.bytes && end.defect == o.end.defect && end.text == o.end.text;
  }
  // How soon a corrupt place is noticed depends on the library and on how much input it sees; what
  // both give must be the same.
  [[nodiscard]] bool Agrees(const Delivered& o) const {
    const size_t common = std::min(bytes.size(), o.bytes.size());
    if (bytes.compare(0, common, o.bytes, 0, common) != 0) return false;
    const bool noticed =
        end.defect == StreamDefect::kCorrupt || (o.end.defect == StreamDefect::kCorrupt && IsCut());
    if (noticed || IsSame(o)) return true;
    const size_t missing = std::max(bytes.size(), o.bytes.size()) - common;
    return IsCut() && o.IsCut() && end.text == o.end.text && missing < kLettersAtOnce;
  }
  [[nodiscard]] bool IsCut() const { return end.defect == StreamDefect::kTruncated; }
};

Delivered ReadAll(ByteSource& source, size_t room, char fill) {
  static std::string buffer(kMaxRoom, '\0');
  std::fill(buffer.begin(), buffer.end(), fill);
  Delivered all;
  while (all.bytes.size() < kMaxBytes) {
    const size_t size = source.Read(buffer.data(), room);
    if (size == 0) break;
    all.bytes.append(buffer.data(), size);
  }
  all.end = source.end();
  return all;
}

Delivered Unpack(const std::string& stored, tacho::InflateLibrary library, size_t piece,
                 size_t room, char fill = '\0') {
  tacho::GzipSource source(std::make_unique<tacho::MemorySource>(stored, piece), library);
  return ReadAll(source, room, fill);
}

[[noreturn]] void Disagree(const char* what, const Delivered& a, const Delivered& b) {
  std::fprintf(stderr, "%s: %zu bytes, %s; %zu bytes, %s\n", what, a.bytes.size(),
               a.end.text.c_str(), b.bytes.size(), b.end.text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const unsigned choice = data[0];
  std::string stored(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((choice & 1) != 0) stored.insert(0, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  const size_t piece = (choice & 2) != 0 ? 1 + (choice >> 4) : SIZE_MAX;
  const size_t room = (choice & 4) != 0 ? 1 + (choice >> 3) : kMaxRoom;

  const Delivered zlib = Unpack(stored, tacho::InflateLibrary::kZlib, SIZE_MAX, kMaxRoom);
  for (const tacho::InflateLibrary library : tacho::InflateLibraries()) {
    const Delivered whole = Unpack(stored, library, SIZE_MAX, kMaxRoom);
    const Delivered again = Unpack(stored, library, SIZE_MAX, kMaxRoom, '\x55');
    const Delivered split = Unpack(stored, library, piece, room);
    if (zlib.IsCapped() || whole.IsCapped() || split.IsCapped()) continue;
    if (!whole.IsSame(again)) Disagree("bytes were given that were not written", whole, again);
    if (!whole.Agrees(split)) Disagree("the split matters", whole, split);
    if (!zlib.Agrees(whole)) Disagree("the libraries differ", zlib, whole);
  }

  const auto stream = tacho::DecodeStream(std::make_unique<tacho::MemorySource>(stored, piece),
                                          tacho::StreamThreads::kInline);
  size_t total = 0;
  while (const size_t block = stream->Next().size) {
    total += block;
    if (total > kMaxBytes) break;
  }
  return 0;
}
