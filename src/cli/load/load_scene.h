#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "cli/load/load_job.h"
#include "cli/load/load_progress.h"
#include "load/plan/dataset.h"
#include "net/http_client.h"
#include "text/text_style.h"

namespace tacho {

// The state of one call of the command.
struct LoadScene {
  LoadFlags flags;
  LoadJob job;
  std::unique_ptr<HttpClient> client;
  std::stop_token stop;
  std::vector<DriveTarget> targets;
  Dataset dataset;
  TextStyle style;
  ProgressLines progress;
};

// Fills what the job leaves open: reads the dataset (before any request, so that errors in it are
// reported at once), asks the first server for its model and its token ids and the others whether
// they serve that model, and lets the tokenizer count texts. Adds remarks for the user to the job.
// kUsage, kUnreadable, kRemote.
Result<void> PrepareScene(LoadScene& scene);

}  // namespace tacho
