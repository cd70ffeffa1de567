#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "load/answer/answer_reader.h"
#include "load/result/records.h"
#include "net/http_client.h"

namespace tacho {

// One in-flight request; the HTTP client calls it as the answer comes. Used only on that client's
// thread.
class Flight final : public HttpSink {
 public:
  // Why tacho ended the request.
  enum class Ending { kNone, kEndOfLoad, kLingers, kGaveUp };

  Flight(RequestRecord record, ChunkParser& parser, bool streams, bool keep_text,
         int64_t asked_tokens, AnswerReader::Hide hide, std::function<void(Flight&)> on_tokens,
         std::function<void(Flight&)> on_end)
      : reader_(parser, record_, streams, keep_text, asked_tokens, std::move(hide)),
        on_tokens_(std::move(on_tokens)),
        record_(std::move(record)),
        on_end_(std::move(on_end)) {}

  void OnSent(int64_t at_ns) override;
  void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t at_ns) override;
  void OnBody(std::string_view bytes, int64_t at_ns) override;
  void OnFoundLate(int64_t until_ns) override { reader_.OnFoundLate(until_ns); }
  void OnEnd(const Result<HttpTimes>& times) override;

  // Notes why tacho ends the request; `why` goes into the record. Call HttpClient::Cancel
  // afterwards.
  void EndBecause(Ending ending, std::string why);

  RequestRecord& record() { return record_; }
  const AnswerReader& reader() const { return reader_; }
  Ending ending() const { return ending_; }
  // The seconds in the answer's Retry-After; -1 without that header.
  int64_t retry_after_s() const { return retry_after_s_; }
  // When the request last made progress: when it was sent or a token came.
  int64_t LastProgressNs() const;

  uint64_t stream = 0;      // the number to give to HttpClient::Cancel
  size_t target = 0;        // index of the request's target
  int64_t tokens_told = 0;  // tokens already reported as progress
  bool lingers = false;     // [DONE] came, but the exchange has not ended yet

 private:
  AnswerReader reader_;
  const std::function<void(Flight&)> on_tokens_;
  RequestRecord record_;
  const std::function<void(Flight&)> on_end_;
  Ending ending_ = Ending::kNone;
  std::string why_;
  int64_t retry_after_s_ = -1;
};

}  // namespace tacho
