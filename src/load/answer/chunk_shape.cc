#include "load/answer/chunk_shape.h"

#include <algorithm>
#include <cstring>

#include "base/words.h"

namespace tacho {
namespace {

constexpr size_t kCountDigits = 9, kMostDigits = 18;
constexpr int kMostDepth = 16;

// Removes a number from the front and returns it; -1 if there is no number or it is too long.
int64_t TakeDigits(std::string_view& text, size_t most_digits = kMostDigits) {
  size_t digits = 0;
  int64_t number = 0;
  while (digits < text.size() && IsDigit(text[digits])) {
    if (digits == most_digits || (digits == 1 && text[0] == '0')) return -1;
    number = number * 10 + (text[digits++] - '0');
  }
  text.remove_prefix(digits);
  return digits > 0 ? number : -1;
}

// Moves the text before the closing quote to `plain`. False if it is not plain ASCII.
bool TakePlain(std::string_view& text, std::string_view& plain) {
  size_t size = 0;
  while (size < text.size() && text[size] != '"') {
    const auto c = static_cast<unsigned char>(text[size]);
    if (c < 0x20 || c >= 0x7f || c == '\\') return false;
    ++size;
  }
  if (size == text.size()) return false;
  plain = text.substr(0, size);
  text.remove_prefix(size);
  return true;
}

// Removes a list such as "[1,2,3]" and returns its length; -1 if something else is there.
int64_t TakeIds(std::string_view& text) {
  if (!text.starts_with('[')) return -1;
  for (int64_t count = 1;; ++count) {
    text.remove_prefix(1);
    if (TakeDigits(text) < 0 || text.empty()) return -1;
    if (text[0] == ']') {
      text.remove_prefix(1);
      return count;
    }
    if (text[0] != ',') return -1;
  }
}

}  // namespace

// Walks through an example and finds its slots.
class ChunkShape::Walk {
 public:
  explicit Walk(ChunkShape& shape) : shape_(shape), rest_(shape.example_) {}

  bool Run() {
    if (!Value(Place::kRoot, 0)) return false;
    shape_.tail_ = literal_;
    return rest_.empty() && texts_ == 1;
  }

 private:
  enum class Place { kRoot, kChoices, kChoice, kDelta, kUsage, kElsewhere };

  size_t At() const { return shape_.example_.size() - rest_.size(); }
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(' '))); }
  // Says that the bytes from `begin` to the current position may differ between chunks.
  void AddSlot(size_t begin, Slot slot) {
    shape_.pieces_.push_back({literal_, begin - literal_, slot});
    literal_ = At();
  }

  bool String() {
    if (!Take('"')) return false;
    for (bool escaped = false; !rest_.empty();) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '"' && !escaped) return true;
      escaped = c == '\\' && !escaped;
    }
    return false;
  }

  bool Value(Place place, int depth) {
    if (rest_.empty() || depth > kMostDepth) return false;
    if (rest_[0] == '{') return Object(place, depth);
    if (rest_[0] == '[') return Array(place, depth);
    if (rest_[0] == '"') return String();
    const size_t size = std::min(rest_.size(), rest_.find_first_of(",]} "));
    rest_.remove_prefix(size);
    return size > 0;
  }

  bool Array(Place place, int depth) {
    const Place inside = place == Place::kChoices ? Place::kChoice : Place::kElsewhere;
    Take('[');
    SkipBlanks();
    if (Take(']')) return true;
    for (;;) {
      if (!Value(inside, depth + 1)) return false;
      SkipBlanks();
      if (Take(']')) return true;
      if (!Take(',')) return false;
      SkipBlanks();
    }
  }

  bool Object(Place place, int depth) {
    Take('{');
    SkipBlanks();
    if (Take('}')) return true;
    for (;;) {
      const size_t key_at = At() + 1;
      if (!String()) return false;
      const auto key = std::string_view(shape_.example_).substr(key_at, At() - key_at - 1);
      SkipBlanks();
      if (!Take(':')) return false;
      SkipBlanks();
      if (!Field(place, key, depth)) return false;
      SkipBlanks();
      if (Take('}')) return true;
      if (!Take(',')) return false;
      SkipBlanks();
    }
  }

  bool Field(Place place, std::string_view key, int depth) {
    Place inside = Place::kElsewhere;
    if (place == Place::kRoot) {
      if (key == "id") return PlainSlot(Slot::kId);
      if (key == "created") return NumberSlot(Slot::kIgnored);
      if (key == "choices") inside = Place::kChoices;
      if (key == "usage") inside = Place::kUsage;
      if (key == "meta_info") return false;
    } else if (place == Place::kChoice) {
      if (key == "text") return TextSlot();
      if (key == "token_ids" && rest_.starts_with('[')) return IdsSlot();
      if (key == "delta") inside = Place::kDelta;
      if (key == "message") return false;
    } else if (place == Place::kDelta) {
      if (key == "role") shape_.has_role_ = true;
      if (key == "content" || key == "reasoning_content" || key == "reasoning") return TextSlot();
      if (key == "tool_calls" && !rest_.starts_with("null")) return false;
    } else if (place == Place::kUsage) {
      if (key == "prompt_tokens") return NumberSlot(Slot::kPromptTokens);
      if (key == "completion_tokens") return NumberSlot(Slot::kCompletionTokens);
      if (key == "total_tokens") return NumberSlot(Slot::kIgnored);
    }
    return Value(inside, depth + 1);
  }

  bool PlainSlot(Slot slot) {
    if (!Take('"')) return false;
    const size_t begin = At();
    std::string_view plain;
    if (!TakePlain(rest_, plain)) return false;
    AddSlot(begin, slot);
    return Take('"');
  }
  bool TextSlot() {
    if (!rest_.starts_with('"')) return Value(Place::kElsewhere, 0);  // null
    ++texts_;
    return PlainSlot(Slot::kText);
  }
  bool NumberSlot(Slot slot) {
    const size_t begin = At();
    if (TakeDigits(rest_) < 0) return false;
    AddSlot(begin, slot);
    return true;
  }
  bool IdsSlot() {
    const size_t begin = At();
    if (TakeIds(rest_) < 0) return false;
    AddSlot(begin, Slot::kTokenIds);
    return true;
  }

  ChunkShape& shape_;
  std::string_view rest_;
  size_t literal_ = 0;  // where the fixed bytes since the last slot begin
  int texts_ = 0;
};

