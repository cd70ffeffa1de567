#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tacho {

// Takes a text/event-stream apart, byte by byte if it must: lines end in LF, CRLF or CR; comments,
// `event`, `id` and `retry` are passed over; the `data` lines of one event are joined by LF (HTML
// Living Standard 9.2.6). Memory: one event. Cost: one pass over the bytes; an event that lies
// whole in the given bytes is not copied.
class SseReader {
 public:
  // The data of one event; valid during the call only.
  using OnData = std::function<void(std::string_view data)>;

  explicit SseReader(size_t most_event = 16u << 20) : most_event_(most_event) {}

  // False once an event was longer than `most_event` bytes: the rest of the stream is ignored.
  bool Feed(std::string_view bytes, const OnData& on_data);
  // True when the stream stopped inside an event.
  bool InsideEvent() const;

 private:
  size_t most_event_;
  std::string line_;  // the unfinished line
  std::string data_;  // the data lines of the unfinished event
  bool has_data_ = false;
  bool after_cr_ = false;
  bool broken_ = false;
};

}  // namespace tacho
