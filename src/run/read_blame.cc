#include "run/read_blame.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace tacho {
namespace {

constexpr size_t kClasses = static_cast<size_t>(SkewClass::kCount);
constexpr size_t kOps = static_cast<size_t>(CollectiveOp::kOther);

// The reverse of SkewCause::Id. If the id is from a later version of tacho, the cause is unknown.
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
                 : id == "launch-pace" ? Kind::kPace
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
  // A rank stands out only if a cause for that can be shown.
  const auto is_lateness = [](const SkewCause& cause) {
    return cause.kind != SkewCause::Kind::kPace && cause.time.ns > 0;
  };
  for (const SkewCause& cause : row.caused_by) {
    if (cause.kind == SkewCause::Kind::kPace) row.paced += cause.time;
  }
  row.stands_out =
      row.stands_out && row.caused_late().ns > 0 && std::ranges::any_of(row.caused_by, is_lateness);
}

GroupKind GroupKindOf(std::string_view id) {
  for (const GroupKind each :
       {GroupKind::kTensor, GroupKind::kExpert, GroupKind::kPipeline, GroupKind::kData}) {
    if (GroupKindId(each) == id) return each;
  }
  return GroupKind::kOther;
}

void ReadGroup(JsonReader& reader, RankBlame::Group& group) {
  std::string kind;
  reader.Fields("kind", UnlessIs(kind, ""), "name", UnlessIs(group.name, ""), "class",
                ByName(group.type, SkewClassId, kClasses), "collectives", group.collectives,
                "transfer_ns", group.transfer, "waiting_ns", group.waits);
  group.kind = GroupKindOf(kind);
  reader.List("rows", group.ranks);
}

void ReadSize(JsonReader& reader, CollectiveSize& size) {
  std::string group;
  reader.Fields("op", ByName(size.op, CollectiveOpId, kOps), "group", UnlessIs(group, ""), "ranks",
                size.ranks, "bytes", size.bytes, "count", size.count, "transfer_ns", size.transfer,
                "transfer_sum_ns", size.total);
  size.group = GroupKindOf(group);
  // Bandwidths are computed from these values.
  if (size.ranks < 2 || size.bytes <= 0 || size.transfer.ns <= 0)
    reader.Refuse("sizes", "collectives of two ranks or more with bytes and a transfer time");
}

void ReadExperts(JsonReader& reader, ExpertBalance& experts) {
  if (!reader.Has("experts")) return;
  reader.BeginObject("experts");
  if (!reader.Has("absent")) {
    reader.Fields("layers", experts.layers, "exchanged", experts.exchanged, "steps",
                  UnlessIs(experts.steps, size_t{0}), "slowest_ns", experts.slowest,
                  "above_mean_ns", experts.above_mean, "waiting_ns", experts.waits);
    reader.Rows("table", experts.table, [&](ExpertBalance::Row& row) {
      reader.Fields("row", row.rank, "layers", row.layers, "longest", row.longest, "others",
                    row.others, "gemms_ns", row.gemms, "longer_ns", Signed(row.longer), "caused_ns",
                    row.caused, "stands_out", row.stands_out);
    });
  }
  reader.End();
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
                 : absent == "on-cpu"         ? RankBlame::Absent::kOnHost
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
    if (reader.Has("sizes"))
      reader.Rows("sizes", blame.sizes, [&](CollectiveSize& size) { ReadSize(reader, size); });
    reader.Field("sizes_left_out", UnlessIs(blame.sizes_left_out, size_t{0}));
    ReadExperts(reader, blame.experts);
    const auto is_rank = [&](size_t rank) { return rank < rows; };
    if (!std::ranges::all_of(blame.table, is_rank, &RankBlame::Row::rank) ||
        !std::ranges::all_of(blame.experts.table, is_rank, &ExpertBalance::Row::rank) ||
        !std::ranges::all_of(blame.groups, [&](const RankBlame::Group& group) {
          return std::ranges::all_of(group.ranks, is_rank);
        }))
      reader.Refuse("table", "indexes into ranks.table");
  }
  reader.End();
  return blame;
}

}  // namespace tacho
