#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tacho {

// Parses a text/event-stream that may be cut at any byte. Lines end in LF, CRLF or CR. Comments and
// the fields `event`, `id` and `retry` are skipped; the `data` lines of one event are joined by LF
// (HTML Living Standard 9.2.6). Memory: one event. Cost: one pass over the bytes; an event that
// lies completely in the given bytes is not copied.
class SseReader {
 public:
  // Gets the data of one event, which is valid only during the call.
  using OnData = std::function<void(std::string_view data)>;

  explicit SseReader(size_t most_event = 16u << 20) : most_event_(most_event) {}

  // False once an event or one of its lines was longer than `most_event` bytes; the rest of the
  // stream is then ignored.
  bool Feed(std::string_view bytes, const OnData& on_data);
  // Whether the stream stopped inside an event. The data of that event is lost.
  bool InsideEvent() const;

 private:
  // One line without its line end. `kept`: its bytes stay valid until Feed returns.
  void TakeLine(std::string_view line, bool kept, const OnData& on_data);

  size_t most_event_;
  std::string line_;       // the unfinished line
  std::string data_;       // the data lines of the unfinished event, if not in view_
  std::string_view view_;  // the only data line of the event so far, in the bytes being fed
  bool in_view_ = false;
  bool has_data_ = false;
  bool after_cr_ = false;  // skip an LF that follows
  bool at_start_ = true;   // skip a byte order mark that follows
  bool broken_ = false;
};

}  // namespace tacho
