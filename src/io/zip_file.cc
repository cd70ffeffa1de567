#include "io/zip_file.h"

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace tacho {
namespace {

// A little-endian number of `size` bytes.
using Sized = std::pair<int, uint64_t>;
std::string Bytes(std::initializer_list<Sized> numbers) {
  std::string out;
  for (auto [size, value] : numbers)
    for (; size > 0; --size, value >>= 8) out += static_cast<char>(value & 0xff);
  return out;
}

// Deflated without a header. "" on failure.
std::string Deflated(std::string_view bytes) {
  z_stream stream = {};
  constexpr int kMemory = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

}  // namespace

// The format is that of PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16. libarchive's
// writer is not used, because it brings libxml2 and ICU into the static program.
Result<std::string> ZipProgram(const std::string& name, std::string_view bytes) {
  constexpr size_t kMost = size_t{1} << 31;
  const std::string packed = bytes.size() < kMost ? Deflated(bytes) : "";
  if (packed.empty()) return Fail(ErrorKind::kOutput, name + " cannot be packed into a zip");
  const uint64_t check =
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  constexpr uint64_t kDeflate = 8, kVersion = 20, kUnix = 3;
  constexpr uint64_t kFirstDay = (1 << 5) + 1;               // 1980-01-01, the earliest date
  constexpr uint64_t kExecutable = uint64_t{0100755} << 16;  // a regular file, rwxr-xr-x
  // What both headers of the file have in common.
  const std::string about = Bytes({{2, kVersion},
                                   {2, 0},
                                   {2, kDeflate},
                                   {2, 0},
                                   {2, kFirstDay},
                                   {4, check},
                                   {4, packed.size()},
                                   {4, bytes.size()},
                                   {2, name.size()},
                                   {2, 0}});
  std::string out = Bytes({{4, 0x04034b50}}) + about + name + packed;
  const size_t directory = out.size();
  out += Bytes({{4, 0x02014b50}, {2, kUnix << 8 | kVersion}}) + about +
         Bytes({{2, 0}, {2, 0}, {2, 0}, {4, kExecutable}, {4, 0}}) + name;
  const size_t size = out.size() - directory;
  return out +
         Bytes(
             {{4, 0x06054b50}, {2, 0}, {2, 0}, {2, 1}, {2, 1}, {4, size}, {4, directory}, {2, 0}});
}

}  // namespace tacho
