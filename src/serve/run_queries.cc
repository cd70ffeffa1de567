#include "serve/run_queries.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "export/kineto_json.h"
#include "serve/place_json.h"
#include "serve/rank_queries.h"
#include "text/format_number.h"
#include "view/layer_flame.h"
#include "view/navigate.h"
#include "view/window_gaps.h"
#include "view/window_summary.h"

namespace tacho {
namespace {

constexpr int64_t kMostSearchNames = 1000;
constexpr size_t kMostSearchText = 1000;
constexpr int64_t kMostGapsAsked = 100;

HttpAnswer JsonAnswer(JsonWriter json) {
  json.End();
  return {.body = std::move(json).Finish()};
}

// The rank in the parameter `rank`, if there is one.
Result<std::optional<uint32_t>> OptionalRank(const ReadRanks& ranks, const Parameters& query) {
  if (!query.Text("rank")) return std::nullopt;
  TACHO_ASSIGN_OR_RETURN(const size_t rank, query.Index("rank", ranks.size()));
  return static_cast<uint32_t>(rank);
}

Result<std::string> SearchText(const Parameters& query) {
  const auto text = query.Text("q");
  if (!text || text->empty() || text->size() > kMostSearchText)
    return Fail(ErrorKind::kUsage, "q= is a text to look for, of at most 1000 bytes");
  return *text;
}

Result<Selection> SelectionOf(const ReadRanks& ranks, const Parameters& query) {
  Selection selection;
  TACHO_ASSIGN_OR_RETURN(selection.window, query.Window());
  TACHO_ASSIGN_OR_RETURN(selection.rank, OptionalRank(ranks, query));
  if (!query.Text("rows")) return selection;
  if (!selection.rank || !ranks[*selection.rank])
    return Fail(ErrorKind::kUsage, "rows= are those of a rank that is read: give rank=, too");
  const size_t count = ranks[*selection.rank]->rows().size();
  TACHO_ASSIGN_OR_RETURN(const auto rows, query.Indexes("rows", count, count));
  for (const size_t row : *rows) selection.rows.push_back(static_cast<uint32_t>(row));
  return selection;
}

// Parses "3,0,1": the rank, row and lane of the hit from which to continue.
Result<std::optional<SlicePlace>> AfterOf(const Parameters& query) {
  constexpr size_t kAny = std::numeric_limits<uint32_t>::max();
  TACHO_ASSIGN_OR_RETURN(const auto after, query.Indexes("after", kAny, 3));
  if (!after) return std::nullopt;
  if (after->size() != 3) return Fail(ErrorKind::kUsage, "after= is like 0,7,1: rank, row, lane");
  std::array<uint32_t, 3> part{};
  for (size_t i = 0; i < 3; ++i) part[i] = static_cast<uint32_t>((*after)[i]);
  return SlicePlace{part[0], part[1], part[2], 0};
}

using Found = Result<std::optional<PlacedSlice>>;

// Where a query for the next item starts to search, and in which direction.
struct NextFrom {
  TimeNs from;
  bool forward = true;
  std::optional<uint32_t> rank = {};
};

Found NextOfRow(const ReadRanks& ranks, const Parameters& query, const NextFrom& next) {
  if (!next.rank || !ranks[*next.rank])
    return Fail(ErrorKind::kUsage, "rank= is the number of a rank that is read");
  TACHO_ASSIGN_OR_RETURN(const size_t row, query.Index("row", ranks[*next.rank]->rows().size()));
  std::optional<uint32_t> lane;
  if (query.Text("lane")) {
    TACHO_ASSIGN_OR_RETURN(const size_t number,
                           query.Index("lane", ranks[*next.rank]->rows()[row].lanes.size()));
    lane = static_cast<uint32_t>(number);
  }
  return NextSlice(ranks, *next.rank, static_cast<uint32_t>(row), next.from, next.forward, lane);
}

Found NextOfSearch(const ReadRanks& ranks, const Parameters& query, const NextFrom& next) {
  TACHO_ASSIGN_OR_RETURN(const std::string text, SearchText(query));
  TACHO_ASSIGN_OR_RETURN(const auto after, AfterOf(query));
  return NextHit(ranks, text, next.from, next.forward, next.rank, after);
}

Found NextOfKind(const ReadRanks& ranks, const Parameters& query) {
  const std::string what = query.Text("what").value_or("");
  NextFrom next;
  TACHO_ASSIGN_OR_RETURN(next.rank, OptionalRank(ranks, query));
  if ((what == "gap" || what == "step") && query.Text("nth")) {
    TACHO_ASSIGN_OR_RETURN(const int64_t nth,
                           query.Number("nth", 1, std::numeric_limits<int64_t>::max()));
    const auto number = static_cast<size_t>(nth);
    if (what == "step") return StepByNumber(ranks, number, next.rank);
    const std::vector<RunGap> gaps = LongestRunGaps(ranks, next.rank);
    if (number > gaps.size()) return std::nullopt;
    return PlaceOfGap(ranks, gaps[number - 1]);
  }
  TACHO_ASSIGN_OR_RETURN(const int64_t from, query.Number("from", -kMostApiTime, kMostApiTime));
  TACHO_ASSIGN_OR_RETURN(const int64_t forward, query.Number("forward", 0, 1, 1));
  next.from = TimeNs{from};
  next.forward = forward == 1;
  if (what == "step") return NextStep(ranks, next.from, next.forward, next.rank);
  if (what == "slice") return NextOfRow(ranks, query, next);
  if (what == "search") return NextOfSearch(ranks, query, next);
  if (what != "gap") return Fail(ErrorKind::kUsage, "what= is step, gap, slice or search");
  const auto gap = NextGap(ranks, next.from, next.forward, next.rank);
  if (!gap) return std::nullopt;
  return PlaceOfGap(ranks, *gap);
}

}  // namespace

Result<HttpAnswer> AnswerSelection(const ServedRun& run, const Parameters& query) {
  const ReadRanks ranks = run.view().ranks();
  TACHO_ASSIGN_OR_RETURN(const Selection selection, SelectionOf(ranks, query));
  const WindowSummary summary = SummarizeWindow(ranks, selection);
  JsonWriter json;
  json.BeginObject();
  json.Fields("from_ns", selection.window.start, "to_ns", selection.window.end);
  json.Rows("names", summary.names, [&](const WindowName& name) {
    json.Fields("name", BoundedName(name.name), "short_name", BoundedName(name.short_name), "kind",
                DrawnKindName(name.kind), "palette", PaletteKey(name.palette), "color",
                static_cast<int>(name.color), "count", name.count, "total_ns", name.total,
                "longest_ns", name.longest.when.length());
    WriteAt(json, "longest_at", name.longest);
  });
  json.Rows("others", summary.others, [&](const WindowOthers& others) {
    json.Fields("palette", PaletteKey(others.palette), "names", others.names, "count", others.count,
                "total_ns", others.total, "longest_ns", others.longest);
  });
  json.Rows("colors", summary.colors, [&](const WindowColor& color) {
    json.Fields("palette", PaletteKey(color.palette), "color", static_cast<int>(color.color),
                "total_ns", color.total);
  });
  json.Field("steps", summary.steps);
  json.Rows("idle", summary.idle, [&](const WindowIdle& idle) {
    json.Fields("rank", idle.rank, "device", idle.device, "cause", idle.cause, "total_ns",
                idle.total, "count", idle.count);
  });
  return JsonAnswer(std::move(json));
}

Result<HttpAnswer> AnswerGaps(const ServedRun& run, const Parameters& query) {
  const ReadRanks ranks = run.view().ranks();
  TACHO_ASSIGN_OR_RETURN(const Interval window, query.Window());
  TACHO_ASSIGN_OR_RETURN(const auto rank, OptionalRank(ranks, query));
  TACHO_ASSIGN_OR_RETURN(const int64_t most, query.Number("most", 0, kMostGapsAsked, 20));
  const WindowGaps gaps = LongestGapsIn(ranks, window, static_cast<size_t>(most), rank);
  JsonWriter json;
  json.BeginObject();
  json.Field("count", gaps.count);
  json.Rows("gaps", gaps.longest, [&](const WindowGap& gap) {
    json.Fields("rank", gap.rank, "device", gap.device, "from_ns", gap.when.start, "to_ns",
                gap.when.end, "cause", IdleCauseId(gap.cause), "inside_ns", gap.inside);
  });
  return JsonAnswer(std::move(json));
}

Result<HttpAnswer> AnswerFlame(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto rank, RankOf(run, query));
  TACHO_ASSIGN_OR_RETURN(const size_t row, query.Index("row", rank->rows().size()));
  TACHO_ASSIGN_OR_RETURN(const Interval window, query.Window(rank->span()));
  TACHO_ASSIGN_OR_RETURN(const int64_t least, query.Number("least", 0, kMostApiTime, 0));
  const TimelineRow& of = rank->rows()[row];
  const std::vector<FlameNode> nodes =
      of.kind == RowKind::kBlock
          ? LayerFlame(rank->view(), of, rank->ToTrace(window), DurationNs{least})
          : FlameGraph(of.lanes, rank->ToTrace(window), DurationNs{least});
  if (nodes.empty())
    return Fail(ErrorKind::kUsage,
                fmt::format("more than {} slices: select less", FormatCount(kMostFlameSlices)));
  JsonWriter json;
  json.BeginObject();
  json.BeginArray("nodes");
  for (const FlameNode& node : nodes) {
    json.BeginList();
    json.Field({}, BoundedName(node.name));
    json.Field({}, static_cast<int>(node.color));
    json.Field({}, node.parent);
    json.Field({}, node.count);
    json.Field({}, node.total);
    json.Field({}, node.self);
    json.End();
  }
  json.End();
  return JsonAnswer(std::move(json));
}

