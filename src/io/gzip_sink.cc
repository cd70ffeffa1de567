#include "io/gzip_sink.h"

#include <zlib.h>

#include <vector>

namespace tacho {

struct GzipSink::State {
  z_stream stream{};
  std::vector<char> out = std::vector<char>(256 << 10);
};

GzipSink::GzipSink(ByteSink& to, int level) : state_(std::make_unique<State>()), to_(to) {
  constexpr int kGzipWindow = 15 + 16;
  deflateInit2(&state_->stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
}
GzipSink::~GzipSink() { deflateEnd(&state_->stream); }

bool GzipSink::Write(std::string_view bytes) { return Deflate(bytes, Z_NO_FLUSH); }
bool GzipSink::Finish() { return Deflate({}, Z_FINISH); }

bool GzipSink::Deflate(std::string_view bytes, int flush) {
  z_stream& z = state_->stream;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  for (;;) {
    z.next_out = reinterpret_cast<Bytef*>(state_->out.data());
    z.avail_out = static_cast<uInt>(state_->out.size());
    const int status = deflate(&z, flush);
    if (status == Z_STREAM_ERROR) return false;
    const size_t made = state_->out.size() - z.avail_out;
    if (made > 0 && !to_.Write({state_->out.data(), made})) return false;
    const bool done = flush == Z_FINISH ? status == Z_STREAM_END : z.avail_out != 0;
    if (done) return true;
  }
}

}  // namespace tacho
