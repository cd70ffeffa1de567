#include "run/read_blame.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace tacho {
namespace {

constexpr size_t kClasses = static_cast<size_t>(SkewClass::kCount);

// The reverse of SkewCause::Id. An id of a later version is unknown.
void SetId(const std::string& id, SkewCause& cause) {
  constexpr std::string_view kIdle = "idle.", kCompute = "compute.";
  using Kind = SkewCause::Kind;
  if (id.starts_with(kIdle)) {
    cause.kind = Kind::kIdle;
    for (size_t i = 0; i < static_cast<size_t>(IdleCause::kCount); ++i) {
      if (IdleCauseId(static_cast<IdleCause>(i)) == id.substr(kIdle.size()))
        cause.idle = static_cast<IdleCause>(i);
    }
  } else if (id.starts_with(kCompute)) {
    cause.kind = Kind::kCompute;
    cause.category = id.substr(kCompute.size());
  } else {
    cause.kind = id == "copies"        ? Kind::kCopies
                 : id == "collectives" ? Kind::kCollectives
                 : id == "too-short"   ? Kind::kTooShort
                                       : Kind::kUnknown;
  }
}

void ReadRow(JsonReader& reader, RankBlame::Row& row) {
  reader.Fields("row", row.rank, "collectives", row.collectives, "last", row.last, "transfer_ns",
                row.transfer, "suffered_ns", row.suffered, "caused_ns", row.caused, "late_ns",
                Signed(row.late), "stands_out", row.stands_out);
  reader.Rows("caused_by", row.caused_by, [&](SkewCause& cause) {
    std::string id;
    reader.Fields("id", id, "ns", cause.time);
    SetId(id, cause);
  });
  // What a rank stands out by is shown.
  row.stands_out = row.stands_out && row.caused.ns > 0 && !row.caused_by.empty() &&
                   row.caused_by.front().time.ns > 0;
}

void ReadGroup(JsonReader& reader, RankBlame::Group& group) {
  std::string kind;
  reader.Fields("kind", UnlessIs(kind, ""), "name", UnlessIs(group.name, ""), "class",
                ByName(group.type, SkewClassId, kClasses), "collectives", group.collectives,
                "transfer_ns", group.transfer, "waiting_ns", group.waits);
  for (const GroupKind each :
       {GroupKind::kTensor, GroupKind::kExpert, GroupKind::kPipeline, GroupKind::kData}) {
    if (GroupKindId(each) == kind) group.kind = each;
  }
  reader.List("rows", group.ranks);
}

}  // namespace

RankBlame ReadBlame(JsonReader& reader, size_t rows) {
  RankBlame blame;
  if (!reader.Has("blame")) return blame;
  reader.BeginObject("blame");
  std::string absent;
  reader.Field("absent", UnlessIs(absent, ""));
  blame.absent = absent.empty()               ? RankBlame::Absent::kNo
                 : absent == "no-collectives" ? RankBlame::Absent::kNoCollectives
                 : absent == "no-match"       ? RankBlame::Absent::kNoMatch
                 : absent == "clocks"         ? RankBlame::Absent::kClocks
                 : absent == "outside"        ? RankBlame::Absent::kOutside
                                              : RankBlame::Absent::kNoEvents;
  if (absent.empty()) {
    reader.Fields("class", ByName(blame.type, SkewClassId, kClasses), "transfer_ns", blame.transfer,
                  "waiting_ns", blame.waits, "collectives", blame.collectives, "matched_share",
                  blame.matched_share, "residual_ns", blame.residual);
    reader.BeginRow("collectives_of_class");
    for (size_t i = 0; i < kClasses; ++i)
      reader.Field(SkewClassId(static_cast<SkewClass>(i)), blame.of_class[i]);
    reader.End();
    reader.Rows("table", blame.table, [&](RankBlame::Row& row) { ReadRow(reader, row); });
    reader.Rows("groups", blame.groups, [&](RankBlame::Group& group) { ReadGroup(reader, group); });
    const auto is_rank = [&](size_t rank) { return rank < rows; };
    if (!std::ranges::all_of(blame.table, is_rank, &RankBlame::Row::rank) ||
        !std::ranges::all_of(blame.groups, [&](const RankBlame::Group& group) {
          return std::ranges::all_of(group.ranks, is_rank);
        }))
      reader.Refuse("table", "indexes into ranks.table");
  }
  reader.End();
  return blame;
}

}  // namespace tacho
