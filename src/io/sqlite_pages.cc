#include "io/sqlite_pages.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>

namespace tacho {
namespace {

constexpr size_t kDatabaseHeader = 100;

}  // namespace

std::optional<SqlitePages> SqlitePages::OfHeader(std::string_view header, uint64_t bytes) {
  constexpr size_t kPageSizeAt = 16, kReservedAt = 20, kEncodingAt = 56;
  constexpr uint32_t kSmallest = 512, kLargest = 65536, kLeastUsable = 480, kUtf8 = 1;
  const auto byte = [&](size_t at) { return uint32_t{static_cast<uint8_t>(header[at])}; };
  if (header.size() < kDatabaseHeader) return std::nullopt;
  SqlitePages pages;
  pages.page_bytes_ = byte(kPageSizeAt) << 8 | byte(kPageSizeAt + 1);
  if (pages.page_bytes_ == 1) pages.page_bytes_ = kLargest;
  if (pages.page_bytes_ < kSmallest || !std::has_single_bit(pages.page_bytes_)) return std::nullopt;
  pages.usable_bytes_ = pages.page_bytes_ - byte(kReservedAt);
  const uint32_t encoding = byte(kEncodingAt) << 24 | byte(kEncodingAt + 1) << 16 |
                            byte(kEncodingAt + 2) << 8 | byte(kEncodingAt + 3);
  if (pages.usable_bytes_ < kLeastUsable || encoding != kUtf8) return std::nullopt;
  pages.count_ =
      static_cast<uint32_t>(std::min<uint64_t>(bytes / pages.page_bytes_, UINT32_MAX - 1));
  return pages;
}

std::optional<SqlitePages> SqlitePages::OfFile(FileDescriptor file, uint64_t bytes) {
  std::array<char, kDatabaseHeader> header{};
  if (::pread(file.get(), header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
    return std::nullopt;
  auto pages = OfHeader({header.data(), header.size()}, bytes);
  if (pages) pages->file_ = std::move(file);
  return pages;
}

std::optional<SqlitePages> SqlitePages::OfMemory(std::string_view bytes) {
  auto pages = OfHeader(bytes, bytes.size());
  if (pages) pages->memory_ = reinterpret_cast<const uint8_t*>(bytes.data());
  return pages;
}

const uint8_t* SqlitePages::Read(uint32_t first, uint32_t count, uint8_t* room) const {
  if (first == 0 || first > count_ || count > count_ - first + 1) return nullptr;
  const uint64_t begin = uint64_t{first - 1} * page_bytes_;
  if (memory_ != nullptr) return memory_ + begin;
  const uint64_t size = uint64_t{count} * page_bytes_;
  for (uint64_t done = 0; done < size;) {
    const ssize_t got =
        ::pread(file_.get(), room + done, size - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return nullptr;
    done += static_cast<uint64_t>(got);
  }
  return room;
}

}  // namespace tacho
