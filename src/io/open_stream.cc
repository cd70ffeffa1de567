#include "io/block_stream.h"
#include "io/decode.h"
#include "io/file_source.h"

namespace tacho {

Result<std::unique_ptr<BlockStream>> OpenStream(const std::string& path, StreamThreads threads) {
  TACHO_ASSIGN_OR_RETURN(std::unique_ptr<FileSource> file, FileSource::Open(path));
  return DecodeStream(std::move(file), threads);
}

}  // namespace tacho
