#pragma once

#include <cstdint>

namespace tacho::simulate {

// The finaliser of splitmix64: any number to one that looks random.
constexpr uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

// splitmix64: the same numbers for the same seed, on every machine.
class Random {
 public:
  explicit constexpr Random(uint64_t seed) : state_(seed) {}

  constexpr uint64_t Next() {
    const uint64_t value = Mix(state_);
    state_ += 0x9e3779b97f4a7c15U;
    return value;
  }
  // A whole number of [low, high].
  constexpr int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>((Next() >> 32) % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

}  // namespace tacho::simulate
