#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "cli/load_job.h"
#include "cli/load_progress.h"
#include "load/plan/dataset.h"
#include "net/http_client.h"
#include "text/text_style.h"

namespace tacho {

// Everything that one call of the command works with.
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

// Fills what the job leaves open: reads the dataset (a mistake in it is told before anyone is asked
// for anything), asks the first server for its model and its token ids, the others whether they
// serve that model, has texts counted by its tokenizer. What the user should know goes to the job's
// remarks. kUsage, kUnreadable, kRemote.
Result<void> PrepareScene(LoadScene& scene);

}  // namespace tacho
