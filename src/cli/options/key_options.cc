#include "cli/options/key_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/words.h"
#include "io/read_whole.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostKeyFile = 64 * 1024;

Result<std::string> KeyIn(const std::string& path) {
  TACHO_ASSIGN_OR_RETURN(const auto text,
                         WithContext(ReadWholeFile(path, kMostKeyFile), "--api-key-file"));
  const std::string key(Trim(text));
  if (key.empty() || !CheckHeader({"Authorization", key}))
    return Fail(ErrorKind::kUsage,
                fmt::format("--api-key-file {}: it should hold the key alone, on one line",
                            VisibleText(path)));
  return key;
}

}  // namespace

std::vector<OptionRow> ServerOptions::Rows(const std::string& keys) {
  return {
      {"--api-key", "KEY", "bearer key for the servers that you name (default: " + keys + ")",
       &api_key, 0, false, Secret::kKey},
      {"--api-key-file", "FILE", "the same, from a file, so that no list of processes shows it",
       &api_key_file},
      {"--send-key-to-workers", "",
       "keys and headers also to workers that a router names and you do not", &send_key_to_workers},
      {"--cacert", "FILE", "PEM file of an additional certificate authority to trust", &ca_file},
      {"--insecure", "", "do not check TLS certificates", &insecure}};
}

Result<HttpClientOptions> ServerOptions::Http(std::initializer_list<const char*> variables) const {
  HttpClientOptions http;
  http.verify_tls = !insecure;
  http.ca_file = ca_file;
  http.keys_to_all = send_key_to_workers;
  http.bearer_key = api_key;
  if (!api_key_file.empty()) {
    if (!api_key.empty())
      return Fail(ErrorKind::kUsage, "--api-key and --api-key-file: give one of them");
    TACHO_ASSIGN_OR_RETURN(http.bearer_key, KeyIn(api_key_file));
  }
  const char* source = "--api-key";
  for (const char* variable : variables) {
    const char* key = std::getenv(variable);
    if (!http.bearer_key.empty() || key == nullptr) continue;
    http.bearer_key = key;
    source = variable;
  }
  if (!CheckHeader({"Authorization", http.bearer_key}))
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: the key has a line break or another control character", source));
  return http;
}

}  // namespace tacho
