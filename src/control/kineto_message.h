#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// What a process asks its Kineto daemon for: "is there a trace for me to take?"
struct KinetoQuestion {
  int32_t state = 0;  // 1 while a trace runs, 3 while idle
  int64_t job = 0;
  std::vector<int64_t> pids;  // the process, then its ancestors
};

// One datagram: the payload's size as u64, the kind of message in 32 bytes, the payload. Host byte
// order and layout: both ends are processes of one machine.
struct KinetoMessage {
  std::string type;  // "req", "ctxt"
  std::string payload;
};
constexpr size_t kKinetoHeaderBytes = 8 + 32;

// Nothing when the bytes are no such datagram.
std::optional<KinetoMessage> ParseKinetoMessage(std::string_view datagram);
std::string PackKinetoMessage(const KinetoMessage& message);

// The payload of a "req": i32 state, i32 n, i64 job, i32 pids[n].
std::optional<KinetoQuestion> ParseKinetoQuestion(std::string_view payload);
std::string PackKinetoQuestion(const KinetoQuestion& question);

}  // namespace tacho
