#pragma once

#include <cstdint>

namespace tacho::nsys {

// These take apart nsys's global id of a thread: hardware id (8 bits), virtual machine (8), process
// (24), thread (24). In a globalPid, the thread is 0.
constexpr int64_t ProcessKey(int64_t global) { return global >> 24; }
constexpr int64_t PidOf(int64_t global) { return global >> 24 & 0xffffff; }
constexpr int64_t PidOfKey(int64_t key) { return key & 0xffffff; }
constexpr int64_t TidOf(int64_t global) { return global & 0xffffff; }

}  // namespace tacho::nsys
