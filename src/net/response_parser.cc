#include "net/response_parser.h"

#include <algorithm>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {
namespace {

constexpr std::string_view kVersion = "HTTP/1.";

// The words of all headers named `name`, whose values are lists: "close, x".
std::vector<std::string> WordsOf(const std::vector<HttpHeader>& headers, std::string_view name) {
  std::vector<std::string> words;
  for (const HttpHeader& header : headers) {
    if (!SameHeaderName(header.name, name)) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (!Trim(word).empty()) words.push_back(AsciiLowered(Trim(word)));
    }
  }
  return words;
}

bool HasWord(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool ResponseHead::MayBegin(std::string_view bytes) {
  return bytes.substr(0, kVersion.size()) == kVersion.substr(0, bytes.size());
}

ResponseHead::Said ResponseHead::TakeStatusLine(std::string_view line) {
  // The line looks like "HTTP/1.1 200 OK".
  if (line.size() < 12 || !MayBegin(line) || !IsDigit(line[7]) || line[8] != ' ') {
    return Said::kNotHttp;
  }
  if (!std::all_of(line.begin() + 9, line.begin() + 12, IsDigit)) return Said::kNotHttp;
  if (line.size() > 12 && line[12] != ' ') return Said::kNotHttp;
  status = ParseWhole<int>(line.substr(9, 3)).value_or(0);
  keeps_alive_by_itself = line[7] != '0';
  headers.clear();
  has_status_ = true;
  return status >= 100 ? Said::kMore : Said::kNotHttp;
}

ResponseHead::Said ResponseHead::TakeLine(std::string_view line) {
  if (!has_status_) return TakeStatusLine(line);
  if (Trim(line).empty()) {
    const bool interim = status < 200 && status != 101;
    has_status_ = !interim;
    return interim ? Said::kInterim : Said::kWhole;
  }
  if (line[0] == ' ' || line[0] == '\t') {  // obsolete form: the previous header's value continues
    if (!headers.empty()) headers.back().value += " " + std::string(Trim(line));
    return Said::kMore;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return Said::kNotHttp;
  headers.push_back(
      {std::string(Trim(line.substr(0, colon))), std::string(Trim(line.substr(colon + 1)))});
  return Said::kMore;
}

size_t ResponseParser::Feed(std::string_view bytes, ResponseTaker& taker) {
  std::string_view rest = bytes;
  begun_ = begun_ || !bytes.empty();
  while (!rest.empty() && state_ == State::kGoing) {
    switch (part_) {
      case Part::kHead:
      case Part::kTrailers:
        if (!TakeHeadBytes(rest, taker)) return bytes.size();
        break;
      case Part::kSize:
        if (!TakeSize(rest)) return bytes.size();
        break;
      case Part::kSizeRest: {  // skips chunk extensions
        const size_t end = rest.find('\n');
        if (!CountChunkHead(std::min(end, rest.size()))) break;
        if (end == std::string_view::npos) return bytes.size();
        rest.remove_prefix(end + 1);
        chunk_head_bytes_ = 0;
        part_ = left_ > 0 ? Part::kBody : Part::kTrailers;
        break;
      }
      case Part::kBody:
        TakeBody(rest, taker);
        break;
      case Part::kChunkEnd:
        if (rest[0] == '\n') {
          part_ = Part::kSize;
        } else if (rest[0] != '\r') {
          Break(State::kBrokenChunks, "a chunk is longer than it says");
        }
        rest.remove_prefix(1);
        break;
    }
  }
  return bytes.size() - rest.size();
}

// Returns false when all input was taken and the line is still incomplete.
bool ResponseParser::TakeHeadBytes(std::string_view& bytes, ResponseTaker& taker) {
  const size_t end = bytes.find('\n');
  const std::string_view piece = bytes.substr(0, end);
  const bool whole = end != std::string_view::npos;
  head_bytes_ += piece.size() + (whole ? 1 : 0);
  if (head_bytes_ > kMostHeadBytes) {
    Break(State::kEndlessHead, "");
    return true;
  }
  bytes.remove_prefix(piece.size() + (whole ? 1 : 0));
  if (!whole || !line_.empty()) line_.append(piece);
  if (!whole) {
    if (!has_head_ && head_bytes_ == line_.size() && !ResponseHead::MayBegin(line_)) {
      Break(State::kNotHttp, "no status line");
    }
    return false;
  }
  std::string_view line = line_.empty() ? piece : std::string_view(line_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  TakeHeadLine(line, taker);
  line_.clear();
  return true;
}

void ResponseParser::TakeHeadLine(std::string_view line, ResponseTaker& taker) {
  if (has_head_) {  // trailers, which are ignored
    if (line.empty()) state_ = State::kWhole;
    return;
  }
  switch (head_.TakeLine(line)) {
    case ResponseHead::Said::kMore:
    case ResponseHead::Said::kInterim:
      return;
    case ResponseHead::Said::kNotHttp:
      return Break(State::kNotHttp,
                   head_.status == 0 ? "no status line" : "a header without colon");
    case ResponseHead::Said::kWhole:
      break;
  }
  BeginBody();
  if (state_ != State::kGoing && state_ != State::kWhole) return;
  has_head_ = true;
  if (!taker.TakeHead(head_)) state_ = State::kRefused;
  head_.headers = {};
}

void ResponseParser::BeginBody() {
  const auto connection = WordsOf(head_.headers, "Connection");
  keeps_alive_ = !HasWord(connection, "close") && head_.status != 101 &&
                 (head_.keeps_alive_by_itself || HasWord(connection, "keep-alive"));
  for (const HttpHeader& header : head_.headers) {
    if (!SameHeaderName(header.name, "Content-Length")) continue;
    const int64_t length = ParseWhole<int64_t>(header.value).value_or(-1);
    const bool differs = whole_body_ >= 0 && whole_body_ != length;
    if (length < 0 || differs) {
      return Break(State::kNotHttp, "an invalid Content-Length");
    }
    whole_body_ = length;
  }
  const auto codings = WordsOf(head_.headers, "Transfer-Encoding");
  chunked_ = HasWord(codings, "chunked");
  if (codings.size() > 1 || (codings.size() == 1 && !chunked_ && codings[0] != "identity")) {
    return Break(State::kNotHttp, "a transfer coding that was not asked for");
  }
  if (to_head_request_ || head_.status == 204 || head_.status == 304 || head_.status == 101) {
    state_ = State::kWhole;
  } else if (chunked_) {
    whole_body_ = -1;
    part_ = Part::kSize;
  } else if (whole_body_ >= 0) {
    left_ = static_cast<uint64_t>(whole_body_);
    part_ = Part::kBody;
    if (left_ == 0) state_ = State::kWhole;
  } else {
    until_end_ = true;
    left_ = UINT64_MAX;
    part_ = Part::kBody;
  }
}

// Returns false once a chunk's head (its size line) is so long that it seems to have no end. This
// does not bound memory: the head of a chunk is not stored.
bool ResponseParser::CountChunkHead(size_t bytes) {
  chunk_head_bytes_ += bytes;
  if (chunk_head_bytes_ <= kMostChunkHeadBytes) return true;
  Break(State::kBrokenChunks, "the head of a chunk has no end");
  return false;
}

// Returns false when all input was taken and the size is still incomplete.
bool ResponseParser::TakeSize(std::string_view& bytes) {
  while (!bytes.empty()) {
    const char c = bytes[0];
    const int digit = HexDigit(c);
    if (digit < 0) {
      if (!has_digit_ || (c != '\r' && c != '\n' && c != ';' && c != ' ' && c != '\t')) {
        Break(State::kBrokenChunks, "a chunk without a size");
      }
      has_digit_ = false;
      part_ = Part::kSizeRest;
      return true;
    }
    if (left_ >> 59 != 0) {
      Break(State::kBrokenChunks, "the size of a chunk is too large");
      return true;
    }
    if (!CountChunkHead(1)) return true;
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
    has_digit_ = true;
    bytes.remove_prefix(1);
  }
  return false;
}

void ResponseParser::TakeBody(std::string_view& bytes, ResponseTaker& taker) {
  const std::string_view piece =
      bytes.substr(0, static_cast<size_t>(std::min<uint64_t>(left_, bytes.size())));
  bytes.remove_prefix(piece.size());
  if (!until_end_) left_ -= piece.size();
  if (left_ == 0) {
    if (chunked_) {
      part_ = Part::kChunkEnd;
    } else {
      state_ = State::kWhole;
    }
  }
  if (!taker.TakeBody(piece)) state_ = State::kRefused;
}

uint64_t ResponseParser::SureBytes() const {
  constexpr uint64_t kPieceOfHead = 64;
  constexpr uint64_t kLastChunk = 5;  // "0\r\n\r\n"; any other chunk is longer
  constexpr uint64_t kLineEnd = 2;
  switch (part_) {
    case Part::kHead:
      return kPieceOfHead;
    case Part::kSize:
      return has_digit_ ? 1 : kLastChunk;
    case Part::kBody:
      return chunked_ ? left_ + kLineEnd : left_;
    case Part::kSizeRest:
    case Part::kChunkEnd:
    case Part::kTrailers:
      break;
  }
  return 1;
}

void ResponseParser::EndOfConnection() {
  if (state_ == State::kGoing && has_head_ && until_end_) state_ = State::kWhole;
}

void ResponseParser::Break(State state, const char* detail) {
  state_ = state;
  detail_ = detail;
}

}  // namespace tacho
