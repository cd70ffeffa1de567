#pragma once

#include <memory>
#include <string>

#include "io/byte_source.h"
#include "io/inflater.h"
#include "io/stored_input.h"

namespace tacho {

// Inflates gzip data: any number of members in a row, with zeros between and after them.
//
// Returns every byte that can be recovered: all before a cut or a corrupt place, even from an
// unfinished deflate block. Checks the CRC and the length of each member after its last byte.
//
// A long run of zeros in the data counts as a cut: the file was not written to its end, or has a
// hole. Deflated text has no such run, unless hundreds of kilobytes of it repeat exactly (the
// longest run in real traces was 6 bytes). A decoder would turn the run into repetitions that the
// text never had. Zeros that decode to zeros are kept: they are padding, as in archives.
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
  size_t GivePending(char* to, size_t room);
  void TakeZeros();
  void Count(const char* given, size_t size);
  void EndBody();
  void ReadTrailer();
  void FindNextMember();
  bool SkipText();
  bool Skip(int count);
  void EndCorrupt();
  void EndTruncated();
  void EndWith(StreamDefect defect, const std::string& text);

  StoredInput input_;
  std::string pending_;  // decoded from a run of zeros, not yet returned
  std::unique_ptr<Inflater> inflater_;
  State state_ = State::kHeader;
  uint64_t member_start_ = 0;
  uint32_t crc_ = 0;
  uint32_t size_ = 0;     // length of this member, modulo 2^32 as in the trailer
  bool is_empty_ = true;  // no byte was returned yet
  StreamEnd end_;
};

}  // namespace tacho
