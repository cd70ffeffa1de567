#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/files/transport.h"
#include "session/files/unpack.h"

namespace tacho {

// A folder on another host.
struct RemoteFolder {
  std::shared_ptr<const Transport> transport;
  std::string path;
  int64_t clock_offset_s = 0;  // the host's clock minus ours

  [[nodiscard]] std::string Text() const { return transport->Host() + ":" + path; }
};

// `from` is "HOST:/path", or "HOST" for the folder `engine_folder` on that host. Asks the host by
// ssh whether the folder exists (or its parent, in which the engine will make it), and what its
// clock says. kUsage: `from` has another form, or the folder does not exist; kRemote: ssh failed,
// with the end of its output. A `patience` of 0 is unlimited.
Result<RemoteFolder> FindRemoteFolder(const std::string& from, const std::string& engine_folder,
                                      std::chrono::milliseconds patience, std::stop_token stop);

// Fetches traces from the remote folder into `target` (UnpackTraces): files whose names begin with
// `key` and that were written since `since_unix_ns` by our clock. `progress` gets the number of
// bytes so far. Returns the local files, sorted. kRemote: the transport failed, or the files exceed
// `bounds`; kOutput: no room.
Result<std::vector<std::string>> FetchFiles(const RemoteFolder& from, std::string_view key,
                                            int64_t since_unix_ns, const std::string& target,
                                            std::chrono::milliseconds patience,
                                            std::stop_token stop,
                                            const std::function<void(uint64_t)>& progress,
                                            const UnpackBounds& bounds = {});

// Removes from the remote folder the files that FetchFiles would fetch. kRemote: some could not be
// removed, or `key` is empty.
Result<void> RemoveFetched(const RemoteFolder& from, std::string_view key, int64_t since_unix_ns,
                           std::chrono::milliseconds patience);

}  // namespace tacho
