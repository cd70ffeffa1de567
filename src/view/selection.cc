#include "view/selection.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/words.h"
#include "model/track_index.h"

namespace tacho {
namespace {

// A value for each name of each table, made when the name is first looked up. A lookup costs one
// array read.
template <typename Value>
class OfEachName {
 public:
  // Calls `make()` once for each name.
  template <typename Make>
  Value& At(const Lane& lane, size_t place, Make make) {
    const DrawnTable& table = lane.TableOf(place);
    if (&table != table_) {
      table_ = &table;
      known_ = &tables_[&table];
      known_->resize(table.names->size());
    }
    std::optional<Value>& value = (*known_)[static_cast<size_t>(lane.Name(place))];
    if (!value) value = make();
    return *value;
  }

 private:
  std::unordered_map<const DrawnTable*, std::vector<std::optional<Value>>> tables_;
  const DrawnTable* table_ = nullptr;
  std::vector<std::optional<Value>>* known_ = nullptr;
};

// Whether a name contains a text, ignoring case.
class Holds {
 public:
  explicit Holds(std::string_view text) : text_(AsciiLowered(text)) {}
  bool operator()(const Lane& lane, size_t place) {
    return names_.At(lane, place, [&] {
      return !text_.empty() && AsciiLowered(lane.NameText(place)).find(text_) != std::string::npos;
    });
  }

 private:
  std::string text_;
  OfEachName<bool> names_;
};

template <typename Visit>
void ForEachIn(std::span<const Lane* const> lanes, Interval window, Visit visit) {
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const Lane::Places places = lanes[lane]->In(window);
    for (size_t place = places.first; place < places.last; ++place) visit(lane, place);
  }
}

}  // namespace

std::vector<NameTotal> TotalsByName(std::span<const Lane* const> lanes, Interval window) {
  std::vector<NameTotal> totals;
  std::map<std::tuple<std::string_view, uint8_t, uint32_t, size_t>, size_t> numbers;
  std::array<OfEachName<size_t>, kSliceKinds> number_of;  // by kind: a name's index in `totals`
  ForEachIn(lanes, window, [&](size_t lane_number, size_t place) {
    const Lane& lane = *lanes[lane_number];
    const size_t kind = lane.KindOf(place);
    const size_t number = number_of[kind].At(lane, place, [&] {
      const std::string_view name = lane.NameText(place);
      const uint8_t color = lane.ColorOf(place);
      const auto [at, added] =
          numbers.try_emplace({name, color, lane[place].table(), kind}, totals.size());
      if (added) totals.push_back({name, color, 0, {}, {-1}});
      return at->second;
    });
    const Interval when = lane.When(place);
    NameTotal& total = totals[number];
    ++total.count;
    total.total += when.Clip(window).length();
    if (when.length() <= total.longest) return;
    total.longest = when.length();
    total.lane = lane_number;
    total.place = place;
  });
  std::ranges::stable_sort(totals, [](const NameTotal& a, const NameTotal& b) {
    return std::tie(b.total, a.name, a.color) < std::tie(a.total, b.name, b.color);
  });
  return totals;
}

namespace {

// The nodes of all slices in a window, however short.
std::vector<FlameNode> AllNodes(std::span<const Lane> lanes, Interval window) {
  struct Slice {
    Interval when;
    size_t lane, place;
  };
  std::vector<Slice> slices;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const Lane::Places places = lanes[lane].In(window);
    for (size_t place = places.first; place < places.last; ++place) {
      slices.push_back({lanes[lane].When(place), lane, place});
    }
  }
  std::ranges::sort(slices, [](const Slice& a, const Slice& b) {
    return a.when == b.when ? a.lane < b.lane : IsOuter(a.when, b.when);
  });
  std::vector<FlameNode> nodes(1);
  std::map<std::tuple<uint32_t, std::string_view, uint8_t>, uint32_t> children;
  struct Open {
    TimeNs end;
    uint32_t node;
  };
  std::vector<Open> open;
  for (const Slice& slice : slices) {
    while (!open.empty() &&
           (slice.when.start >= open.back().end || slice.when.end > open.back().end)) {
      open.pop_back();
    }
    const uint32_t parent = open.empty() ? 0 : open.back().node;
    const std::string_view name = lanes[slice.lane].NameText(slice.place);
    const uint8_t color = lanes[slice.lane].ColorOf(slice.place);
    const auto number = static_cast<uint32_t>(nodes.size());
    const auto [at, added] = children.try_emplace({parent, name, color}, number);
    if (added) nodes.push_back({name, color, parent, 0, {}, {}});
    FlameNode& node = nodes[at->second];
    ++node.count;
    node.total += slice.when.Clip(window).length();
    open.push_back({slice.when.end, at->second});
  }
  return nodes;
}

}  // namespace

