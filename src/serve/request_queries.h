#pragma once

#include "base/result.h"
#include "serve/http_answer.h"
#include "serve/parameters.h"
#include "serve/served_run.h"

namespace tacho {

// The queries of API.md about requests, for a run that was analysed with its requests. kUsage: a
// bad parameter; kUnreadable: what is asked for is not known.

// The tokens of one request, with the step that made each. Cost: that of DetailOf.
Result<HttpAnswer> AnswerRequest(const ServedRun& run, const Parameters& query);
// The requests in one step of a rank.
Result<HttpAnswer> AnswerStepRequests(const ServedRun& run, const Parameters& query);

}  // namespace tacho