Result<HttpAnswer> AnswerSearch(const ServedRun& run, const Parameters& query) {
  const ReadRanks ranks = run.view().ranks();
  TACHO_ASSIGN_OR_RETURN(const auto rank, OptionalRank(ranks, query));
  TACHO_ASSIGN_OR_RETURN(const std::string text, SearchText(query));
  TACHO_ASSIGN_OR_RETURN(const int64_t most, query.Number("most", 0, kMostSearchNames, 100));
  const RunSearch found = SearchRun(ranks, text, static_cast<size_t>(most), rank);
  JsonWriter json;
  json.BeginObject();
  json.Field("total", found.total);
  json.Rows("names", found.names, [&](const RunHits& hits) {
    json.Fields("name", BoundedName(hits.name), "count", hits.count);
    WriteAt(json, "at", hits.first);
  });
  return JsonAnswer(std::move(json));
}

Result<HttpAnswer> AnswerNext(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto found, NextOfKind(run.view().ranks(), query));
  if (!found) return HttpAnswer{.body = "null"};
  JsonWriter json;
  json.BeginObject();
  WriteAtFields(json, *found);
  json.Field("name", BoundedName(found->name));
  return JsonAnswer(std::move(json));
}

Result<HttpAnswer> AnswerExport(const ServedRun& run, const Parameters& query) {
  const ReadRanks ranks = run.view().ranks();
  TACHO_ASSIGN_OR_RETURN(const Selection selection, SelectionOf(ranks, query));
  TACHO_ASSIGN_OR_RETURN(std::string json, ExportWindow(ranks, selection));
  return HttpAnswer{
      .body = std::move(json),
      .headers = {{"Content-Disposition", "attachment; filename=\"tacho-selection.json\""}}};
}

}  // namespace tacho
