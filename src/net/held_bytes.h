#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace tacho {

// The bytes that a server holds for one client; they also count in a total over all clients. For
// any thread.
class HeldBytes {
 public:
  explicit HeldBytes(std::shared_ptr<std::atomic<uint64_t>> all) : all_(std::move(all)) {}
  // `other` keeps its `all_`, because it stays in use with 0 bytes.
  HeldBytes(HeldBytes&& other) noexcept
      // NOLINTNEXTLINE(performance-move-constructor-init)
      : all_(other.all_), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&&) = delete;
  ~HeldBytes() { all_->fetch_sub(bytes_); }

  // Holds at least `bytes` from now on. False if the total would exceed `most`.
  bool Hold(uint64_t bytes, uint64_t most) {
    if (bytes <= bytes_) return true;
    const uint64_t more = bytes - bytes_;
    if (all_->fetch_add(more) + more > most) {
      all_->fetch_sub(more);
      return false;
    }
    bytes_ = bytes;
    return true;
  }

 private:
  std::shared_ptr<std::atomic<uint64_t>> all_;
  uint64_t bytes_ = 0;
};

}  // namespace tacho
