#include "io/block_stream.h"
#include "io/decode.h"
#include "io/file_source.h"

namespace tacho {

Result<std::unique_ptr<BlockStream>> OpenStream(const std::string& path, StreamThreads threads) {
  Result<std::unique_ptr<FileSource>> file = FileSource::Open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  return DecodeStream(std::move(*file), threads);
}

}  // namespace tacho
