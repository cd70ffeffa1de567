#include <algorithm>
#include <array>
#include <utility>

#include "analysis/host_nesting.h"

namespace tacho {
namespace {

// What decides where a slice stands in the tree: 24 bytes, as all of them are sorted and merged.
struct Place {
  TimeNs start;
  TimeNs end;
  uint32_t row;
  SliceKind kind;
};

// Outer slices come first. Equal intervals keep the order in which they were added.
bool Before(const Place& a, const Place& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

struct Source {
  SliceKind kind;
  const SliceTable* table;
  std::vector<uint8_t> out = {};  // by row: 1 stays out; empty: none does
};

// The places of all slices, track by track in tree order.
struct SortedPlaces {
  std::vector<Place> places;
  std::vector<uint32_t> begin;  // by TrackId, and one more at the end
};

SortedPlaces SortByTrack(const Trace& trace, const std::vector<Source>& sources) {
  const auto stays_out = [](const Source& source, size_t row) {
    return !source.out.empty() && source.out[row] != 0;
  };
  SortedPlaces sorted;
  sorted.begin.assign(trace.words.tracks().size() + 1, 0);
  for (const Source& source : sources) {
    for (size_t row = 0; row < source.table->size(); ++row) {
      if (!stays_out(source, row)) ++sorted.begin[Index(source.table->track[row]) + 1];
    }
  }
  for (size_t i = 1; i < sorted.begin.size(); ++i) sorted.begin[i] += sorted.begin[i - 1];
  sorted.places.resize(sorted.begin.back());

  // Each table is one run on each track, nearly always sorted already: runs are merged, not sorted.
  std::vector<uint32_t> filled(sorted.begin.begin(), sorted.begin.end() - 1);
  for (const Source& source : sources) {
    const std::vector<uint32_t> before = filled;
    for (size_t row = 0; row < source.table->size(); ++row) {
      if (stays_out(source, row)) continue;
      const Interval when = source.table->When(row);
      sorted.places[filled[Index(source.table->track[row])]++] = {
          when.start, when.end, static_cast<uint32_t>(row), source.kind};
    }
    for (size_t track = 0; track < filled.size(); ++track) {
      const auto first = sorted.places.begin() + sorted.begin[track];
      const auto middle = sorted.places.begin() + before[track];
      const auto last = sorted.places.begin() + filled[track];
      if (!std::is_sorted(middle, last, Before)) std::stable_sort(middle, last, Before);
      if (first != middle && middle != last && Before(*middle, *(middle - 1))) {
        std::inplace_merge(first, middle, last, Before);
      }
    }
  }
  return sorted;
}

}  // namespace

HostTree NestHostSlices(const Trace& trace, const NestOptions& options) {
  // The file's order among the tables is not kept; equal intervals nest as programs do: a frame
  // holds annotations, these hold operators, and those hold calls.
  std::vector<Source> sources{{SliceKind::kAnnotation, &trace.annotations},
                              {SliceKind::kHostOp, &trace.host_ops},
                              {SliceKind::kHostCall, &trace.host_calls}};
  if (options.python_frames) {
    sources.insert(sources.begin(), {SliceKind::kPythonFrame, &trace.python_frames});
  }
  std::array<const SliceTable*, static_cast<size_t>(SliceKind::kOther) + 1> table_of{};
  for (Source& source : sources) {
    table_of[static_cast<size_t>(source.kind)] = source.table;
    if (!options.leave_out) continue;
    source.out.resize(source.table->size());
    for (uint32_t row = 0; row < source.out.size(); ++row) {
      source.out[row] = options.leave_out(source.kind, *source.table, row) ? 1 : 0;
    }
  }
  SortedPlaces sorted = SortByTrack(trace, sources);

  HostTree tree;
  tree.nodes.reserve(sorted.places.size());
  std::vector<int32_t> open;
  for (size_t track = 0; track + 1 < sorted.begin.size(); ++track) {
    open.clear();
    for (uint32_t i = sorted.begin[track]; i < sorted.begin[track + 1]; ++i) {
      const Place& place = sorted.places[i];
      const auto ended = [&](int32_t node) {
        const Interval& outer = tree.nodes[static_cast<size_t>(node)].when;
        return place.start >= outer.end || place.end > outer.end;
      };
      while (!open.empty() && ended(open.back())) open.pop_back();
      tree.nodes.push_back({.when = {place.start, place.end},
                            .name = table_of[static_cast<size_t>(place.kind)]->name[place.row],
                            .track = static_cast<TrackId>(track),
                            .kind = place.kind,
                            .row = place.row,
                            .parent = open.empty() ? -1 : open.back()});
      open.push_back(static_cast<int32_t>(i));
    }
  }
  tree.track_begin = std::move(sorted.begin);
  return tree;
}

HostTree BuildHostTree(const Trace& trace) { return NestHostSlices(trace, {}); }

}  // namespace tacho
