#include "base/json_text.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"
#include "base/words.h"

namespace tacho {
namespace {

// The code unit of the four hexadecimal digits at `at`; -1 if they are not there.
int32_t Hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return -1;
  int32_t value = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = HexDigit(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

std::string UnescapeJson(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    const char escape = raw[++i];
    switch (escape) {
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case '"':
      case '\\':
      case '/':
        out.push_back(escape);
        break;
      case 'u': {
        const int32_t unit = Hex4(raw, i + 1);
        if (unit < 0) {
          out += "\\u";
          break;
        }
        i += 4;
        auto code = static_cast<uint32_t>(unit);
        if (code >= 0xd800 && code < 0xdc00 && raw.substr(i + 1, 2) == "\\u") {
          const int32_t low = Hex4(raw, i + 3);
          if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (static_cast<uint32_t>(low) - 0xdc00);
            i += 6;
          }
        }
        AppendUtf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
        break;
      }
      default:
        out.push_back('\\');
        out.push_back(escape);
    }
  }
  return out;
}

std::string QuoteJson(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size() + 2);
  out.push_back('"');
  for (size_t i = 0; i < text.size();) {
    const Utf8Point point = DecodeUtf8(text, i);
    if (!point.valid) {
      out += "\xef\xbf\xbd";
    } else if (point.value == '"' || point.value == '\\') {
      out.push_back('\\');
      out.push_back(text[i]);
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (point.value == '\r') {
      out += "\\r";
    } else if (point.value < 0x20 || (point.value >= 0x7f && point.value < 0xa0)) {
      // JSON does not require this, but terminals obey DEL and the C1 control characters.
      out += "\\u00";
      out.push_back(kHex[point.value >> 4]);
      out.push_back(kHex[point.value & 15]);
    } else {
      out += text.substr(i, point.length);
    }
    i += point.length;
  }
  out.push_back('"');
  return out;
}

JsonString JsonStringAt(std::string_view json, size_t quote) {
  JsonString string{quote + 1, quote + 1};
  while (string.end < json.size() && json[string.end] != '"') {
    string.end += json[string.end] == '\\' ? 2 : 1;
  }
  string.end = std::min(string.end, json.size());
  const size_t behind = json.find_first_not_of(kBlanks, std::min(string.end + 1, json.size()));
  string.is_key = behind != std::string_view::npos && json[behind] == ':';
  return string;
}

std::string CompactJson(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\' && i + 1 < json.size()) {
      out += c;
      out += json[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || (c != ' ' && c != '\t' && c != '\n' && c != '\r')) out += c;
  }
  return out;
}

std::string JsonStringOrText(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    return UnescapeJson(value.substr(1, value.size() - 2));
  }
  return std::string(value);
}

}  // namespace tacho
