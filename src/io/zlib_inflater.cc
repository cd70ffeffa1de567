#include "io/zlib_inflater.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace tacho {
namespace {

Bytef* ZlibBytes(const char* data) {
  return const_cast<Bytef*>(
      reinterpret_cast<const Bytef*>(data));  // zlib never writes to its input
}

uInt ZlibSize(size_t size) {
  return static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max()));
}

class ZlibInflater : public Inflater {
 public:
  ZlibInflater() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;
  ~ZlibInflater() override { inflateEnd(&stream_); }

  void Reset() override { inflateReset(&stream_); }

  Step Inflate(const char* in, size_t in_size, char* out, size_t room) override {
    stream_.next_in = ZlibBytes(in);
    stream_.avail_in = ZlibSize(in_size);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = ZlibSize(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    Step step;
    step.taken = ZlibSize(in_size) - stream_.avail_in;
    step.written = ZlibSize(room) - stream_.avail_out;
    if (status == Z_STREAM_END) {
      step.status = Status::kDone;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      step.status = Status::kCorrupt;
    }
    return step;
  }

  // zlib itself leaves unused bytes in the input.
  [[nodiscard]] std::string Unused() const override { return ""; }

  [[nodiscard]] std::string_view Reason() const override {
    return stream_.msg != nullptr ? stream_.msg : "invalid data";
  }

  [[nodiscard]] uint32_t Crc(uint32_t crc, const char* data, size_t size) const override {
    return static_cast<uint32_t>(crc32_z(crc, ZlibBytes(data), size));
  }

 private:
  z_stream stream_ = {};
};

}  // namespace

std::unique_ptr<Inflater> MakeZlibInflater() { return std::make_unique<ZlibInflater>(); }

}  // namespace tacho
