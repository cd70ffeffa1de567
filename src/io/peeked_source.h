#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace tacho {

// Lets a caller look at the first bytes of a source that cannot seek; Read then returns them again.
class PeekedSource : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The first `size` bytes, or fewer if the source is shorter. Call it only before the first Read.
  std::string_view Peek(size_t size);

  size_t Read(char* to, size_t room) override;
  [[nodiscard]] const StreamEnd& end() const override { return source_->end(); }
  [[nodiscard]] uint64_t stored_bytes() const override { return source_->stored_bytes(); }
  void Cancel() override { source_->Cancel(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string peeked_;
  size_t given_ = 0;  // bytes of peeked_ that Read has returned
};

}  // namespace tacho
