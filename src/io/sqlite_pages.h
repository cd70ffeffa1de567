#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file_descriptor.h"

namespace tacho {

// Reads the pages of a SQLite database from a file or from memory, without SQLite. Pages are
// numbered from 1. https://www.sqlite.org/fileformat.html, section 1. Any number of threads may
// read at once.
class SqlitePages {
 public:
  // nullopt for a database whose rows only SQLite can read: texts in UTF-16, or a header that is
  // not as documented.
  static std::optional<SqlitePages> OfFile(FileDescriptor file, uint64_t bytes);
  static std::optional<SqlitePages> OfMemory(std::string_view bytes);  // `bytes` must outlive it

  [[nodiscard]] uint32_t page_bytes() const { return page_bytes_; }
  // The usable bytes of each page, from its beginning; the rest is reserved.
  [[nodiscard]] uint32_t usable_bytes() const { return usable_bytes_; }
  [[nodiscard]] uint32_t count() const { return count_; }

  // Returns `count` pages from `first` on: a pointer into memory, or for a file a copy in `room`,
  // so that later changes of the file do not matter. Null if there are fewer pages, as in a file
  // that has shrunk.
  const uint8_t* Read(uint32_t first, uint32_t count, uint8_t* room) const;

 private:
  SqlitePages() = default;
  static std::optional<SqlitePages> OfHeader(std::string_view header, uint64_t bytes);

  FileDescriptor file_;
  const uint8_t* memory_ = nullptr;
  uint32_t page_bytes_ = 0, usable_bytes_ = 0, count_ = 0;
};

}  // namespace tacho
