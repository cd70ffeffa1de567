#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tacho {

enum class FrameKind : uint8_t {
  kInteger,  // int64
  kReal,     // double
  kText,     // each row has its own
  kWords,    // few different texts: a number in each row, and each text once
};

// A column of a frame. Add one value for each row, in order. What is not of the column's kind is
// converted, or NULL if it cannot be.
class FrameColumn {
 public:
  // `says`: what the column is, its unit unless the name ends with it, and when it is NULL.
  FrameColumn(std::string name, FrameKind kind, std::string says)
      : name_(std::move(name)), says_(std::move(says)), kind_(kind) {}

  void Reserve(size_t rows);
  void AddNull();
  void Add(int64_t value);
  void Add(double value);
  void Add(std::string_view text);
  // For kWords: the number of a text, for AddWord. Cost: one look-up by text.
  int32_t WordOf(std::string_view text);
  void AddWord(int32_t word);  // negative: NULL

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& says() const { return says_; }
  [[nodiscard]] FrameKind kind() const { return kind_; }
  [[nodiscard]] size_t rows() const { return rows_; }
  [[nodiscard]] int64_t nulls() const { return nulls_; }
  [[nodiscard]] bool IsNull(size_t row) const;
  [[nodiscard]] size_t MemoryBytes() const;

  // Arrow's buffers. `valid` is a bitmap, least significant bit first; empty: no row is NULL.
  // `ends`: where each text ends in `text`, after a first 0.
  struct Texts {
    std::string text;
    std::vector<int64_t> ends{0};
    [[nodiscard]] size_t size() const { return ends.size() - 1; }
    [[nodiscard]] std::string_view operator[](size_t i) const {
      return std::string_view(text).substr(static_cast<size_t>(ends[i]),
                                           static_cast<size_t>(ends[i + 1] - ends[i]));
    }
    void Add(std::string_view more);
  };
  [[nodiscard]] const std::vector<uint8_t>& valid() const { return valid_; }
  [[nodiscard]] const std::vector<int64_t>& integers() const { return integers_; }
  [[nodiscard]] const std::vector<double>& reals() const { return reals_; }
  [[nodiscard]] const std::vector<int32_t>& words() const { return words_; }
  [[nodiscard]] const Texts& texts() const { return texts_; }  // of kWords: each text once

 private:
  void Next(bool known);

  std::string name_, says_;
  FrameKind kind_;
  size_t rows_ = 0;
  int64_t nulls_ = 0;
  std::vector<uint8_t> valid_;
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
  std::vector<int32_t> words_;
  Texts texts_;
  std::unordered_map<std::string, int32_t> word_of_;
};

// A table in columns, all of the same length. Immutable once it is built.
struct Frame {
  std::string name, says;
  size_t rows = 0;
  std::vector<FrameColumn> columns;

  [[nodiscard]] size_t MemoryBytes() const;
};

}  // namespace tacho
