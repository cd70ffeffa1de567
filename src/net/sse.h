#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tacho {

// Parses a text/event-stream, cut at any byte. Lines end in LF, CRLF or CR; comments, `event`, `id`
// and `retry` are skipped; the `data` lines of one event are joined by LF (HTML Living Standard
// 9.2.6). Memory: one event. Cost: one pass over the bytes; an event that lies whole in the given
// bytes is not copied.
class SseReader {
 public:
  // The data of one event; valid during the call only.
  using OnData = std::function<void(std::string_view data)>;

  explicit SseReader(size_t most_event = 16u << 20) : most_event_(most_event) {}

  // False once an event, or a line of one, was longer than `most_event` bytes: the rest of the
  // stream is ignored.
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
  bool after_cr_ = false;  // an LF that follows belongs to the line before
  bool at_start_ = true;   // a byte order mark may follow
  bool broken_ = false;
};

}  // namespace tacho
