#pragma once

#include <memory>
#include <stop_token>

#include "cli/load/load_flags.h"
#include "cli/load/load_progress.h"
#include "net/http_client.h"
#include "session/load/prepared_load.h"
#include "text/text_style.h"

namespace tacho {

// The state of one run of `tacho load`.
struct LoadScene {
  LoadFlags flags;
  std::unique_ptr<HttpClient> client;
  std::stop_token stop;
  PreparedLoad load;
  TextStyle style;
  ProgressLines progress;
};

}  // namespace tacho
