#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// Writes the fields of one protobuf message (https://protobuf.dev/programming-guides/encoding).
class ProtoWriter {
 public:
  void Number(uint32_t field, uint64_t value) {
    Tag(field, 0);
    Varint(value);
  }
  void Signed(uint32_t field, int64_t value) { Number(field, static_cast<uint64_t>(value)); }
  void Fixed64(uint32_t field, uint64_t value) {
    Tag(field, 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
  }
  void Double(uint32_t field, double value) { Fixed64(field, std::bit_cast<uint64_t>(value)); }
  // If the field is a protobuf string, `bytes` must be UTF-8.
  void Bytes(uint32_t field, std::string_view bytes) {
    Tag(field, 2);
    Varint(bytes.size());
    bytes_ += bytes;
  }
  void Message(uint32_t field, const ProtoWriter& message) { Bytes(field, message.bytes()); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void Clear() { bytes_.clear(); }

 private:
  void Tag(uint32_t field, uint32_t type) { Varint(uint64_t{field} << 3 | type); }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace tacho
