#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/facts.h"
#include "analysis/ranks/ranks.h"
#include "view/rank_rows.h"

namespace tacho {

// One trace with everything that the page shows of it. Does not change after ViewedRun published
// it.
//
// Times inside (rows, lanes, steps, gaps, the trace) are on the trace's clock; ToRun and ToTrace
// convert.
class ViewedRank {
 public:
  // `path`: the trace's path in results. `prepared`: made from the whole of `trace`. `classifier`
  // must outlive this object. `in_flight`: absent if it is unknown when requests were in flight.
  ViewedRank(std::string path, std::unique_ptr<const Trace> trace, const PreparedTrace& prepared,
             const Classifier& classifier, const std::optional<InFlight>& in_flight = {},
             size_t threads = 1);
  ViewedRank(const ViewedRank&) = delete;
  ViewedRank& operator=(const ViewedRank&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const TraceFacts& facts() const { return facts_; }
  [[nodiscard]] const RankRows& view() const { return rows_; }
  [[nodiscard]] const std::vector<TimelineRow>& rows() const { return rows_.rows(); }
  [[nodiscard]] const RankNames& names() const { return rows_.names(); }
  [[nodiscard]] const Classifier& classifier() const { return *classifier_; }
  [[nodiscard]] const Communication& communication() const { return communication_; }
  [[nodiscard]] size_t slices() const { return slices_; }

  // Run time = trace time + offset.
  [[nodiscard]] DurationNs offset() const { return offset_; }
  [[nodiscard]] TimeNs ToRun(TimeNs t) const { return {AddSaturated(t.ns, offset_.ns)}; }
  [[nodiscard]] TimeNs ToTrace(TimeNs t) const { return {AddSaturated(t.ns, -offset_.ns)}; }
  [[nodiscard]] Interval ToRun(Interval when) const { return {ToRun(when.start), ToRun(when.end)}; }
  [[nodiscard]] Interval ToTrace(Interval when) const {
    return {ToTrace(when.start), ToTrace(when.end)};
  }
  // From the first start to the last end of its slices, in run time; empty without slices. Covers
  // only the host's slices if device work lies far from them, because its times are impossible or
  // are on a clock of their own.
  [[nodiscard]] Interval span() const { return ToRun(span_); }

 private:
  friend class ViewedRun;  // sets the offset

  std::string path_;
  std::unique_ptr<const Trace> trace_;
  TraceFacts facts_;
  const Classifier* classifier_;
  Communication communication_;  // the data is shared with the trace's digest
  RankRows rows_;
  Interval span_;  // in trace time
  size_t slices_ = 0;
  DurationNs offset_;
};

}  // namespace tacho
