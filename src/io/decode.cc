#include "io/decode.h"

#include "io/gzip_source.h"
#include "io/peeked_source.h"
#include "io/source_stream.h"
#include "io/zstd_source.h"

namespace tacho {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b\x08";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

struct Decoded {
  std::unique_ptr<ByteSource> plain;
  Packing packing;
};

Decoded DecodeByContent(std::unique_ptr<ByteSource> stored) {
  auto peeked = std::make_unique<PeekedSource>(std::move(stored));
  switch (PackingOf(peeked->Peek(kPackingBytes))) {
    case Packing::kGzip:
      return {std::make_unique<GzipSource>(std::move(peeked)), Packing::kGzip};
    case Packing::kZstd:
      return {std::make_unique<ZstdSource>(std::move(peeked)), Packing::kZstd};
    case Packing::kPlain:
      break;
  }
  return {std::move(peeked), Packing::kPlain};
}

}  // namespace

Packing PackingOf(std::string_view start) {
  if (start.starts_with(kGzipMagic)) return Packing::kGzip;
  if (StartsZstdFrame(start)) return Packing::kZstd;
  // One byte 0x1f alone cannot be text, but one byte 0x28 alone can: it is "(".
  if (!start.empty() && kGzipMagic.starts_with(start)) return Packing::kGzip;
  if (start.size() >= 2 && kZstdMagic.starts_with(start)) return Packing::kZstd;
  return Packing::kPlain;
}

std::unique_ptr<ByteSource> Decode(std::unique_ptr<ByteSource> stored) {
  return DecodeByContent(std::move(stored)).plain;
}

std::unique_ptr<BlockStream> DecodeStream(std::unique_ptr<ByteSource> stored,
                                          StreamThreads threads) {
  return StreamOfSource(DecodeByContent(std::move(stored)).plain, threads, kBlockBytes);
}

}  // namespace tacho
