#include "io/isal_inflater.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace tacho {
namespace {

uint8_t* Bytes(const char* data) {
  // ISA-L never writes to its input.
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(data));
}

uint32_t Clamped(size_t size) {
  return static_cast<uint32_t>(std::min<size_t>(size, std::numeric_limits<uint32_t>::max()));
}

// ISA-L keeps up to 8 bytes of input in a bit buffer. If `out` is too small, it keeps up to 64 kB
// of output in a buffer of its own (the window). Both are public members of its state.
class IsalInflater : public Inflater {
 public:
  IsalInflater() { Reset(); }

  void Reset() override {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_DEFLATE;
    failed_ = false;
  }

  Step Inflate(const char* in, size_t in_size, char* out, size_t room) override {
    state_.next_out = Bytes(out);
    state_.avail_out = Clamped(room);
    Step step;
    if (!failed_) {
      state_.next_in = Bytes(in);
      state_.avail_in = Clamped(in_size);
      const int status = isal_inflate(&state_);
      failed_ = status < 0;
      error_ = status;
      if (failed_ && status != ISAL_INVALID_BLOCK) DropUnwritten(Bytes(out));
      step.taken = Clamped(in_size) - state_.avail_in;
    }
    if (failed_) GiveHeldOutput();
    step.written = Clamped(room) - state_.avail_out;
    if (failed_ && state_.tmp_out_processed >= state_.tmp_out_valid) {
      step.status = Status::kCorrupt;
    } else if (state_.block_state == ISAL_BLOCK_FINISH) {
      step.status = Status::kDone;
    }
    return step;
  }

  [[nodiscard]] std::string Unused() const override {
    // The lowest bits belong to the last byte, which was used in part.
    const int bits = std::max(state_.read_in_length, 0);
    const uint64_t whole = state_.read_in >> (bits % 8);
    std::string bytes;
    for (int i = 0; i < bits / 8; ++i) bytes.push_back(static_cast<char>(whole >> (8 * i) & 0xff));
    return bytes;
  }

  [[nodiscard]] std::string_view Reason() const override {
    if (error_ == ISAL_INVALID_LOOKBACK) return "invalid distance too far back";
    return error_ == ISAL_INVALID_SYMBOL ? "invalid code" : "invalid block";
  }

  [[nodiscard]] uint32_t Crc(uint32_t crc, const char* data, size_t size) const override {
    return crc32_gzip_refl(crc, Bytes(data), size);
  }

 private:
  // ISA-L counts a copy with an invalid distance as output although it wrote nothing, so the last
  // bytes may be old memory. This drops as many bytes as the longest copy has.
  void DropUnwritten(const uint8_t* out) {
    constexpr int32_t kLongestCopy = 258;
    const int32_t held =
        std::clamp(state_.tmp_out_valid - state_.tmp_out_processed, 0, kLongestCopy);
    state_.tmp_out_valid -= held;
    const auto given = std::min<ptrdiff_t>(state_.next_out - out, kLongestCopy - held);
    state_.next_out -= given;
    state_.avail_out += static_cast<uint32_t>(given);
  }

  // When isal_inflate meets corrupt data, it forgets good bytes that are still in its own buffer;
  // this gives them out.
  void GiveHeldOutput() {
    const int held = state_.tmp_out_valid - state_.tmp_out_processed;
    if (held <= 0) return;
    const uint32_t size = std::min(static_cast<uint32_t>(held), state_.avail_out);
    std::memcpy(state_.next_out, state_.tmp_out_buffer + state_.tmp_out_processed, size);
    state_.tmp_out_processed += static_cast<int32_t>(size);
    state_.next_out += size;
    state_.avail_out -= size;
  }

  inflate_state state_;  // 90 kB; Reset initialises it
  bool failed_ = false;
  int error_ = 0;
};

}  // namespace

std::unique_ptr<Inflater> MakeIsalInflater() { return std::make_unique<IsalInflater>(); }

}  // namespace tacho
