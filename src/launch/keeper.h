#pragma once

#include <optional>
#include <string_view>

#include "base/file_descriptor.h"
#include "launch/kept_program.h"

namespace tacho {

// The keeper of a program (KeptProgram): tacho, started again with a hidden command word rather
// than forked, because the launching process may have threads.

inline constexpr std::string_view kKeeperWord = "__keep";
inline constexpr int kKeeperMisused = 2;  // exit status: it lacks a descriptor or options
inline constexpr int kKeeperStuck = 1;    // exit status: processes of the program do not end

// Messages between owner and keeper. The owner closes the channel to end the program.
enum class KeeperMessage : int { kBegin, kRelease, kStarted, kNotStarted, kEnded };
struct KeeperPacket {
  KeeperMessage message;
  int value;
};
bool SendToPeer(int channel, KeeperMessage message, int value = 0);
std::optional<KeeperPacket> ReceiveFromPeer(int channel);

// The options as a file in memory, words that each end with a zero byte: arguments and environment
// may hold secrets, which a command line would show. Invalid, with errno set, on failure.
FileDescriptor KeeperOptionsFile(const KeptProgramOptions& options);

// What `tacho __keep` does, with the channel, the log and the options as descriptors 3, 4 and 5.
// Returns the exit status.
int RunKeeper();

}  // namespace tacho
