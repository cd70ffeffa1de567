#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "serve/http_answer.h"
#include "serve/parameters.h"
#include "serve/served_run.h"

namespace tacho {

// The rank that `rank=` names. kUsage: no rank has that number; kUnreadable: it is not read.
Result<std::shared_ptr<const ViewedRank>> RankOf(const ServedRun& run, const Parameters& query);

// The queries of API.md that draw one rank. kUsage: a bad parameter; kUnreadable: the rank is not
// read.
//
// Of a row with more lanes than a request may have, `lanes=FIRST-LAST` chooses which.
Result<HttpAnswer> AnswerTiles(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerNames(const ServedRun& run, const Parameters& query);

}  // namespace tacho
