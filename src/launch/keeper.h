#pragma once

#include <optional>
#include <string_view>

#include "base/file_descriptor.h"
#include "launch/kept_program.h"

namespace tacho {

// The keeper of a program (KeptProgram). It is tacho, started again with a hidden command word. It
// is not forked, because the process that launches may have threads.

inline constexpr std::string_view kKeeperWord = "__keep";
inline constexpr int kKeeperMisused = 2;  // exit status: a descriptor or the options are missing
inline constexpr int kKeeperStuck = 1;    // exit status: some processes of the program do not end

// Messages between owner and keeper. To end the program, the owner closes the channel.
enum class KeeperMessage : int { kBegin, kRelease, kStarted, kNotStarted, kEnded };
struct KeeperPacket {
  KeeperMessage message;
  int value;
};
bool SendToPeer(int channel, KeeperMessage message, int value = 0);
std::optional<KeeperPacket> ReceiveFromPeer(int channel);

// The options in a memory file, as words that each end with a zero byte. They are not on a command
// line, because arguments and environment may hold secrets. On failure the descriptor is invalid
// and errno is set.
FileDescriptor KeeperOptionsFile(const KeptProgramOptions& options);

// Carries out `tacho __keep`. Descriptors 3, 4 and 5 are the channel, the log and the options.
// Returns the exit status.
int RunKeeper();

}  // namespace tacho
