#include "ray/python_driver.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "base/random_secret.h"
#include "base/replace_file.h"

namespace tacho {

namespace embedded {
extern const std::string_view ray_driver;
}

namespace {

// Ray takes some seconds to let a driver in, and 20 s to refuse its token.
constexpr std::chrono::seconds kToStart{60}, kToEnd{5};

}  // namespace

Result<PythonDriver> PythonDriver::Start(const std::string& cluster, const StaticProgram& program,
                                         const std::stop_token& stop) {
  TACHO_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Make());
  const std::string driver = folder.At("driver.py");
  constexpr mode_t kExecutable = 0777;
  TACHO_RETURN_IF_ERROR(ReplaceFile(folder.At("tacho"), program.bytes, kExecutable));
  TACHO_RETURN_IF_ERROR(ReplaceFile(driver, embedded::ray_driver));
  TACHO_ASSIGN_OR_RETURN(std::string key, RandomSecret());
  TACHO_ASSIGN_OR_RETURN(
      Subprocess process,
      Subprocess::Start({.arguments = {"python3", driver, cluster, folder.path()},
                         .name = "python3",
                         .environment = {"TACHO_DRIVER_KEY=" + key},
                         .patience = kToStart,
                         .grace = kToEnd,
                         .stop = stop}));
  std::string said;
  std::array<char, 64> piece{};
  while (said.find('\n') == std::string::npos) {
    const size_t bytes = process.Read(piece.data(), piece.size());
    if (bytes == 0) break;
    said.append(piece.data(), bytes);
  }
  std::string_view rest = said;
  const auto port = TakeNumber<uint16_t>(rest);
  if (!port) {
    if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
    TACHO_RETURN_IF_ERROR(process.Finish());
    return Fail(ErrorKind::kRemote, "python3 ended without a word");
  }
  TACHO_ASSIGN_OR_RETURN(Url address, ParseUrl(fmt::format("http://127.0.0.1:{}", *port)));
  return PythonDriver(std::move(folder), std::move(process), std::move(address), std::move(key));
}

}  // namespace tacho
