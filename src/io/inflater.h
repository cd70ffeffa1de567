#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Decodes raw deflate data (RFC 1951). The gzip framing around it is read by gzip_source.h and not
// by the deflate library, so that every library gives the same results for cut and damaged files.
class Inflater {
 public:
  enum class Status { kMore, kDone, kCorrupt };
  struct Step {
    size_t taken = 0;
    size_t written = 0;
    Status status = Status::kMore;
  };

  virtual ~Inflater() = default;

  // Call it before each stream of deflate data.
  virtual void Reset() = 0;
  // Decodes until `in` is used up, `out` is full, or the data ends or is corrupt. It may buffer
  // input: call it again with in_size 0 until it writes nothing. Writes what it decoded before a
  // corrupt place, without up to 258 bytes that a library cannot tell from garbage. After kDone or
  // kCorrupt call Reset first.
  virtual Step Inflate(const char* in, size_t in_size, char* out, size_t room) = 0;
  // After kDone: bytes that were taken but lie behind the deflate data, at most kMaxUnused.
  [[nodiscard]] virtual std::string Unused() const = 0;
  // After kCorrupt: what is wrong, in zlib's words ("invalid distance too far back").
  [[nodiscard]] virtual std::string_view Reason() const = 0;
  // gzip's CRC-32 continued over `data`. `crc`: the value so far; start with 0.
  [[nodiscard]] virtual uint32_t Crc(uint32_t crc, const char* data, size_t size) const = 0;

  static constexpr size_t kMaxUnused = 8;
};

enum class InflateLibrary { kIsal, kZlib };

// The libraries that this build contains, the fastest first.
const std::vector<InflateLibrary>& InflateLibraries();

std::unique_ptr<Inflater> MakeInflater(InflateLibrary library);

}  // namespace tacho
