#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/parse.h"
#include "net/http_client.h"

namespace tacho {

// How a command that talks to servers gets its key, and checks theirs.
struct ServerOptions {
  std::string api_key, api_key_file, ca_file;
  bool send_key_to_workers = false, insecure = false;

  // `keys` names the variables that are read.
  std::vector<OptionRow> Rows(const std::string& keys);
  // The key is the option's, else the file's, else that of the first variable that has one. kUsage:
  // a file and a key are given, or the file holds no key; kUnreadable: it cannot be read.
  Result<HttpClientOptions> Http(std::initializer_list<const char*> variables) const;
};

}  // namespace tacho
