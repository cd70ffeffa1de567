// The reader of HTTP answers: however the bytes are cut, it tells the same; and what it takes for
// an answer, a plain second implementation of RFC 9112's bodies reads alike. The first byte chooses
// the length of the pieces, and whether HEAD was asked.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "net/response_parser.h"

namespace {

using State = tacho::ResponseParser::State;

struct Told final : tacho::ResponseTaker {
  bool TakeHead(const tacho::ResponseHead& head) override {
    if (heads++ > 0) std::abort();
    text += std::to_string(head.status);
    for (const auto& header : head.headers) {
      text += "\n" + header.name + ":" + header.value;
      chunked |= tacho::SameHeaderName(header.name, "Transfer-Encoding") &&
                 tacho::AsciiLowered(header.value).find("chunked") != std::string::npos;
    }
    return true;
  }
  bool TakeBody(std::string_view bytes) override {
    if (heads != 1 || bytes.empty()) std::abort();
    if (body.empty()) body_at = bytes.data() - fed;
    body += bytes;
    return true;
  }
  std::string text, body;
  const char* fed = nullptr;   // what the parser was given
  std::ptrdiff_t body_at = 0;  // where in it the body's first bytes are
  int heads = 0;
  bool chunked = false;
  State state = State::kGoing;
  size_t taken = 0;
  bool keeps_alive = false;
  int64_t whole_body = -1;
};

Told FeedPieces(std::string_view text, size_t piece, bool to_head) {
  tacho::ResponseParser parser(to_head);
  Told told;
  for (size_t at = 0; at < text.size() && parser.state() == State::kGoing; at += piece) {
    // A copy of its own size: reading past it or keeping it is seen by ASan.
    const std::string_view part = text.substr(at, piece);
    const std::vector<char> bytes(part.begin(), part.end());
    told.fed = bytes.data();
    const size_t taken = parser.Feed({bytes.data(), bytes.size()}, told);
    if (taken > bytes.size()) std::abort();
    if (parser.state() == State::kGoing && taken != bytes.size()) std::abort();
    told.taken += taken;
  }
  parser.EndOfConnection();
  told.state = parser.state();
  told.keeps_alive = told.state == State::kWhole && parser.keeps_alive();
  told.whole_body = parser.whole_body();
  return told;
}

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "differs: %s\n", what);
  std::abort();
}

void RequireSame(const Told& a, const Told& b) {
  Require(a.text == b.text, "head");
  Require(a.body == b.body, "body");
  Require(a.state == b.state, "state");
  Require(a.keeps_alive == b.keeps_alive, "keeps alive");
  // What is broken may be found out earlier when more of it is there.
  Require(a.state != State::kWhole || a.taken == b.taken, "taken");
}

// The chunks of a body, whole in memory.
std::string Unchunk(std::string_view text) {
  std::string body;
  for (;;) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);
    const size_t size = std::strtoull(std::string(line).c_str(), nullptr, 16);
    text.remove_prefix(line.size());
    if (size == 0) return body;
    body += text.substr(0, size);
    text.remove_prefix(size);
    text.remove_prefix(text.find('\n') + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool to_head = (data[0] & 0x80) != 0;
  const Told whole = FeedPieces(text, text.size(), to_head);
  RequireSame(whole, FeedPieces(text, 1, to_head));
  RequireSame(whole, FeedPieces(text, 1 + data[0] % 64, to_head));
  if (whole.state != State::kWhole || whole.body.empty()) return 0;
  if (!whole.chunked && whole.whole_body >= 0) {
    Require(whole.body.size() == static_cast<size_t>(whole.whole_body), "length");
    Require(text.substr(0, whole.taken).ends_with(whole.body), "bytes of the body");
  } else if (whole.chunked && whole.whole_body < 0) {
    const auto first = static_cast<size_t>(whole.body_at);
    Require(Unchunk(text.substr(text.rfind('\n', first - 2) + 1)) == whole.body, "chunks");
  }
  return 0;
}
