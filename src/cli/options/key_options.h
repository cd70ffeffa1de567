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
  // Takes the key from the option, else from the file, else from the first variable that has one.
  // kUsage: both options are given, the file has no key, or the key has characters that a header
  // cannot hold; kUnreadable: the file cannot be read.
  Result<HttpClientOptions> Http(std::initializer_list<const char*> variables) const;
};

}  // namespace tacho
