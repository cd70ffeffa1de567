#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Every process of this host, ascending; includes processes without a parent here, such as a
// container's `docker exec`. Empty without /proc.
std::vector<int64_t> AllPids();

// The processes of this host that listen on a TCP port, ascending; only those whose /proc entries
// this user may read. Empty without /proc.
std::vector<int64_t> PidsListeningOn(uint16_t port);

// The TCP ports that the process listens on, ascending; empty if its /proc entries may not be read.
std::vector<uint16_t> PortsOf(int64_t pid);

// Whether a server could listen on this TCP port at every address of this host.
bool IsFreePort(uint16_t port);

// WordsOf: all words of the process's command line. SettingsOf: the environment that it was started
// with, as "NAME=value". Empty if they may not be read.
std::vector<std::string> WordsOf(int64_t pid);
std::vector<std::string> SettingsOf(int64_t pid);

// The processes `roots` and all their descendants, ascending.
std::vector<int64_t> ProcessTree(const std::vector<int64_t>& roots);

// The value of the variable `name` in the environment that the process was started with; nullopt if
// it is not set or may not be read.
std::optional<std::string> EnvironmentOf(int64_t pid, std::string_view name);

// The user id that new files of the process get; nullopt if the process has ended.
std::optional<uint32_t> UserOf(int64_t pid);

// Whether the process is in this process's mount namespace, so that a path means the same file to
// both. False if it may not be read.
bool SeesOurFiles(int64_t pid);

// When the process began, in clock ticks since this host's boot; 0 if the process has ended or may
// not be read. A pid together with this time is unique.
int64_t StartTicksOf(int64_t pid);

}  // namespace tacho
