#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tacho {

// The processes of this host that listen on a TCP port, ascending; only those whose /proc entries
// this user may read. Empty when there is none, or on a system without /proc.
std::vector<int64_t> PidsListeningOn(uint16_t port);

// The ancestors of a process, parent first, up to init.
std::vector<int64_t> AncestorsOf(int64_t pid);

// The processes `roots` with all their descendants, ascending.
std::vector<int64_t> ProcessTree(const std::vector<int64_t>& roots);

// Whether the process was started with `setting` ("NAME=value") in its environment; false where
// that may not be read.
bool HasEnvironment(int64_t pid, std::string_view setting);

}  // namespace tacho
