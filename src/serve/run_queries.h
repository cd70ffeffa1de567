#pragma once

#include "base/result.h"
#include "serve/http_answer.h"
#include "serve/parameters.h"
#include "serve/served_run.h"

namespace tacho {

// The queries of API.md over all ranks that are read, or over the one of `rank=`. kUsage: a bad
// parameter; kUnreadable: what is asked for does not exist.
Result<HttpAnswer> AnswerSelection(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerGaps(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerFlame(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerSearch(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerExport(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerNext(const ServedRun& run, const Parameters& query);

}  // namespace tacho
