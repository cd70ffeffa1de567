#include "base/random_secret.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

#include "base/system_error.h"

namespace tacho {

Result<std::string> RandomSecret() {
  std::array<unsigned char, 24> bytes{};
  ssize_t got = 0;
  do {
    got = getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bytes.size()))
    return Fail(ErrorKind::kOutput, "the system gives no random bytes: " + SystemErrorText(errno));
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool SameSecret(std::string_view secret, std::string_view given) {
  unsigned different = secret.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char of_secret = secret.empty() ? '\0' : secret[i % secret.size()];
    different |= static_cast<unsigned char>(of_secret ^ given[i]);
  }
  return different == 0 && !secret.empty();
}

}  // namespace tacho
