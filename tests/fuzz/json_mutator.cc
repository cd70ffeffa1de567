// Mutates JSON by its tokens, fields and objects, so that what comes out is still nearly JSON.
// Every third time libFuzzer's own mutations on bytes.
#include "fuzz/json_mutator.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

struct Span {
  size_t begin = 0, size = 0;
};

class JsonMutator {
 public:
  JsonMutator(std::string json, unsigned seed, const FuzzedJson& kind)
      : kind_(kind), json_(std::move(json)), random_(seed) {}

  std::string Mutate() {
    for (size_t n = 1 + Below(3); n > 0; --n) Step();
    return std::move(json_);
  }

 private:
  size_t Below(size_t n) {
    return n == 0 ? 0 : std::uniform_int_distribution<size_t>(0, n - 1)(random_);
  }

  void Step() {
    if (json_.find_first_not_of(" \n") == std::string::npos) json_ = kind_.seed;
    FindTokens();
    if (kind_.strict && Below(4) > 0) return KeepTypes();
    const Span token = tokens_[Below(tokens_.size())];
    const std::string_view word = kind_.words[Below(kind_.words.size())];
    switch (Below(17)) {
      case 0:
        return Replace(token, IsNumber(token) && Below(2) == 0 ? Number() : std::string(word));
      case 1:
        return Replace({token.begin, 0}, std::string(word));
      case 2:
        return Replace(token, TextOf(tokens_[Below(tokens_.size())]));
      case 3:
        return Replace(token, {});
      case 4:
      case 5:
        return RepeatObject();
      case 6:
        return SwapObjects();
      case 7:
        return ChangeDigit();
      case 8:
        return ReplaceNumber();
      case 9: {
        static constexpr std::string_view kOdd("\"\\{}[],: \n\0\1\xff", 13);
        return Replace({Below(json_.size()), Below(2)}, std::string(1, kOdd[Below(kOdd.size())]));
      }
      case 10:
        if (Below(4) == 0) json_.resize(1 + Below(json_.size()));
        return;
      case 11: {
        static constexpr char kLetters[] = {'y', '1', '"', '{', '\\', ' '};
        const size_t length = Below(10) == 0 ? 4000 + Below(3000) : Below(100);
        return Replace({Below(json_.size()), 0}, std::string(length, kLetters[Below(6)]));
      }
      case 12:
        return RepeatMember();
      case 13:
        return DropField();
      case 14:
        return ReplaceValue(TextOf(ValueFrom(Below(tokens_.size()))));
      default:
        return ReplaceValue(Below(3) > 0 ? std::string(word) : Number());
    }
  }

  // Strings, words and numbers, single marks; none of the white space between them.
  void FindTokens() {
    tokens_.clear();
    objects_.clear();
    std::vector<size_t> open;
    for (size_t at = json_.find_first_not_of(" \n"); at < json_.size();
         at = json_.find_first_not_of(" \n", at)) {
      size_t end = at + 1;
      if (json_[at] == '"') {
        while (end < json_.size() && json_[end] != '"') end += json_[end] == '\\' ? 2 : 1;
        end = std::min(end + 1, json_.size());
      } else if (std::strchr("{}[],:", json_[at]) == nullptr) {
        while (end < json_.size() && std::strchr("{}[],:\" \n", json_[end]) == nullptr) ++end;
      }
      tokens_.push_back({at, end - at});
      if (json_[at] == '{') open.push_back(at);
      if (json_[at] == '}' && !open.empty()) {
        objects_.push_back({open.back(), end - open.back()});
        open.pop_back();
      }
      at = end;
    }
  }

  [[nodiscard]] std::string TextOf(Span span) const { return json_.substr(span.begin, span.size); }
  void Replace(Span span, const std::string& by) { json_.replace(span.begin, span.size, by); }

  void ChangeDigits(std::string& text, size_t one_in) {
    for (char& c : text) {
      if (c >= '0' && c <= '9' && Below(one_in) == 0) c = static_cast<char>('0' + Below(10));
    }
  }

  static bool StartsNumber(char c) { return c == '-' || (c >= '0' && c <= '9'); }
  [[nodiscard]] bool IsNumber(Span token) const { return StartsNumber(json_[token.begin]); }

  // A number in any of the forms that producers write.
  std::string Number() {
    const auto digits = [&](size_t n) {
      std::string text;
      while (text.size() < n) text += static_cast<char>('0' + Below(10));
      return text;
    };
    std::string number = Below(6) == 0 ? "-" : "";
    number += digits(1 + Below(Below(4) == 0 ? 20 : 5));
    if (Below(2) == 0) number += '.' + digits(Below(5));
    if (Below(10) == 0) number += 'e' + digits(1);
    return Below(10) == 0 ? '"' + number + '"' : number;
  }

  // A whole object or array if one begins at this token, else the token.
  [[nodiscard]] Span ValueFrom(size_t first) const {
    int depth = 0;
    for (size_t i = first; i < tokens_.size(); ++i) {
      const char c = json_[tokens_[i].begin];
      depth += (c == '{' || c == '[') ? 1 : (c == '}' || c == ']') ? -1 : 0;
      if (depth <= 0)
        return {tokens_[first].begin, tokens_[i].begin + tokens_[i].size - tokens_[first].begin};
    }
    return tokens_[first];
  }

