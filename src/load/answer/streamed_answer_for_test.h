#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "load/answer/answer_reader.h"

namespace tacho {

// A stream to which the test feeds one event per millisecond, starting at 1 ms.
class Streamed {
 public:
  explicit Streamed(int64_t planned = 0, bool streams = true, bool keep_text = false) {
    record_.sent_ns = kNsPerMs / 2;
    record_.planned_output_tokens = planned;
    reader_ = std::make_unique<AnswerReader>(parser_, record_, streams, keep_text, planned);
    reader_->OnHead(200, kNsPerMs);
  }
  Streamed& Event(std::string_view data) {
    at_ns_ += kNsPerMs;
    reader_->OnBody(fmt::format("data: {}\n\n", data), at_ns_);
    return *this;
  }
  Streamed& Bytes(std::string_view bytes) {
    at_ns_ += kNsPerMs;
    reader_->OnBody(bytes, at_ns_);
    return *this;
  }
  const RequestRecord& End(std::string_view broken = "") {
    reader_->OnEnd(broken);
    return record_;
  }
  AnswerReader& reader() { return *reader_; }

 private:
  ChunkParser parser_;
  RequestRecord record_;
  std::unique_ptr<AnswerReader> reader_;
  int64_t at_ns_ = 0;
};

inline std::string Text(std::string_view text, int total, std::string_view finish = "null") {
  return fmt::format(
      R"({{"id":"cmpl-1","choices":[{{"index":0,"text":"{}","logprobs":null,"finish_reason":{}}}],"usage":{{"prompt_tokens":4,"total_tokens":{},"completion_tokens":{}}}}})",
      text, finish, total + 4, total);
}
inline std::string Usage(int total) {
  return fmt::format(
      R"({{"id":"cmpl-1","choices":[],"usage":{{"prompt_tokens":4,"total_tokens":{},"completion_tokens":{}}}}})",
      total + 4, total);
}

}  // namespace tacho
