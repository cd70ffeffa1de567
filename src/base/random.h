#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace tacho {

inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15u;

// Mixes the bits of a number (the last step of SplitMix64). 0 stays 0.
constexpr uint64_t MixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Hashes that are the same on every platform, unlike std::hash.
constexpr uint64_t HashNumber(uint64_t number) { return MixBits(number + kSplitMixStep); }
constexpr uint64_t HashText(std::string_view text) {
  uint64_t hash = text.size();
  for (const char c : text) hash = MixBits(hash ^ static_cast<unsigned char>(c)) + 1;
  return hash;
}

// SplitMix64. A seed gives the same numbers on every platform. This is why the distributions of the
// standard library are not used: they differ between platforms, and the plan of a load must not.
class Random {
 public:
  // For one seed, different `stream` numbers give independent sequences.
  explicit constexpr Random(uint64_t seed, uint64_t stream = 0)
      : state_(HashNumber(seed) ^ HashNumber(stream + kSplitMixStep)) {}
  // The original SplitMix64. Its first number is HashNumber(state).
  static constexpr Random FromState(uint64_t state) {
    Random random(0);
    random.state_ = state;
    return random;
  }

  constexpr uint64_t Next() { return MixBits(state_ += kSplitMixStep); }
  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // Uniform in 0 .. below - 1, with a bias below 2^-32 in all uses here.
  uint64_t Below(uint64_t below) { return static_cast<uint64_t>((Wide{Next()} * below) >> 64); }
  // A whole number in [low, high], both included.
  constexpr int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>((Next() >> 32) % static_cast<uint64_t>(high - low + 1));
  }
  double Exponential() { return -std::log1p(-Uniform()); }
  double Normal() {
    const double radius = std::sqrt(2 * Exponential());
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }
  // Gamma distribution with mean `shape`. Source: Marsaglia and Tsang, ACM TOMS 26 (2000). For a
  // shape below 1, a number for shape + 1 is scaled down.
  double Gamma(double shape) {
    if (shape < 1) return Gamma(shape + 1) * std::pow(1 - Uniform(), 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = Normal();
      const double v = std::pow(1 + c * x, 3);
      if (v <= 0) continue;
      if (std::log(1 - Uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
    }
  }

 private:
  __extension__ typedef unsigned __int128 Wide;
  uint64_t state_;
};

}  // namespace tacho
