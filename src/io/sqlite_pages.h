#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file_descriptor.h"

namespace tacho {

// Reads the pages of a SQLite database from a file or from memory, without SQLite
// (https://www.sqlite.org/fileformat.html, section 1). Pages are numbered from 1. Any number of
// threads may read at the same time.
class SqlitePages {
 public:
  // nullopt if only SQLite can read the rows of this database: its texts are in UTF-16, or its
  // header is not as documented.
  static std::optional<SqlitePages> OfFile(FileDescriptor file, uint64_t bytes);
  static std::optional<SqlitePages> OfMemory(std::string_view bytes);  // `bytes` must outlive it

  [[nodiscard]] uint32_t page_bytes() const { return page_bytes_; }
  // How many bytes at the start of each page hold data; the rest is reserved.
  [[nodiscard]] uint32_t usable_bytes() const { return usable_bytes_; }
  [[nodiscard]] uint32_t count() const { return count_; }

  // Returns a pointer to the `count` pages from page `first` on. Pages of a file are copied into
  // `room`, so later changes of the file do not affect them. Null if the database does not have all
  // these pages, as in a file that has shrunk.
  const uint8_t* Read(uint32_t first, uint32_t count, uint8_t* room) const;

 private:
  SqlitePages() = default;
  static std::optional<SqlitePages> OfHeader(std::string_view header, uint64_t bytes);

  FileDescriptor file_;
  const uint8_t* memory_ = nullptr;
  uint32_t page_bytes_ = 0, usable_bytes_ = 0, count_ = 0;
};

}  // namespace tacho
