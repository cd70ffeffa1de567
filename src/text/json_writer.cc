#include "text/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_text.h"

namespace tacho {

void JsonWriter::Separate(std::string_view key) {
  if (!levels_.empty()) {
    Level& level = levels_.back();
    if (!level.empty) out_ += level.on_one_line ? ", " : ",";
    if (!level.on_one_line) {
      out_ += '\n';
      out_.append(levels_.size(), ' ');
    }
    level.empty = false;
  }
  if (!levels_.empty() && levels_.back().close == '}') {
    out_ += QuoteJson(key);
    out_ += ": ";
  }
}

void JsonWriter::Begin(std::string_view key, char open, bool on_one_line) {
  Separate(key);
  out_ += open;
  const bool inside_a_line = !levels_.empty() && levels_.back().on_one_line;
  levels_.push_back({open == '{' ? '}' : ']', on_one_line || inside_a_line});
}

void JsonWriter::End() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && !level.on_one_line) {
    out_ += '\n';
    out_.append(levels_.size(), ' ');
  }
  out_ += level.close;
}

void JsonWriter::Raw(std::string_view key, std::string_view value) {
  Separate(key);
  out_ += value;
}

void JsonWriter::Field(std::string_view key, std::string_view value) { Raw(key, QuoteJson(value)); }

void JsonWriter::Field(std::string_view key, double value) {
  // fmt writes the shortest text that reads back as the same number. NaN and infinity are left out,
  // because JSON cannot represent them.
  if (std::isfinite(value)) Raw(key, fmt::format("{}", value));
}

std::string JsonWriter::Finish() && {
  out_ += '\n';
  return std::move(out_);
}

}  // namespace tacho
