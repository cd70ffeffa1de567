#include "view/viewed_rank.h"

#include <algorithm>
#include <utility>

#include "analysis/ranks/identity.h"

namespace tacho {
namespace {

Interval SpanOfHost(const Trace& trace) {
  Interval span;
  for (const SliceTable* table : {static_cast<const SliceTable*>(&trace.host_ops),
                                  static_cast<const SliceTable*>(&trace.host_calls),
                                  &trace.annotations, &trace.python_frames}) {
    for (size_t row = 0; row < table->size(); ++row) {
      const Interval when = table->When(row);
      span = span.empty()
                 ? when
                 : Interval{std::min(span.start, when.start), std::max(span.end, when.end)};
    }
  }
  return span;
}

Interval SpanShown(const PreparedTrace& prepared) {
  const Trace& trace = prepared.index.trace();
  if (prepared.integrity.common_clock()) return trace.span;
  const Interval host = SpanOfHost(trace);
  // If the whole span is more than `far` times as long as the host's span, only the host's is
  // shown: the device's work is then too far away to zoom to.
  const int64_t far = prepared.integrity.device_times() ? 10'000 : 100;
  const bool is_near = trace.span.length().ns / far <= host.length().ns;
  return host.empty() || is_near ? trace.span : host;
}

}  // namespace

ViewedRank::ViewedRank(std::string path, std::unique_ptr<const Trace> trace,
                       const PreparedTrace& prepared, const Classifier& classifier,
                       const std::optional<InFlight>& in_flight, size_t threads)
    : path_(std::move(path)),
      trace_(std::move(trace)),
      facts_(GatherFacts(*trace_, path_)),
      classifier_(&classifier),
      communication_(prepared.communication),
      rows_(prepared, classifier, in_flight ? &*in_flight : nullptr, threads, facts_.mixed_ranks),
      span_(SpanShown(prepared)) {
  facts_.stage = StageOf(path_, rows_.step_table());
  facts_.identity = IdentityOf(path_, facts_);
  for (const TimelineRow& row : rows()) slices_ += row.slices();
}

}  // namespace tacho
