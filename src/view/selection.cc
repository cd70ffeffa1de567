#include "view/selection.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/words.h"

namespace tacho {
namespace {

// A value for each name of each table, made when the name is first met: one read of an array.
template <typename Value>
class OfEachName {
 public:
  // `make()` is asked once for a name.
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

// Whether names hold a text, in upper or lower case.
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
  std::map<std::pair<std::string_view, uint8_t>, size_t> numbers;
  OfEachName<size_t> number_of;
  ForEachIn(lanes, window, [&](size_t lane_number, size_t place) {
    const Lane& lane = *lanes[lane_number];
    const size_t number = number_of.At(lane, place, [&] {
      const std::pair key(lane.NameText(place), lane.ColorOf(place));
      const auto [at, added] = numbers.try_emplace(key, totals.size());
      if (added) totals.push_back({key.first, key.second, 0, {}, {}});
      return at->second;
    });
    const Interval when = lane.When(place);
    NameTotal& total = totals[number];
    ++total.count;
    total.total += when.Clip(window).length();
    total.longest = std::max(total.longest, when.length());
  });
  std::ranges::sort(totals, [](const NameTotal& a, const NameTotal& b) {
    return std::tie(b.total, a.name, a.color) < std::tie(a.total, b.name, b.color);
  });
  return totals;
}

namespace {

// Nodes of all slices of a window, whatever their size.
std::vector<FlameNode> AllNodes(std::span<const Lane> lanes, Interval window) {
  std::vector<FlameNode> nodes(1);
  std::map<std::tuple<uint32_t, std::string_view, uint8_t>, uint32_t> children;
  // Of the slices of each lane above: their places and their nodes.
  struct Above {
    const Lane* lane;
    Lane::Places places;
    std::vector<uint32_t> node;
    size_t next = 0;
  };
  std::vector<Above> above;
  for (const Lane& lane : lanes) {
    const Lane::Places places = lane.In(window);
    std::vector<uint32_t> of_lane;
    for (Above& upper : above) upper.next = upper.places.first;
    for (size_t place = places.first; place < places.last; ++place) {
      const Interval when = lane.When(place);
      uint32_t parent = 0;
      for (size_t i = above.size(); i-- > 0 && parent == 0;) {
        Above& upper = above[i];
        while (upper.next < upper.places.last &&
               PlaceEnd(upper.lane->When(upper.next)) <= when.start) {
          ++upper.next;
        }
        if (upper.next == upper.places.last) continue;
        const Interval around = upper.lane->When(upper.next);
        if (around.start <= when.start && when.start < around.end && when.end <= around.end) {
          parent = upper.node[upper.next - upper.places.first];
        }
      }
      const auto number = static_cast<uint32_t>(nodes.size());
      const auto [at, added] =
          children.try_emplace({parent, lane.NameText(place), lane.ColorOf(place)}, number);
      if (added) nodes.push_back({lane.NameText(place), lane.ColorOf(place), parent, 0, {}, {}});
      FlameNode& node = nodes[at->second];
      ++node.count;
      node.total += when.Clip(window).length();
      of_lane.push_back(at->second);
    }
    above.push_back({&lane, places, std::move(of_lane)});
  }
  return nodes;
}

}  // namespace

std::vector<FlameNode> FlameGraph(std::span<const Lane> lanes, Interval window, DurationNs least) {
  const std::vector<FlameNode> all = AllNodes(lanes, window);
  std::vector<FlameNode> kept(1);
  std::vector<uint32_t> number(all.size(), 0);  // in `kept`; 0: left out, with what is in it
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
  for (size_t i = 1; i < kept.size(); ++i) kept[kept[i].parent].self -= kept[i].total;
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
                                   TimeNs from, bool forward) {
  Holds holds(text);
  std::optional<FoundSlice> best;
  const auto start_of = [&](const FoundSlice& found) {
    return lanes[found.lane]->When(found.place).start;
  };
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = *lanes[i];
    // After `from`: from the first that starts later on; before it: from the last that does.
    size_t place = lane.FirstFrom(forward ? from + DurationNs{1} : from);
    const auto at_end = [&] { return forward ? place == lane.size() : place == 0; };
    for (; !at_end(); place += forward ? size_t{1} : size_t{0} - 1) {
      const FoundSlice found{i, forward ? place : place - 1};
      if (best &&
          (forward ? start_of(found) >= start_of(*best) : start_of(found) <= start_of(*best)))
        break;
      if (!holds(lane, found.place)) continue;
      best = found;
      break;
    }
  }
  return best;
}

}  // namespace tacho
