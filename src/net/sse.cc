#include "net/sse.h"

#include <cstring>

namespace tacho {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kData = "data";
constexpr size_t kFieldName = 6;  // length of "data: "

const char* Find(const char* from, const char* end, char wanted) {
  const void* found = std::memchr(from, wanted, static_cast<size_t>(end - from));
  return found == nullptr ? end : static_cast<const char*>(found);
}

}  // namespace

bool SseReader::Feed(std::string_view bytes, const OnData& on_data) {
  if (broken_) return false;
  if (bytes.empty()) return true;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  if (after_cr_) {
    after_cr_ = false;
    if (*at == '\n') ++at;
  }
  // Remembers the next LF, so that a stream whose lines end in CR is scanned only once.
  const char* line_feed = at;
  bool line_feed_known = false;
  while (at != end) {
    if (!line_feed_known || line_feed < at) {
      line_feed = Find(at, end, '\n');
      line_feed_known = true;
    }
    const char* const line_end = Find(at, line_feed, '\r');
    const std::string_view piece(at, static_cast<size_t>(line_end - at));
    if (line_.size() + piece.size() > most_event_ + kFieldName) {
      broken_ = true;
      return false;
    }
    if (line_end == end) {
      line_.append(piece);
      break;
    }
    at = line_end + 1;
    if (*line_end == '\r') {
      if (at == end) {
        after_cr_ = true;
      } else if (*at == '\n') {
        ++at;
      }
    }
    if (line_.empty()) {
      TakeLine(piece, true, on_data);
    } else {
      line_.append(piece);
      TakeLine(line_, false, on_data);
      line_.clear();
    }
    if (broken_) return false;
  }
  if (in_view_) {
    data_.assign(view_);
    in_view_ = false;
  }
  return true;
}

bool SseReader::InsideEvent() const {
  if (at_start_ && line_ == kByteOrderMark) return false;
  return broken_ || has_data_ || !line_.empty();
}

void SseReader::TakeLine(std::string_view line, bool kept, const OnData& on_data) {
  if (at_start_) {
    at_start_ = false;
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  }
  if (line.empty()) {
    if (!has_data_) return;
    has_data_ = false;
    on_data(in_view_ ? view_ : std::string_view(data_));
    in_view_ = false;
    data_.clear();
    return;
  }
  if (!line.starts_with(kData)) return;
  std::string_view value = line.substr(kData.size());
  if (!value.empty()) {
    if (value[0] != ':') return;  // a field whose longer name begins with "data"
    value.remove_prefix(1);
    if (value.starts_with(' ')) value.remove_prefix(1);
  }
  const size_t before = !has_data_ ? 0 : (in_view_ ? view_.size() : data_.size()) + 1;
  if (before + value.size() > most_event_) {
    broken_ = true;
    return;
  }
  if (!has_data_ && kept) {
    view_ = value;
    in_view_ = true;
  } else {
    if (in_view_) {
      data_.assign(view_);
      in_view_ = false;
    }
    if (has_data_) data_ += '\n';
    data_.append(value);
  }
  has_data_ = true;
}

}  // namespace tacho
