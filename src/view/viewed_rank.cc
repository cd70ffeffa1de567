#include "view/viewed_rank.h"

#include <utility>

#include "analysis/identity.h"

namespace tacho {

ViewedRank::ViewedRank(std::string path, std::unique_ptr<const Trace> trace,
                       const PreparedTrace& prepared, const Classifier& classifier,
                       const std::optional<InFlight>& in_flight, size_t threads)
    : path_(std::move(path)),
      trace_(std::move(trace)),
      facts_(GatherFacts(*trace_, path_)),
      classifier_(&classifier),
      rows_(prepared, classifier, in_flight ? &*in_flight : nullptr, threads, facts_.mixed_ranks) {
  facts_.stage = StageOf(path_, rows_.step_table());
  facts_.identity = IdentityOf(path_, facts_);
  for (const TimelineRow& row : rows()) slices_ += row.slices();
}

}  // namespace tacho