  // The index of the colon of a field; 0 if there is none.
  size_t AnyColon() {
    std::vector<size_t> colons;
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (json_[tokens_[i].begin] == ':') colons.push_back(i);
    }
    return colons.empty() ? 0 : colons[Below(colons.size())];
  }

  void ReplaceValue(const std::string& by) {
    if (const size_t colon = AnyColon(); colon > 0) Replace(ValueFrom(colon + 1), by);
  }

  void KeepTypes() {
    switch (Below(8)) {
      case 0:
        return RepeatObject();
      case 1:
        return SwapObjects();
      case 2:
        return DropField();
      default:
        return ReplaceByLike();
    }
  }

  // A number by a number, a text by a text: of the words, or of this document.
  void ReplaceByLike() {
    const size_t colon = AnyColon();
    if (colon == 0) return;
    const Span value = tokens_[colon + 1];
    const auto is_like = [&](std::string_view text) {
      const char c = json_[value.begin];
      return text[0] == c || (StartsNumber(text[0]) && StartsNumber(c));
    };
    for (int draws = 0; draws < 30; ++draws) {
      const std::string by = Below(2) == 0 ? std::string(kind_.words[Below(kind_.words.size())])
                                           : TextOf(ValueFrom(Below(tokens_.size())));
      if (is_like(by)) return Replace(ValueFrom(colon + 1), by);
    }
  }

  // With a comma before or after it, so that the object stays one.
  void DropField() {
    const size_t colon = AnyColon();
    if (colon == 0) return;
    const Span value = ValueFrom(colon + 1);
    size_t begin = tokens_[colon - 1].begin, end = value.begin + value.size;
    const size_t after = json_.find_first_not_of(" \n", end);
    if (after != std::string::npos && json_[after] == ',') {
      end = after + 1;
    } else if (colon > 1 && json_[tokens_[colon - 2].begin] == ',') {
      begin = tokens_[colon - 2].begin;
    }
    Replace({begin, end - begin}, {});
  }

  void RepeatObject() {
    if (objects_.empty()) return;
    const Span object = objects_[Below(objects_.size())];
    const std::string text = TextOf(object);
    const size_t times = Below(8) == 0 ? Below(70) : 1 + Below(3);
    const size_t one_in = Below(2) == 0 ? SIZE_MAX : 1 + Below(10);
    std::string more;
    for (size_t i = 0; i < times && more.size() < 8000; ++i) {
      std::string copy = text;
      if (one_in != SIZE_MAX) ChangeDigits(copy, one_in);
      more += ',' + copy;
    }
    const Span before = Below(2) == 0 ? object : objects_[Below(objects_.size())];
    Replace({before.begin + before.size, 0}, more);
  }

  void SwapObjects() {
    if (objects_.size() < 2) return;
    Span a = objects_[Below(objects_.size())], b = objects_[Below(objects_.size())];
    if (a.begin > b.begin) std::swap(a, b);
    if (a.begin + a.size > b.begin) return;
    const std::string first = TextOf(a);
    const std::string second = TextOf(b);
    Replace(b, first);
    Replace(a, second);
  }

  void ChangeDigit() {
    const size_t from = Below(json_.size());
    const size_t at = json_.find_first_of("0123456789", from);
    if (at != std::string::npos) json_[at] = static_cast<char>('0' + Below(10));
  }

  void ReplaceNumber() {
    std::vector<Span> numbers;
    for (const Span& token : tokens_) {
      if (IsNumber(token)) numbers.push_back(token);
    }
    if (!numbers.empty()) Replace(numbers[Below(numbers.size())], Number());
  }

  // Puts a member (or an element) of some object at another place, or a like one beside it.
  void RepeatMember() {
    std::vector<size_t> commas;
    for (const Span& token : tokens_) {
      if (json_[token.begin] == ',') commas.push_back(token.begin);
    }
    if (commas.size() < 2) return;
    const size_t i = Below(commas.size() - 1);
    std::string member = json_.substr(commas[i], commas[i + 1] - commas[i]);
    if (Below(2) == 0) ChangeDigits(member, 2);
    Replace({commas[Below(2) == 0 ? i : Below(commas.size())], 0}, member);
  }

  const FuzzedJson& kind_;
  std::string json_;
  std::minstd_rand random_;
  std::vector<Span> tokens_, objects_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  const FuzzedJson& kind = JsonOfTarget();
  const unsigned random = seed >> 16 ^ seed;
  if (size < kind.choice_bytes || random % 3 == 0) {
    return LLVMFuzzerMutate(data, std::min(size, max_size), max_size);
  }
  if (random % 8 != 0) max_size = std::min(max_size, kind.small);  // small ones are run faster
  if (kind.choice_bytes > 1) {
    if (random % 8 == 1) data[1] = static_cast<uint8_t>(random >> 3);
    if (random % 16 == 2) data[0] = static_cast<uint8_t>(random >> 4);
  }
  const std::string_view before(reinterpret_cast<const char*>(data) + kind.choice_bytes,
                                size - kind.choice_bytes);
  const size_t most = max_size - kind.choice_bytes;
  std::string json;
  // One that becomes too large is made anew, and cut off the fourth time.
  for (unsigned attempt = 0; attempt < 4 && (attempt == 0 || json.size() > most); ++attempt)
    json = JsonMutator(std::string(before), seed + 1 + attempt, kind).Mutate();
  json.resize(std::min(json.size(), most));
  std::memcpy(data + kind.choice_bytes, json.data(), json.size());
  return kind.choice_bytes + json.size();
}
