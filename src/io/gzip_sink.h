#pragma once

#include <memory>

#include "base/byte_sink.h"

namespace tacho {

// Compresses into another sink, in the way of Python's gzip.
class GzipSink : public ByteSink {
 public:
  GzipSink(ByteSink& to, int level);
  ~GzipSink() override;
  bool Write(std::string_view bytes) override;
  // Writes the remaining bytes and the trailer.
  bool Finish();

 private:
  bool Deflate(std::string_view bytes, int flush);
  struct State;
  std::unique_ptr<State> state_;
  ByteSink& to_;
};

}  // namespace tacho
