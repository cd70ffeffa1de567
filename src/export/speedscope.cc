#include "export/speedscope.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json_text.h"
#include "export/nested_row.h"
#include "export/pieces.h"

namespace tacho {
namespace {

// The names of frames in all profiles. They are written after the profiles.
class Frames {
 public:
  uint32_t IdOf(std::string_view name) {
    const auto [frame, is_new] =
        ids_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
    if (is_new) names_.push_back(frame->first);
    return frame->second;
  }
  [[nodiscard]] const std::vector<std::string_view>& names() const { return names_; }

 private:
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<std::string_view> names_;  // views of the keys of ids_
};

class Profiles {
 public:
  explicit Profiles(Pieces& out) : out_(out) {}

  void Write(const ExportedRank& exported) {
    const PartCut cut(exported);
    for (const TimelineRow& row : exported.rank->rows()) {
      if (row.kind != RowKind::kThread && row.kind != RowKind::kStream) continue;
      if (out_.can_write()) WriteRow(exported, cut, row);
    }
  }
  [[nodiscard]] const Frames& frames() const { return frames_; }

 private:
  struct Profile {
    std::string events = {};  // text of its events; unused for the first track
    TimeNs first{}, last{};
    bool empty = true;
  };

  void WriteRow(const ExportedRank& exported, const PartCut& cut, const TimelineRow& row) {
    std::vector<Profile> profiles;  // by track; events of the first track are written at once
    const std::string name = fmt::format("{} {} {}", exported.label, row.owner, row.label);
    const auto event = [&](size_t track, char type, TimeNs t, const RowSlice& slice) {
      if (track == profiles.size()) profiles.emplace_back();
      Profile& profile = profiles[track];
      t = exported.rank->ToRun(t);
      if (profile.empty) {
        profile.first = t;
        if (track == 0) out_.text() += Begin(name, t);
      }
      fmt::format_to(std::back_inserter(track == 0 ? out_.text() : profile.events),
                     R"({}{{"type":"{}","frame":{},"at":{}}})", profile.empty ? "" : ",", type,
                     frames_.IdOf(row.lanes[slice.lane].NameText(slice.place)), t.ns);
      profile.empty = false;
      profile.last = t;
      out_.Pass();
    };
    NestedTracks nested(
        [&](size_t track, const RowSlice& slice) { event(track, 'O', slice.when.start, slice); },
        [&](size_t track, const RowSlice& slice) { event(track, 'C', slice.when.end, slice); });
    ForEachSliceOf(row, exported.window, [&](RowSlice slice) {
      slice.when = cut.Of(row.lanes[slice.lane][slice.place], slice.when);
      if (out_.can_write()) nested.Add(slice);
    });
    nested.CloseAll();
    for (size_t i = 0; i < profiles.size() && out_.can_write(); ++i) {
      if (i > 0)
        out_.text() +=
            Begin(fmt::format("{} ({})", name, i + 1), profiles[i].first) + profiles[i].events;
      out_.text() += fmt::format("],\"endValue\":{}}}", profiles[i].last.ns);
      out_.Pass();
    }
  }

  std::string Begin(const std::string& name, TimeNs first) {
    return fmt::format(
        "{}\n{{\"type\":\"evented\",\"name\":{},\"unit\":\"nanoseconds\",\"startValue\":{},"
        "\"events\":[",
        std::exchange(is_first_, false) ? "" : ",", QuoteJson(name), first.ns);
  }

  Pieces& out_;
  Frames frames_;
  bool is_first_ = true;
};

}  // namespace

bool WriteSpeedscope(std::span<const ExportedRank> ranks, ByteSink& to) {
  Pieces out(to);
  out.text() = std::string(kSpeedscopeBegin) + ",\n\"profiles\":[";
  Profiles profiles(out);
  for (const ExportedRank& exported : ranks) profiles.Write(exported);
  out.text() += "\n],\n\"shared\":{\"frames\":[";
  std::string_view separator = "\n";
  for (const std::string_view name : profiles.frames().names()) {
    out.text() += fmt::format("{}{{\"name\":{}}}", separator, QuoteJson(name));
    separator = ",\n";
    out.Pass();
  }
  out.text() += "\n]}}\n";
  return out.Finish();
}

}  // namespace tacho
