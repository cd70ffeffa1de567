#include "serve/rank_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "serve/place_json.h"
#include "text/json_writer.h"
#include "view/tiles.h"

namespace tacho {
namespace {

// Limit for lanes times columns: at most 32 MB of tiles.
constexpr size_t kMostCells = size_t{1} << 20;

Result<std::vector<TileLane>> LanesOf(const ViewedRank& rank, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto rows, query.Indexes("rows", rank.rows().size(), kMostLanes));
  if (!rows) return Fail(ErrorKind::kUsage, "rows= is like 0,3-7: the rows to draw");
  std::vector<TileLane> lanes;
  for (const size_t row : *rows) {
    const std::vector<Lane>& of_row = rank.rows()[row].lanes;
    TACHO_ASSIGN_OR_RETURN(auto chosen, query.Indexes("lanes", of_row.size(), kMostLanes));
    if (!chosen) {
      chosen.emplace();
      const size_t most = rows->size() == 1 ? kMostLanes : of_row.size();
      for (size_t lane = 0; lane < std::min(of_row.size(), most); ++lane) chosen->push_back(lane);
    }
    for (const size_t lane : *chosen)
      lanes.push_back({static_cast<uint32_t>(row), static_cast<uint32_t>(lane), &of_row[lane]});
  }
  if (lanes.size() > kMostLanes)
    return Fail(ErrorKind::kUsage,
                fmt::format("these rows have {} lanes, a request may name {}: ask for "
                            "fewer rows",
                            lanes.size(), kMostLanes));
  return lanes;
}

}  // namespace

Result<std::shared_ptr<const ViewedRank>> RankOf(const ServedRun& run, const Parameters& query) {
  const ReadRanks ranks = run.view().ranks();
  TACHO_ASSIGN_OR_RETURN(const size_t rank, query.Index("rank", ranks.size()));
  if (ranks[rank]) return ranks[rank];
  return Fail(ErrorKind::kUnreadable, fmt::format("rank {} is not read, or cannot be", rank));
}

Result<HttpAnswer> AnswerTiles(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto rank, RankOf(run, query));
  TACHO_ASSIGN_OR_RETURN(const int64_t width, query.Number("width", 1, kMostApiTime));
  TACHO_ASSIGN_OR_RETURN(const int64_t from, query.Number("from", -kMostApiTime, kMostApiTime));
  TACHO_ASSIGN_OR_RETURN(const int64_t columns,
                         query.Number("columns", 1, static_cast<int64_t>(kMostColumns)));
  if (!std::has_single_bit(static_cast<uint64_t>(width)) || from % width != 0)
    return Fail(ErrorKind::kUsage, "width= is a power of two, and from= a multiple of it");
  TACHO_ASSIGN_OR_RETURN(const auto lanes, LanesOf(*rank, query));
  if (lanes.size() * static_cast<size_t>(columns) > kMostCells)
    return Fail(ErrorKind::kUsage,
                fmt::format("{} lanes of {} columns are more than {}: ask for fewer rows",
                            lanes.size(), columns, kMostCells));
  return HttpAnswer{.body = EncodeTiles(lanes, {rank->ToTrace(TimeNs{from}), DurationNs{width},
                                                static_cast<size_t>(columns)}),
                    .content_type = "application/octet-stream"};
}

Result<HttpAnswer> AnswerNames(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto rank, RankOf(run, query));
  const RankNames& names = rank->names();
  TACHO_ASSIGN_OR_RETURN(const int64_t first,
                         query.Number("from", 0, static_cast<int64_t>(names.size()), 0));
  JsonWriter json;
  json.BeginObject();
  json.Field("first", first);
  json.BeginArray("names");
  for (auto id = static_cast<size_t>(first); id < names.size(); ++id)
    json.Field({}, BoundedName(names[id]));
  json.End();
  json.End();
  return HttpAnswer{.body = std::move(json).Finish()};
}

}  // namespace tacho
