#include "ray/ray_access.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "io/read_whole.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostToken = 64 * 1024;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Trimmed(std::string text) {
  constexpr const char* kSpace = " \t\r\n";
  text.erase(text.find_last_not_of(kSpace) + 1);
  text.erase(0, text.find_first_not_of(kSpace));
  return text;
}

constexpr const char* kDriversVariable = "RAY_ADDRESS";

// The address, and the variable or option that it is from. "auto" is this host.
struct Asked {
  std::string text, from;

  [[nodiscard]] bool is_host_and_port() const {
    return text.find("://") == std::string::npos && text.find(':') != std::string::npos;
  }
  [[nodiscard]] bool has_drivers_port() const {
    return is_host_and_port() && text.ends_with(":6379");
  }
};
Asked WithoutAuto(std::string_view given) {
  Asked asked{std::string(given), "--ray"};
  if (given != "auto") return asked;
  for (const char* const name : {"RAY_API_SERVER_ADDRESS", kDriversVariable}) {
    if (std::string value = Variable(name); !value.empty()) {
      asked = {std::move(value), name};
      break;
    }
  }
  if (asked.text == "local") asked.text = "auto";
  return asked;
}

}  // namespace

std::optional<std::string> DriversAddress(std::string_view given) {
  Asked asked = WithoutAuto(given);
  if (asked.text == "auto" || asked.has_drivers_port() ||
      (asked.is_host_and_port() && asked.from == kDriversVariable))
    return std::move(asked.text);
  return std::nullopt;
}

Result<Url> RayAddress(std::string_view given) {
  Asked asked = WithoutAuto(given);
  if (asked.has_drivers_port()) asked.text.resize(asked.text.rfind(':'));
  auto& [text, from] = asked;
  if (text == "auto") text = "http://127.0.0.1";
  if (text.starts_with("ray://")) {
    return FailAt(ErrorKind::kUsage, from,
                  fmt::format("{} is the address of Ray Client; give that of the dashboard: "
                              "http://HEAD:{}",
                              VisibleText(text), kRayPort));
  }
  const bool has_scheme = text.find("://") != std::string::npos;
  TACHO_ASSIGN_OR_RETURN(Url url, WithContext(ParseUrl(text), from));
  // A port that is not given: ParseUrl has put the port of HTTP.
  const std::string_view authority =
      std::string_view(text).substr(has_scheme ? text.find("://") + 3 : 0);
  const std::string_view host_and_port = authority.substr(0, authority.find('/'));
  const size_t colon = host_and_port.rfind(':');
  if (url.scheme == "http" && (colon == std::string_view::npos || host_and_port.ends_with(']')))
    url.port = kRayPort;
  return url;
}

Result<std::string> RayToken() {
  if (std::string token = Trimmed(Variable("RAY_AUTH_TOKEN")); !token.empty()) return token;
  if (const std::string path = Variable("RAY_AUTH_TOKEN_PATH"); !path.empty()) {
    TACHO_ASSIGN_OR_RETURN(
        std::string token, ReadWholeFile(path, kMostToken).map_error([](const Error& error) {
          return Error{ErrorKind::kUsage, error.message}.WithContext("RAY_AUTH_TOKEN_PATH");
        }));
    return Trimmed(std::move(token));
  }
  const std::string home = Variable("HOME");
  if (home.empty()) return "";
  return Trimmed(ReadWholeFile(home + "/.ray/auth_token", kMostToken).value_or(""));
}

}  // namespace tacho
