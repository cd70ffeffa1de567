#pragma once

#include "base/result.h"
#include "serve/http_answer.h"
#include "serve/parameters.h"
#include "serve/served_run.h"

namespace tacho {

// Answers to the queries of API.md that cover all ranks read so far, or only the rank in `rank=`.
// kUsage: a bad parameter; kUnreadable: what the query asks for does not exist.
Result<HttpAnswer> AnswerSelection(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerGaps(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerFlame(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerSearch(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerExport(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerNext(const ServedRun& run, const Parameters& query);

}  // namespace tacho
