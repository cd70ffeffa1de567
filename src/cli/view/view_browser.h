#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace tacho {

// What the environment says about a browser.
struct BrowserPlace {
  std::string display;  // DISPLAY or WAYLAND_DISPLAY
  std::string ssh;      // SSH_CONNECTION
  bool macos = false;
};
BrowserPlace BrowserPlaceHere();

// The program that opens an address in the user's browser; nullopt if there is no display, or if
// the display is that of another machine.
std::optional<std::string> OpenerFor(const BrowserPlace& place);

// Starts `program` to open `url`. It outlives this process. kRemote: there is no such program.
Result<void> OpenInBrowser(const std::string& program, const std::string& url);

// The line that forwards the port to another machine: "ssh -N -L 8137:127.0.0.1:8137 HOST".
std::string TunnelCommand(const std::string& host, uint16_t port);
// The name of this machine.
std::string MachineName();

}  // namespace tacho
