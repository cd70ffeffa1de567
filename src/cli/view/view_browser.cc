#include "cli/view/view_browser.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/subprocess.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

BrowserPlace BrowserPlaceHere() {
  BrowserPlace place{Environment("DISPLAY"), Environment("SSH_CONNECTION")};
  if (place.display.empty()) place.display = Environment("WAYLAND_DISPLAY");
#ifdef __APPLE__
  place.macos = true;
#endif
  return place;
}

std::optional<std::string> OpenerFor(const BrowserPlace& place) {
  if (!place.ssh.empty()) return std::nullopt;
  if (place.macos) return "open";
  if (place.display.empty()) return std::nullopt;
  return "xdg-open";
}

Result<void> OpenInBrowser(const std::string& program, const std::string& url) {
  return StartDetached({program, url});
}

std::string TunnelCommand(const std::string& host, uint16_t port) {
  return fmt::format("ssh -N -L {0}:127.0.0.1:{0} {1}", port, ShellWord(host));
}

std::string MachineName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "HOST";
  return name.data();
}

}  // namespace tacho
