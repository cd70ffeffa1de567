#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace tacho {

// The head of an HTTP/1 answer, line by line. Lenient, as clients must be: lines may end in LF
// alone, values may continue in lines that begin with a blank, reasons may be missing.
class ResponseHead {
 public:
  enum class Said { kMore, kInterim, kWhole, kNotHttp };

  // Takes a line without its line end. kInterim: an interim answer such as "100 Continue" is over,
  // and another head follows.
  Said TakeLine(std::string_view line);
  // Whether a head can begin with these bytes.
  static bool MayBegin(std::string_view bytes);

  int status = 0;
  bool keeps_alive_by_itself = false;  // HTTP/1.1
  std::vector<HttpHeader> headers;

 private:
  Said TakeStatusLine(std::string_view line);
  bool has_status_ = false;
};

// Receives one answer. A function that returns false stops the parser.
class ResponseTaker {
 public:
  virtual ~ResponseTaker() = default;
  virtual bool TakeHead(const ResponseHead& head) = 0;
  virtual bool TakeBody(std::string_view bytes) = 0;
};

// Parses the bytes of one HTTP/1 answer as they come, wherever they are cut: the head, interim
// answers before it, and a body with a length, in chunks, or up to the end of the connection (RFC
// 9112). The body is not copied. Memory: one line, 256 kB at most.
class ResponseParser {
 public:
  enum class State {
    kGoing,
    kWhole,         // the answer is complete
    kRefused,       // by the taker
    kNotHttp,       // see detail()
    kBrokenChunks,  // see detail() too
    kEndlessHead,   // more than kMostHeadBytes of headers
  };
  static constexpr uint64_t kMostHeadBytes = 256 * 1024;  // trailers too
  static constexpr uint64_t kMostChunkHeadBytes = 16 * 1024;

  // An answer to HEAD has no body, whatever its headers say.
  explicit ResponseParser(bool to_head_request) : to_head_request_(to_head_request) {}

  // Returns how many of the bytes belong to this answer: all, unless it ended earlier.
  size_t Feed(std::string_view bytes, ResponseTaker& taker);
  // How many of the next bytes surely belong to the current piece: the head, or one chunk with its
  // size line. A reader that receives no more than that at a time gets the chunks one by one. A
  // body without chunks is one piece.
  uint64_t SureBytes() const;
  // The connection ended, which completes a body without a length.
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
  uint64_t left_ = 0;  // bytes of the body or of the chunk
  uint64_t head_bytes_ = 0, chunk_head_bytes_ = 0;
  int64_t whole_body_ = -1;
  const char* detail_ = "";
  std::string line_;  // the unfinished line of a head or of trailers
  ResponseHead head_;
};

}  // namespace tacho