bool ChunkShape::Learn(std::string_view json, const StreamChunk& chunk) {
  pieces_.clear();
  if (chunk.choices.size() != 1 || chunk.has_error || chunk.bad_usage || !chunk.error.empty()) {
    return false;
  }
  // With an empty text it would be unclear which slot holds the text.
  const ChunkChoice& choice = chunk.choices[0];
  if (!choice.finish_reason.empty() || choice.text.empty()) return false;
  example_ = json;
  index_ = choice.index;
  prompt_tokens_ = chunk.prompt_tokens;
  cached_tokens_ = chunk.cached_tokens;
  completion_tokens_ = chunk.completion_tokens;
  has_role_ = false;
  StreamChunk again;
  if (Walk(*this).Run() && Match(json, again) && again.id == chunk.id &&
      again.completion_tokens == chunk.completion_tokens &&
      again.prompt_tokens == chunk.prompt_tokens && again.choices[0].text == choice.text &&
      again.choices[0].token_ids == choice.token_ids) {
    return true;
  }
  pieces_.clear();
  return false;
}

bool ChunkShape::Match(std::string_view json, StreamChunk& chunk) const {
  if (pieces_.empty()) return false;
  chunk.id = {};
  chunk.prompt_tokens = prompt_tokens_;
  chunk.cached_tokens = cached_tokens_;
  chunk.completion_tokens = completion_tokens_;
  chunk.bad_usage = chunk.has_error = false;
  chunk.error.clear();
  chunk.choices.resize(1);
  ChunkChoice& choice = chunk.choices[0];
  choice = ChunkChoice();
  choice.index = index_;
  std::string_view rest = json;
  for (const Piece& piece : pieces_) {
    if (rest.size() < piece.size ||
        std::memcmp(rest.data(), example_.data() + piece.begin, piece.size) != 0) {
      return false;
    }
    rest.remove_prefix(piece.size);
    switch (piece.slot) {
      case Slot::kId:
        if (!TakePlain(rest, chunk.id)) return false;
        break;
      case Slot::kText:
        if (!TakePlain(rest, choice.text)) return false;
        break;
      case Slot::kTokenIds:
        choice.token_ids = TakeIds(rest);
        if (choice.token_ids < 0) return false;
        break;
      case Slot::kPromptTokens:
        chunk.prompt_tokens = TakeDigits(rest, kCountDigits);
        if (chunk.prompt_tokens < 0) return false;
        break;
      case Slot::kCompletionTokens:
        chunk.completion_tokens = TakeDigits(rest, kCountDigits);
        if (chunk.completion_tokens < 0) return false;
        break;
      case Slot::kIgnored:
        if (TakeDigits(rest) < 0) return false;
        break;
    }
  }
  choice.role_only = has_role_ && choice.text.empty();
  return rest == std::string_view(example_).substr(tail_);
}

}  // namespace tacho
