#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace tacho {

// The head of an HTTP/1 answer, taken line by line. Lenient, as clients must be: a line may end in
// LF alone, a value may continue on a line that begins with a blank, the reason may be missing.
class ResponseHead {
 public:
  enum class Said { kMore, kInterim, kWhole, kNotHttp };

  // Takes a line without its line end. kInterim: an interim answer such as "100 Continue" has
  // ended, and another head follows.
  Said TakeLine(std::string_view line);
  // Whether a head can begin with these bytes.
  static bool MayBegin(std::string_view bytes);

  int status = 0;
  bool keeps_alive_by_itself = false;  // HTTP/1.1 does, unless a header forbids it
  std::vector<HttpHeader> headers;

 private:
  Said TakeStatusLine(std::string_view line);
  bool has_status_ = false;
};

// Receives one answer. Its functions return false to stop the parser.
class ResponseTaker {
 public:
  virtual ~ResponseTaker() = default;
  virtual bool TakeHead(const ResponseHead& head) = 0;
  virtual bool TakeBody(std::string_view bytes) = 0;
};

// Parses the bytes of one HTTP/1 answer as they come, however they are cut: interim answers, the
// head, and a body that has a length, comes in chunks, or ends with the connection (RFC 9112). Does
// not copy the body. Memory: one line, 256 kB at most.
class ResponseParser {
 public:
  enum class State {
    kGoing,
    kWhole,         // the answer is complete
    kRefused,       // the taker returned false
    kNotHttp,       // see detail()
    kBrokenChunks,  // see detail()
    kEndlessHead,   // more than kMostHeadBytes of headers
  };
  static constexpr uint64_t kMostHeadBytes = 256 * 1024;  // limits trailers too
  static constexpr uint64_t kMostChunkHeadBytes = 16 * 1024;

  // An answer to HEAD has no body, whatever its headers say.
  explicit ResponseParser(bool to_head_request) : to_head_request_(to_head_request) {}

  // Returns how many of the bytes belong to this answer: all of them, unless the answer ended
  // earlier.
  size_t Feed(std::string_view bytes, ResponseTaker& taker);
  // How many of the next bytes surely belong to the current piece: the head, or one chunk with its
  // size line. A reader that receives no more than this at a time gets the chunks one by one. A
  // body without chunks is one piece.
  uint64_t SureBytes() const;
  // Call it when the connection ends, which completes a body without a length.
  void EndOfConnection();

  State state() const { return state_; }
  const char* detail() const { return detail_; }
  bool begun() const { return begun_; }
  bool has_head() const { return has_head_; }
  // Bytes of the whole body; -1 if the head does not say.
  int64_t whole_body() const { return whole_body_; }
  // After kWhole: whether the connection may be reused.
  bool keeps_alive() const { return keeps_alive_ && !until_end_; }

 private:
  enum class Part { kHead, kSize, kSizeRest, kBody, kChunkEnd, kTrailers };

  bool TakeHeadBytes(std::string_view& bytes, ResponseTaker& taker);
  void TakeHeadLine(std::string_view line, ResponseTaker& taker);
  void BeginBody();
  bool TakeSize(std::string_view& bytes);
  bool CountChunkHead(size_t bytes);
  void TakeBody(std::string_view& bytes, ResponseTaker& taker);
  void Break(State state, const char* detail);

  const bool to_head_request_;
  bool begun_ = false, has_head_ = false, keeps_alive_ = false;
  bool chunked_ = false, until_end_ = false, has_digit_ = false;
  State state_ = State::kGoing;
  Part part_ = Part::kHead;
  uint64_t left_ = 0;  // bytes still to come of the body or of the chunk
  uint64_t head_bytes_ = 0, chunk_head_bytes_ = 0;
  int64_t whole_body_ = -1;
  const char* detail_ = "";
  std::string line_;  // the unfinished line of the head or of the trailers
  ResponseHead head_;
};

}  // namespace tacho
