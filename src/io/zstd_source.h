#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/byte_source.h"
#include "io/stored_input.h"

struct ZSTD_DCtx_s;

namespace tacho {

// Whether `bytes` start with the magic number of a zstd frame or of a skippable frame.
bool StartsZstdFrame(std::string_view bytes);

// Decodes zstd data: any number of frames, with zeros between and after them. A frame's window may
// be up to 128 MB, as in the zstd program.
class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> stored);
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override;

  size_t Read(char* to, size_t room) override;
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override { return input_.source().stored_bytes(); }
  void Cancel() override { input_.source().Cancel(); }

 private:
  size_t ReadFrame(char* to, size_t room);
  void FindNextFrame();
  void EndTruncated();
  void EndWith(StreamDefect defect, const std::string& text);

  StoredInput input_;
  ZSTD_DCtx_s* context_;
  bool in_frame_ = false;
  bool ended_ = false;
  bool first_ = true;
  StreamEnd end_;
};

}  // namespace tacho
