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

// The queries of API.md for drawing one rank. kUsage: a bad parameter; kUnreadable: the rank is not
// read.
//
// If a row has more lanes than a request may name, `lanes=FIRST-LAST` chooses some.
Result<HttpAnswer> AnswerTiles(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerNames(const ServedRun& run, const Parameters& query);

}  // namespace tacho
