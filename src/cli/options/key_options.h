#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"
#include "net/http_client.h"

namespace tacho {

// The options for keys and certificates of commands that talk to servers.
struct ServerOptions {
  std::string api_key, api_key_file, ca_file;
  bool send_key_to_workers = false, insecure = false;

  // `keys` names the environment variables that are read.
  std::vector<OptionRow> Rows(const std::string& keys);
  // The key of the option, else of the file, else of the first variable that has one. kUsage: both
  // a file and a key, or a file without a key; kUnreadable: an unreadable file.
  Result<HttpClientOptions> Http(std::initializer_list<const char*> variables) const;
};

}  // namespace tacho
