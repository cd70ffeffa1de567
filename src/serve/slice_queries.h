#pragma once

#include "base/result.h"
#include "serve/http_answer.h"
#include "serve/parameters.h"
#include "serve/served_run.h"

namespace tacho {

// Answers to `slice` and `at` of API.md: everything about one slice. kUsage: a bad parameter;
// kUnreadable: there is no such slice, or its rank is not read.
Result<HttpAnswer> AnswerSlice(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerAt(const ServedRun& run, const Parameters& query);

}  // namespace tacho
