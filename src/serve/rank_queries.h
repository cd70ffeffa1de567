#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "serve/http_answer.h"
#include "serve/parameters.h"
#include "serve/served_run.h"

namespace tacho {

// The rank with the number in the parameter `rank`. kUsage: no rank has that number; kUnreadable:
// that rank is not read.
Result<std::shared_ptr<const ViewedRank>> RankOf(const ServedRun& run, const Parameters& query);

// Answers to the queries of API.md that draw one rank. kUsage: a bad parameter; kUnreadable: the
// rank is not read.
//
// One request may name only a limited number of lanes. For a row with more lanes,
// `lanes=FIRST-LAST` chooses some of them.
Result<HttpAnswer> AnswerTiles(const ServedRun& run, const Parameters& query);
Result<HttpAnswer> AnswerNames(const ServedRun& run, const Parameters& query);

}  // namespace tacho
