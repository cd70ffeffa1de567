#pragma once

#include <memory>
#include <string>

#include "io/byte_source.h"
#include "io/inflater.h"
#include "io/stored_input.h"

namespace tacho {

// Inflates gzip data: any number of members in a row, with zeros between and after them.
//
// Gives every byte that can be recovered: all before a cut or a corrupt place, also in an
// unfinished deflate block. CRC and length of each member are checked when its last byte has been
// given.
class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> stored,
                      InflateLibrary library = InflateLibraries().front());

  size_t Read(char* to, size_t room) override;
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override { return input_.source().stored_bytes(); }
  void Cancel() override { input_.source().Cancel(); }

 private:
  enum class State { kHeader, kBody, kTrailer, kBetween, kEnd };

  void ReadHeader();
  size_t ReadBody(char* to, size_t room);
  void ReadTrailer();
  void FindNextMember();
  bool SkipText();
  bool Skip(int count);
  void EndTruncated();
  void EndWith(StreamDefect defect, const std::string& text);

  StoredInput input_;
  std::unique_ptr<Inflater> inflater_;
  State state_ = State::kHeader;
  uint64_t member_start_ = 0;
  uint32_t crc_ = 0;
  uint32_t size_ = 0;  // of this member, modulo 2^32 as in the trailer
  StreamEnd end_;
};

}  // namespace tacho
