#include "frame.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace tacho {

void FrameColumn::Texts::Add(std::string_view more) {
  // Readers of Arrow rely on valid UTF-8.
  if (IsUtf8(more)) {
    text += more;
  } else {
    text += ValidUtf8(more);
  }
  ends.push_back(static_cast<int64_t>(text.size()));
}

void FrameColumn::Reserve(size_t rows) {
  switch (kind_) {
    case FrameKind::kInteger:
      return integers_.reserve(rows);
    case FrameKind::kReal:
      return reals_.reserve(rows);
    case FrameKind::kWords:
      return words_.reserve(rows);
    case FrameKind::kText:
      return texts_.ends.reserve(rows + 1);
  }
}

// Counts the row that was added last.
void FrameColumn::Next(bool known) {
  if (!known) {
    if (valid_.empty()) {  // the first NULL: all rows before it have a value
      valid_.assign(rows_ / 8, 0xff);
      valid_.push_back(static_cast<uint8_t>((1U << rows_ % 8) - 1));
    }
    ++nulls_;
  }
  if (!valid_.empty()) {
    if (valid_.size() <= rows_ / 8) valid_.push_back(0);
    if (known) valid_[rows_ / 8] |= static_cast<uint8_t>(1U << rows_ % 8);
  }
  ++rows_;
}

bool FrameColumn::IsNull(size_t row) const {
  return !valid_.empty() && (valid_[row / 8] >> row % 8 & 1) == 0;
}

void FrameColumn::AddNull() {
  switch (kind_) {
    case FrameKind::kInteger:
      integers_.push_back(0);
      break;
    case FrameKind::kReal:
      reals_.push_back(0);
      break;
    case FrameKind::kWords:
      words_.push_back(0);
      break;
    case FrameKind::kText:
      texts_.Add("");
      break;
  }
  Next(false);
}

void FrameColumn::Add(int64_t value) {
  if (kind_ == FrameKind::kReal) return Add(static_cast<double>(value));
  if (kind_ != FrameKind::kInteger) return Add(std::string_view(std::to_string(value)));
  integers_.push_back(value);
  Next(true);
}

void FrameColumn::Add(double value) {
  if (kind_ == FrameKind::kInteger) return AddNull();
  if (kind_ != FrameKind::kReal) return Add(std::string_view(fmt::format("{}", value)));
  reals_.push_back(value);
  Next(true);
}

void FrameColumn::Add(std::string_view text) {
  if (kind_ == FrameKind::kWords) return AddWord(WordOf(text));
  if (kind_ != FrameKind::kText) return AddNull();
  texts_.Add(text);
  Next(true);
}

int32_t FrameColumn::WordOf(std::string_view text) {
  const auto [word, is_new] =
      word_of_.try_emplace(ValidUtf8(text), static_cast<int32_t>(texts_.size()));
  if (is_new) texts_.Add(text);
  return word->second;
}

void FrameColumn::AddWord(int32_t word) {
  if (word < 0) return AddNull();
  words_.push_back(word);
  Next(true);
}

size_t FrameColumn::MemoryBytes() const {
  return valid_.size() + integers_.size() * 8 + reals_.size() * 8 + words_.size() * 4 +
         texts_.text.size() + texts_.ends.size() * 8;
}

size_t Frame::MemoryBytes() const {
  size_t bytes = 0;
  for (const FrameColumn& column : columns) bytes += column.MemoryBytes();
  return bytes;
}

}  // namespace tacho
