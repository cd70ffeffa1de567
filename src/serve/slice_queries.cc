#include "serve/slice_queries.h"

#include <limits>
#include <optional>
#include <utility>

#include "serve/place_json.h"
#include "serve/rank_queries.h"
#include "view/slice_detail.h"

namespace tacho {
namespace {

constexpr size_t kMostWholeName = 64u << 10;
constexpr int64_t kMostNumber = std::numeric_limits<uint32_t>::max();

tl::unexpected<Error> NoSlice() { return Fail(ErrorKind::kUnreadable, "there is no such slice"); }

// The rank and the row that a query names; the rest of the place is not set yet.
Result<SlicePlace> PlaceOfRow(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto rank, RankOf(run, query));
  TACHO_ASSIGN_OR_RETURN(const size_t number, query.Index("rank", run.view().ranks().size()));
  TACHO_ASSIGN_OR_RETURN(const size_t row, query.Index("row", rank->rows().size()));
  return SlicePlace{static_cast<uint32_t>(number), static_cast<uint32_t>(row), 0, 0};
}

void WriteCollective(JsonWriter& json, const CollectiveDetail& collective) {
  json.BeginRow("collective");
  json.Fields("ranks", collective.ranks, "last_start_rank", collective.last, "wait_ns",
              collective.wait);
  json.Rows("at", collective.at, [&](const PlacedSlice& other) { WriteAtFields(json, other); });
  json.End();
}

std::string DetailJson(const SliceDetail& detail,
                       const std::optional<CollectiveDetail>& collective) {
  JsonWriter json;
  json.BeginObject();
  WriteAtFields(json, detail.slice);
  json.Fields("kind", DrawnKindName(detail.kind), "category", UnlessEmpty(detail.category), "name",
              detail.name.substr(0, kMostWholeName), "short_name", BoundedName(detail.slice.name),
              "annotation", UnlessEmpty(detail.annotation), "self_ns", detail.self);
  json.Rows("args", detail.arguments, [&](const SliceArgument& argument) {
    json.Fields("key", argument.key, "value", argument.value);
    if (argument.cut) json.Field("cut", true);
  });
  if (detail.arguments_cut) json.Field("cut", true);
  json.Rows("stack", detail.stack, [&](const PlacedSlice& around) { WriteNamedAt(json, around); });
  if (detail.launch) {
    json.BeginRow("launch");
    WriteNamedAt(json, detail.launch->call);
    json.Field("delay_ns", detail.launch->delay);
    json.End();
  }
  if (detail.launched_count > 0) {
    json.Rows("launched", detail.launched,
              [&](const PlacedSlice& work) { WriteNamedAt(json, work); });
    json.Field("launched_count", detail.launched_count);
  }
  if (collective) WriteCollective(json, *collective);
  if (detail.block) {
    json.BeginRow("in_block");
    WriteNamedAt(json, detail.block->slice);
    json.Field("layer", detail.block->layer);
    json.End();
  }
  if (const auto& of = detail.layers) {
    json.BeginRow("layers");
    json.Fields("layer", of->layer, "layer_kind", UnlessEmpty(of->kind));
    if (of->block) json.Field("block", LayerBlockId(*of->block));
    json.Fields("count", of->count, "device_ns", of->device, "gap_ns", of->gap, "phase",
                PhaseName(of->phase), "steps", of->steps, "mean_device_ns", of->mean_device,
                "mean_gap_ns", of->mean_gap);
    json.End();
  }
  if (detail.step) {
    json.BeginRow("step");
    json.Fields("number", detail.step->number, "phase", PhaseName(detail.step->phase));
    WriteAt(json, "at", detail.step->slice);
    json.End();
  }
  json.End();
  return std::move(json).Finish();
}

Result<HttpAnswer> AnswerDetail(const ServedRun& run, SlicePlace at) {
  const ReadRanks ranks = run.view().ranks();
  const auto detail = DetailOf(ranks, at);
  if (!detail) return NoSlice();
  std::optional<CollectiveDetail> collective;
  if (const auto collectives = run.view().collectives())
    collective = CollectiveOf(ranks, *collectives, at);
  return HttpAnswer{.body = DetailJson(*detail, collective)};
}

}  // namespace

Result<HttpAnswer> AnswerSlice(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(SlicePlace at, PlaceOfRow(run, query));
  TACHO_ASSIGN_OR_RETURN(const int64_t lane, query.Number("lane", 0, kMostNumber));
  TACHO_ASSIGN_OR_RETURN(const int64_t place, query.Number("place", 0, kMostNumber));
  at.lane = static_cast<uint32_t>(lane);
  at.place = static_cast<uint32_t>(place);
  return AnswerDetail(run, at);
}

Result<HttpAnswer> AnswerAt(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const SlicePlace at, PlaceOfRow(run, query));
  TACHO_ASSIGN_OR_RETURN(const int64_t t, query.Number("t", -kMostApiTime, kMostApiTime));
  std::optional<uint32_t> lane;
  if (query.Text("lane")) {
    TACHO_ASSIGN_OR_RETURN(const int64_t number, query.Number("lane", 0, kMostNumber));
    lane = static_cast<uint32_t>(number);
  }
  const auto near = SliceNear(run.view().ranks(), at.rank, at.row, TimeNs{t}, lane);
  if (!near) return NoSlice();
  return AnswerDetail(run, near->at);
}

}  // namespace tacho
