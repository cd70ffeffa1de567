#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_sink.h"

namespace tacho {

// Keeps what is written. Write fails if the text would be longer than `most`.
struct TextSink : ByteSink {
  std::string text = {};
  size_t most = SIZE_MAX;

  bool Write(std::string_view bytes) override {
    if (bytes.size() > most - text.size()) return false;
    text += bytes;
    return true;
  }
};

// Splits CSV text into records by RFC 4180.
inline std::vector<std::vector<std::string>> CsvRecords(std::string_view text) {
  std::vector<std::vector<std::string>> records(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"')
        records.back().back() += text[i++];
      else
        quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      records.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      records.push_back({""});
    } else if (quoted || text[i] != '\r') {
      records.back().back() += text[i];
    }
  }
  records.pop_back();
  return records;
}

}  // namespace tacho
