#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/names/classifier.h"
#include "report/html/drawings.h"
#include "run/read_run.h"

namespace tacho {

// Makes the drawings of a report while the traces of the run are read, so that no trace has to stay
// in memory. They show how the time of each phase's steps splits into parts, the median and the
// slowest step of the main phase, and the longest gaps.
class DrawingKeeper {
 public:
  explicit DrawingKeeper(const Classifier& classifier) : classifier_(classifier) {}

  // Called for each trace, through ReadOptions::on_analysed.
  void Draw(const AnalysedTrace& read);
  // The drawings that a report of `run` shows: the steps of the rank whose steps the screens show,
  // and the longest gaps of all ranks.
  Drawings Choose(const RunAnalysis& run) &&;

 private:
  const Classifier& classifier_;
  std::mutex mutex_;
  struct OfTrace {
    Drawings steps;
    std::vector<MiniTimeline> gaps;
  };
  std::map<std::string, OfTrace> of_path_;  // by path; MiniTimeline::trace is set only by Choose
};

}  // namespace tacho
