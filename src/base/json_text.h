#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tacho {

// The characters of a JSON string without its quotes: escapes resolved, \u as UTF-8 (surrogate
// pairs joined, lone ones as U+FFFD). Unknown escapes and a trailing backslash are kept as they
// are.
std::string UnescapeJson(std::string_view raw);

// `text` as a JSON string with quotes. Bytes that are not UTF-8 become U+FFFD, so the result is
// always valid JSON. It holds no control characters: C0, C1 and DEL are escaped.
std::string QuoteJson(std::string_view text);

// A string in a JSON text, or in a part of one.
struct JsonString {
  size_t begin = 0, end = 0;  // between its quotes; if no quote closes it: up to the text's end
  bool is_key = false;        // a ':' follows
};
// The string whose opening quote is at `quote`.
JsonString JsonStringAt(std::string_view json, size_t quote);

// `json` without the white space between its tokens.
std::string CompactJson(std::string_view json);

// `value` without its quotes and with escapes resolved if it is a JSON string, else unchanged.
std::string JsonStringOrText(std::string_view value);

}  // namespace tacho
