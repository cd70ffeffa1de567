#include "report/json/blame_json.h"

namespace tacho {
namespace {

std::string_view AbsentId(RankBlame::Absent absent) {
  switch (absent) {
    case RankBlame::Absent::kNo:
      return "";
    case RankBlame::Absent::kNoEvents:
      return "no-events";
    case RankBlame::Absent::kNoCollectives:
      return "no-collectives";
    case RankBlame::Absent::kNoMatch:
      return "no-match";
    case RankBlame::Absent::kClocks:
      return "clocks";
    case RankBlame::Absent::kOutside:
      return "outside";
  }
  return "";
}

}  // namespace

void WriteBlameJson(JsonWriter& json, const RankTable& ranks) {
  const RankBlame& blame = ranks.blame;
  if (blame.absent != RankBlame::Absent::kNo) {
    json.Row("blame", "absent", AbsentId(blame.absent));
    return;
  }
  json.BeginObject("blame");
  json.Fields("method", "shortest-part", "class", SkewClassId(blame.type), "transfer_ns",
              blame.transfer, "waiting_ns", blame.waits, "collectives", blame.collectives,
              "matched_share", blame.matched_share, "residual_ns", blame.residual);
  json.BeginRow("collectives_of_class");
  for (size_t i = 0; i < blame.of_class.size(); ++i)
    json.Field(SkewClassId(static_cast<SkewClass>(i)), blame.of_class[i]);
  json.End();
  json.Rows("table", blame.table, [&](const RankBlame::Row& row) {
    const RankRow& rank = ranks.rows[row.rank];
    json.Fields("rank", rank.rank, "path", rank.path, "row", row.rank, "collectives",
                row.collectives, "last", row.last, "transfer_ns", row.transfer, "suffered_ns",
                row.suffered, "caused_ns", row.caused, "late_ns", row.late, "stands_out",
                row.stands_out);
    json.Rows("caused_by", row.caused_by,
              [&](const SkewCause& cause) { json.Fields("id", cause.Id(), "ns", cause.time); });
  });
  json.Rows("groups", blame.groups, [&](const RankBlame::Group& group) {
    json.Fields("kind", UnlessEmpty(GroupKindId(group.kind)), "name", UnlessEmpty(group.name),
                "class", SkewClassId(group.type), "collectives", group.collectives, "transfer_ns",
                group.transfer, "waiting_ns", group.waits);
    json.List("rows", group.ranks);
  });
  json.End();
}

}  // namespace tacho
