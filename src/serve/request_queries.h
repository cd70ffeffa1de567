#pragma once

#include "base/result.h"
#include "serve/http_answer.h"
#include "serve/parameters.h"
#include "serve/served_run.h"

namespace tacho {

// Answers to the queries of API.md about requests, for a run that was analysed with its requests.
// kUsage: a bad parameter; kUnreadable: what the query asks for is not known.

// One request's tokens, each with the step that made it. Cost: that of DetailOf.
Result<HttpAnswer> AnswerRequest(const ServedRun& run, const Parameters& query);
// The requests that were in one step of a rank.
Result<HttpAnswer> AnswerStepRequests(const ServedRun& run, const Parameters& query);

}  // namespace tacho
