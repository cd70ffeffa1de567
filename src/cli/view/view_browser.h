#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace tacho {

// What decides whether a browser can be opened.
struct BrowserPlace {
  std::string display;  // DISPLAY or WAYLAND_DISPLAY
  std::string ssh;      // SSH_CONNECTION
  bool macos = false;
};
BrowserPlace BrowserPlaceHere();

// The program that opens an address in the user's browser; nullopt if there is no display, or if
// the user came by ssh and the display is another machine's.
std::optional<std::string> OpenerFor(const BrowserPlace& place);

// Starts `program` to open `url`. The program outlives this process. kRemote: there is no such
// program.
Result<void> OpenInBrowser(const std::string& program, const std::string& url);

// The command by which a user at another machine reaches the port on `host`: "ssh -N -L
// 8137:127.0.0.1:8137 HOST".
std::string TunnelCommand(const std::string& host, uint16_t port);
// The name of this machine.
std::string MachineName();

}  // namespace tacho
