// Mutates the input of scanner_fuzz as a trace: tokens, members and whole events are exchanged,
// repeated and damaged, so that what comes out is still nearly JSON. Every third time libFuzzer's
// own mutations on bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

constexpr size_t kChoiceBytes = 2;

constexpr std::string_view kTokens[] = {
    "\"ph\"",
    "\"cat\"",
    "\"name\"",
    "\"pid\"",
    "\"tid\"",
    "\"ts\"",
    "\"dur\"",
    "\"id\"",
    "\"args\"",
    "\"s\"",
    "\"bp\"",
    "\"traceEvents\"",
    "\"traceName\"",
    "\"schemaVersion\"",
    "\"deviceProperties\"",
    "\"distributedInfo\"",
    "\"baseTimeNanoseconds\"",
    "\"WARNING\"",
    "\"record_shapes\"",
    "\"rank\"",
    "\"correlation\"",
    "\"External id\"",
    "\"external id\"",
    "\"device\"",
    "\"stream\"",
    "\"Ev Idx\"",
    "\"labels\"",
    "\"mine\"",
    "\"Input Dims\"",
    "\"X\"",
    "\"M\"",
    "\"B\"",
    "\"E\"",
    "\"s\"",
    "\"t\"",
    "\"f\"",
    "\"i\"",
    "\"C\"",
    "\"b\"",
    "\"kernel\"",
    "\"Kernel\"",
    "\"gpu_memcpy\"",
    "\"cpu_op\"",
    "\"cuda_runtime\"",
    "\"python_function\"",
    "\"user_annotation\"",
    "\"gpu_user_annotation\"",
    "\"Trace\"",
    "\"ac2g\"",
    "\"thread_name\"",
    "\"process_name\"",
    "\"\"",
    "\"a\\\\\"",
    "\"\\\"\"",
    "\"\\u0041\"",
    "\"\\ud83d\\ude00\"",
    "\"\\u12\"",
    "\"\xff\"",
    "\"\xc3\xa9\"",
    "\"a\nb\"",
    "\"a\"b\"",
    "\"a\", \"b\"",
    "\"[{\"ph\": \"X\"}]\"",
    "\"\1\"",
    "null",
    "true",
    "false",
    "nan",
    "inf",
    "-inf",
    "0",
    "-0",
    "1",
    "-1",
    "7",
    "00",
    "01",
    "1.5",
    "1.25",
    "1.125",
    "1.0625",
    "0.-05",
    "-1.-234",
    "1e3",
    "1E-3",
    "2.5e1",
    "\"12.5\"",
    "\"5\"",
    "-5",
    "+5",
    "1.",
    ".5",
    "12345678",
    "123456789012345678",
    "1234567890123456789",
    "18446744073709551615",
    "2300000000000000",
    "2300000000000001",
    "100000000000",
    "100000000001",
    "1790857026000000.123",
    "[1, 2, 3]",
    "[]",
    "{}",
    "[[1], [2]]",
    "[[[",
    "{\"a\": 1}",
    "{\"a\": {\"b\": [{}]}}",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ", ,",
    "},",
    "],",
    "}]",
    "{\"ph\"",
    "{\n    \"ph\"",
    "]}",
    "],\"traceName\":\"t\"}",
    "\"key\": ,",
    " ",
    "\n  ",
    "\r\n",
    "\xef\xbb\xbf",
    R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":9.5,"dur":2,"args":{"device":0,"stream":7,"correlation":5,"External id":3}},)",
    R"({"ph": "X", "cat": "cuda_runtime", "name": "l", "pid": 1, "tid": 1, "ts": 8.000, "dur": 1.000, "args": {"correlation": 5}},)",
    R"({"ph":"s","id":5,"pid":1,"tid":1,"ts":8.000,"cat":"ac2g","name":"ac2g"},)",
    R"({"ph":"B","name":"o","pid":1,"tid":1,"ts":1,"args":{"a":1}},{"ph":"E","pid":1,"tid":1,"ts":4},)",
    R"({"name":"thread_name","ph":"M","ts":1,"pid":1,"tid":1,"args":{"name":"t"}},)",
    R"({"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":3,"args":{"Bytes":-4,"Addr":77}},)",
    R"({"ph":"C","name":"m","pid":1,"ts":2,"args":{"used":5,"":0.25,"text":"x"}},)",
    R"({"ph":"b","cat":"c","id":7,"name":"r","pid":1,"ts":2,"args":{"a":1}},)",
    R"({"ph":"e","cat":"c","id":7,"name":"r","pid":1,"ts":6},)",
    R"({"args":{"External id":5,"device":1},"cat":"Kernel","dur":2.5,"name":"k","ph":"X","pid":1,"tid":2,"ts":1.5},)",
};
constexpr std::string_view kSeed =
    R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1.5,"dur":2},)"
    R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2.5,"dur":2}],"traceName":"t"})";

struct Span {
  size_t begin = 0, size = 0;
};

class JsonMutator {
 public:
  JsonMutator(std::string json, unsigned seed) : json_(std::move(json)), random_(seed) {}

  std::string Mutate() {
    for (size_t n = 1 + Below(3); n > 0; --n) Step();
    return std::move(json_);
  }

 private:
  size_t Below(size_t n) {
    return n == 0 ? 0 : std::uniform_int_distribution<size_t>(0, n - 1)(random_);
  }

  void Step() {
    if (json_.empty()) json_ = kSeed;
    FindTokens();
    const Span token = tokens_[Below(tokens_.size())];
    const std::string_view word = kTokens[Below(std::size(kTokens))];
    switch (Below(13)) {
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
      default:
        return RepeatMember();
    }
  }

  // Strings, words and numbers, single marks; white space belongs to what is in front of it.
  void FindTokens() {
    tokens_.clear();
    objects_.clear();
    std::vector<size_t> open;
    for (size_t at = 0; at < json_.size();) {
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

  [[nodiscard]] bool IsNumber(Span token) const {
    const char c = json_[token.begin];
    return c == '-' || (c >= '0' && c <= '9');
  }

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
    const Span behind = Below(2) == 0 ? object : objects_[Below(objects_.size())];
    Replace({behind.begin + behind.size, 0}, more);
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

  std::string json_;
  std::minstd_rand random_;
  std::vector<Span> tokens_, objects_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  const unsigned random = seed >> 16 ^ seed;
  if (size < kChoiceBytes || random % 3 == 0) {
    return LLVMFuzzerMutate(data, std::min(size, max_size), max_size);
  }
  if (random % 8 != 0) max_size = std::min<size_t>(max_size, 4000);  // small ones are run faster
  if (random % 8 == 1) data[1] = static_cast<uint8_t>(random >> 3);
  if (random % 16 == 2) data[0] = static_cast<uint8_t>(random >> 4);
  std::string json(reinterpret_cast<const char*>(data) + kChoiceBytes, size - kChoiceBytes);
  json = JsonMutator(std::move(json), seed + 1).Mutate();
  json.resize(std::min(json.size(), max_size - kChoiceBytes));
  std::memcpy(data + kChoiceBytes, json.data(), json.size());
  return kChoiceBytes + json.size();
}