std::vector<FlameNode> FlameGraph(std::span<const Lane> lanes, Interval window, DurationNs least,
                                  size_t most) {
  size_t slices = 0;
  for (const Lane& lane : lanes) {
    const Lane::Places places = lane.In(window);
    slices += places.last - places.first;
  }
  if (slices > most) return {};
  return PrunedFlame(AllNodes(lanes, window), least);
}

std::vector<FlameNode> PrunedFlame(const std::vector<FlameNode>& all, DurationNs least) {
  std::vector<FlameNode> kept(1);
  std::vector<uint32_t> number(all.size(), 0);  // index in `kept`; 0: left out with its children
  for (size_t i = 1; i < all.size(); ++i) {
    const bool in_kept = all[i].parent == 0 || number[all[i].parent] != 0;
    const uint32_t parent = number[all[i].parent];
    if (all[i].parent == 0) kept[0].total += all[i].total;
    if (!in_kept || all[i].total < least) continue;
    number[i] = static_cast<uint32_t>(kept.size());
    kept.push_back(all[i]);
    kept.back().parent = parent;
  }
  for (FlameNode& node : kept) node.self = node.total;
  for (size_t i = 1; i < kept.size(); ++i) kept[kept[i].parent].self += -kept[i].total;
  for (FlameNode& node : kept) node.self = std::max(node.self, DurationNs{});
  return kept;
}

std::vector<NameHits> Search(std::span<const Lane* const> lanes, std::string_view text, size_t most,
                             uint64_t& total) {
  total = 0;
  Holds holds(text);
  std::map<std::string_view, NameHits> by_name;
  OfEachName<NameHits*> hits_of;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = *lanes[i];
    for (size_t place = 0; place < lane.size(); ++place) {
      if (!holds(lane, place)) continue;
      NameHits& hits = *hits_of.At(lane, place, [&] { return &by_name[lane.NameText(place)]; });
      ++total;
      const bool earlier =
          hits.count == 0 || lane.When(place).start < lanes[hits.lane]->When(hits.place).start;
      if (earlier) {
        hits.lane = i;
        hits.place = place;
      }
      ++hits.count;
    }
  }
  std::vector<NameHits> found;
  for (auto& [name, hits] : by_name) {
    hits.name = name;
    found.push_back(hits);
  }
  std::ranges::stable_sort(found, std::greater(), &NameHits::count);
  found.resize(std::min(found.size(), most));
  return found;
}

std::optional<FoundSlice> FindNext(std::span<const Lane* const> lanes, std::string_view text,
                                   SearchPlace from, bool forward) {
  Holds holds(text);
  std::optional<FoundSlice> best;
  const auto start_of = [&](const FoundSlice& found) {
    return lanes[found.lane]->When(found.place).start;
  };
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = *lanes[i];
    // Among slices that start at the same time as `from`, those in later lanes come after it.
    const bool with_equal = forward ? i <= from.lane : i < from.lane;
    size_t place = lane.FirstFrom(TimeNs{AddSaturated(from.at.ns, with_equal ? 1 : 0)});
    const auto at_end = [&] { return forward ? place == lane.size() : place == 0; };
    for (; !at_end(); place += forward ? size_t{1} : size_t{0} - 1) {
      const FoundSlice found{i, forward ? place : place - 1};
      // If starts are equal, a forward search takes the first lane, a backward search the last.
      if (best &&
          (forward ? start_of(found) >= start_of(*best) : start_of(found) < start_of(*best))) {
        break;
      }
      if (!holds(lane, found.place)) continue;
      best = found;
      break;
    }
  }
  return best;
}

}  // namespace tacho
