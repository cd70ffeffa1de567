// The reader of event streams: whatever the bytes and however they are cut, it gives the events
// that a plain second implementation of the standard's words gives. The first byte chooses the
// length of the pieces.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/sse.h"

namespace {

struct Told {
  std::vector<std::string> events;
  bool inside = false;
  bool whole = true;
};

constexpr size_t kMostEvent = 300;

Told FeedPieces(std::string_view text, size_t piece) {
  tacho::SseReader reader(kMostEvent);
  Told told;
  for (size_t at = 0; at < text.size(); at += piece) {
    // A copy of its own size: reading past it or keeping it is seen by ASan.
    const std::vector<char> bytes(
        text.begin() + static_cast<std::ptrdiff_t>(at),
        text.begin() + static_cast<std::ptrdiff_t>(at + std::min(piece, text.size() - at)));
    told.whole = reader.Feed({bytes.data(), bytes.size()},
                             [&](std::string_view data) { told.events.emplace_back(data); });
  }
  told.inside = reader.InsideEvent();
  return told;
}

// HTML Living Standard 9.2.6, word for word, without a thought of speed.
Told Naive(std::string text) {
  Told told;
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  std::string data;
  bool has_data = false;
  size_t at = 0;
  const auto too_long = [&](size_t line, size_t joined) {
    if (line <= kMostEvent + 6 && joined <= kMostEvent) return false;
    told.whole = false;
    told.inside = true;
    return true;
  };
  for (;;) {
    const size_t end = text.find_first_of("\r\n", at);
    if (end == std::string::npos) break;
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (text[end] == '\r' && at < text.size() && text[at] == '\n') ++at;
    if (too_long(line.size(), 0)) return told;
    if (line.empty()) {
      if (has_data) told.events.push_back(data.substr(0, data.size() - 1));
      data.clear();
      has_data = false;
      continue;
    }
    const size_t colon = line.find(':');
    if (line.substr(0, colon) != "data") continue;
    std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.erase(0, 1);
    data += value + '\n';
    has_data = true;
    if (too_long(0, data.size() - 1)) return told;
  }
  if (!too_long(text.size() - at, 0)) told.inside = has_data || at < text.size();
  return told;
}

void Require(const Told& a, const Told& b, const char* what) {
  if (a.events == b.events && a.inside == b.inside && a.whole == b.whole) return;
  std::fprintf(stderr, "%s: %zu and %zu events, inside %d and %d, whole %d and %d\n", what,
               a.events.size(), b.events.size(), a.inside, b.inside, a.whole, b.whole);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Told whole = FeedPieces(text, text.size());
  Require(whole, FeedPieces(text, 1), "byte by byte");
  Require(whole, FeedPieces(text, 1 + data[0] % 64), "in pieces");
  // A mark at the start may make the first line three bytes longer than the limit: leave that be.
  if (!text.starts_with("\xef\xbb\xbf") || text.size() < kMostEvent) {
    Require(whole, Naive(text), "second implementation");
  }
  return 0;
}
