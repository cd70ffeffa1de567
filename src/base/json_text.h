#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tacho {

// The characters of a JSON string. `raw` is the string without its quotes. Escapes are resolved; \u
// becomes UTF-8 (surrogate pairs are joined, single surrogates become U+FFFD). Unknown escapes and
// a backslash at the end stay as they are.
std::string UnescapeJson(std::string_view raw);

// `text` as a JSON string with quotes. Bytes that are not UTF-8 become U+FFFD, so the result is
// always valid JSON. It holds no control characters: C0, C1 and DEL are escaped.
std::string QuoteJson(std::string_view text);

// A string inside a JSON text, or inside a part of one.
struct JsonString {
  // The bytes between its quotes; without a closing quote, up to the end of the text.
  size_t begin = 0, end = 0;
  bool is_key = false;  // a ':' follows
};
// The string whose opening quote is at `quote`.
JsonString JsonStringAt(std::string_view json, size_t quote);

// `json` without the white space between its tokens.
std::string CompactJson(std::string_view json);

// If `value` is a JSON string: its characters, without quotes and with escapes resolved. Otherwise
// `value` unchanged.
std::string JsonStringOrText(std::string_view value);

}  // namespace tacho
