#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/answer/stream_chunk.h"
#include "load/result/records.h"
#include "net/sse.h"

namespace tacho {

// Reads one answer into its record as the bytes come, and decides at the end whether it was valid
// (docs/metrics.md, Load).
//
// How many tokens a chunk holds: if it reports usage, the increase of the running total, counted
// per choice; else the number of its token ids; without either, 1 if it has text. The first chunk
// of a chat, which holds only a role, has no token. A chunk that ends inside a character has an
// empty text, and so a token only by usage or ids. An answer that is not a stream reports one total
// for all its choices.
//
// A server cannot fill the memory. There are bounds for the bytes of a stream (only one event, the
// tokens' times and the text are kept), for what is kept of one answer, and for the number of
// tokens if the requested number is unknown.
class AnswerReader {
 public:
  static constexpr uint64_t kMostStream = 1u << 30, kMostKept = 64u << 20;
  static constexpr int64_t kMostTokens = 4 << 20;

  // Removes the client's keys from a server's text.
  using Hide = std::function<std::string(std::string)>;

  // All readers of a thread may share one `parser`. `asked_tokens`: the requested tokens of all
  // choices together; 0: not known. A server's text, except for the generated one, passes through
  // `hide` before it is recorded.
  AnswerReader(ChunkParser& parser, RequestRecord& record, bool streams, bool keep_text,
               int64_t asked_tokens, Hide hide = std::identity())
      : parser_(parser),
        record_(record),
        streams_(streams),
        keep_text_(keep_text),
        asked_tokens_(asked_tokens),
        hide_(std::move(hide)) {}

  void OnHead(int status, int64_t at_ns);
  void OnBody(std::string_view bytes, int64_t at_ns);
  // See HttpSink::OnFoundLate.
  void OnFoundLate(int64_t until_ns) { late_until_ns_ = until_ns; }
  // Call it when the stream is over. `broken`: why it ended early; "" if it did not.
  void OnEnd(std::string_view broken);

  // Whether [DONE] came: then only the end of the exchange is missing.
  bool done_seen() const { return done_seen_; }
  // Why the client should stop reading, such as far more tokens than requested; "" if it should
  // not.
  std::string WhyGivenUp() const;

 private:
  std::string Shorten(std::string_view text) const;
  void TakeEvent(std::string_view data, int64_t at_ns);
  void TakeChunk(const StreamChunk& chunk, int64_t at_ns);
  void TakeText(const ChunkChoice& choice);
  int64_t TokensOf(const StreamChunk& chunk, const ChunkChoice& choice);
  int64_t& TotalOf(size_t choice);
  // Distributes the answer's total over its chunks in proportion to their guessed tokens, so that
  // rates are right.
  void Spread(int64_t total);
  void Complain(std::string text);
  void TooLong(std::string what);
  int64_t MostTokens() const;
  void JudgeWhole(std::string_view broken);

  ChunkParser& parser_;
  RequestRecord& record_;
  const bool streams_, keep_text_;
  const int64_t asked_tokens_;
  const Hide hide_;
  bool done_seen_ = false, finished_ = false, has_error_ = false, contradicts_ = false;
  int64_t told_total_ = -1;  // the total in the last reported usage; -1: none reported
  int64_t last_body_ns_ = 0, late_until_ns_ = 0;
  uint64_t events_ = 0;
  int64_t first_total_ = 0;  // the running total of the first choice, usually the only one
  SseReader sse_;
  std::vector<int64_t> other_totals_;  // the running totals of the other choices
  // Bytes of an answer that is not a stream, or that came before a stream's first event.
  std::string body_;
  std::string too_long_;  // what exceeded its bound; "" if nothing did
};

}  // namespace tacho
