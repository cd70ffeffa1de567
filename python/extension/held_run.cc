#include "held_run.h"

#include <algorithm>
#include <utility>

#include "cli/options/choice_words.h"
#include "frames_of_run.h"
#include "io/read_whole.h"
#include "query/traces_of_query.h"
#include "report/json/analyze_json.h"
#include "run/model_config.h"

namespace tacho {
namespace {

constexpr size_t kMostRules = size_t{1} << 24;

Result<Classifier> ClassifierOf(const RunRequest& request) {
  if (!request.rules) return Classifier::Create();
  TACHO_ASSIGN_OR_RETURN(const auto rules, ReadWholeFile(*request.rules, kMostRules));
  return WithContext(Classifier::Create(rules), *request.rules);
}

Result<ReadOptions> OptionsOf(const RunRequest& request) {
  ReadOptions options{.own_rules = request.rules.has_value(),
                      .key_averages = true,
                      .step_profile = true,
                      .kept_for = "tables"};
  options.sources.asked = true;
  options.roofline.tensor_ranks = request.tensor_parallel;
  options.roofline.context_length = request.context_length;
  if (request.model_config) {
    TACHO_ASSIGN_OR_RETURN(options.roofline.model, ReadModelConfig(*request.model_config));
  }
  if (request.gpu) {
    options.roofline.gpu = FindAccelerator(*request.gpu);
    if (!options.roofline.gpu)
      return Fail(ErrorKind::kUsage, "no accelerator is called '" + *request.gpu + "'");
  }
  return options;
}

tl::unexpected<Error> StoppedHere() { return Fail(ErrorKind::kInterrupted, "interrupted"); }

}  // namespace

Result<std::shared_ptr<HeldRun>> HeldRun::Read(const RunRequest& request, RunProgress& progress) {
  TACHO_ASSIGN_OR_RETURN(auto classifier, ClassifierOf(request));
  TACHO_ASSIGN_OR_RETURN(ReadOptions options, OptionsOf(request));
  const std::shared_ptr<HeldRun> held(new HeldRun(std::move(classifier)));
  TracesOfQuery keeper(held->classifier_);
  options.keeper = &keeper;
  auto readout = ReadRun(request.choice, options, held->classifier_, progress,
                         [](const TraceSource& source, StreamThreads threads, const NextSink& next,
                            RunProgress& of) -> Result<TraceSizes> {
                           if (of.IsStopped()) return StoppedHere();
                           return ReadSource(source, threads, next, of);
                         });
  if (progress.IsStopped()) return StoppedHere();
  TACHO_RETURN_IF_ERROR(readout);
  TACHO_RETURN_IF_ERROR(WordWhatIsLeftOut(request.choice, options, *readout));
  for (const Error& error : readout->failures) held->failures_.push_back(error.message);
  held->run_ = QueriedRun::Of(std::move(readout->run), keeper.Take());
  held->tables_.resize(FrameTables().size());
  return held;
}

std::string HeldRun::AnalysisJson() const { return AnalyzeJson(run_->analysis, TACHO_VERSION); }

Result<std::shared_ptr<const Frame>> HeldRun::Table(const std::string& name, std::stop_token stop) {
  const auto& all = FrameTables();
  const auto table =
      std::ranges::find_if(all, [&](const FrameTable& one) { return one.of.name == name; });
  if (table == all.end()) return Fail(ErrorKind::kUsage, "there is no table '" + name + "'");
  const std::lock_guard lock(mutex_);
  auto& kept = tables_[static_cast<size_t>(table - all.begin())];
  if (!kept) {
    TACHO_ASSIGN_OR_RETURN(Frame frame,
                           FrameOf(*table, *run_, {}, [&] { return stop.stop_requested(); }));
    kept = std::make_shared<const Frame>(std::move(frame));
  }
  return kept;
}

Result<std::shared_ptr<const Frame>> HeldRun::Slices(const SliceFilter& filter,
                                                     std::stop_token stop) {
  const FrameTable slices{SlicesQueryTable(), {}};
  const auto text = [&](std::string_view column, const QueryRow& row) {
    const auto of = std::ranges::find(slices.of.columns, column, &QueryColumn::name);
    return of->words.text(*row.trace, of->words.of(row));
  };
  const std::lock_guard lock(mutex_);
  TACHO_ASSIGN_OR_RETURN(Frame frame,
                         FrameOf(
                             slices, *run_,
                             [&](const QueryRow& row) {
                               return (!filter.process || text("process", row) == filter.process) &&
                                      (!filter.thread || text("thread", row) == filter.thread) &&
                                      (!filter.kind || text("kind", row) == filter.kind);
                             },
                             [&] { return stop.stop_requested(); }));
  return std::make_shared<const Frame>(std::move(frame));
}

Result<std::shared_ptr<const Frame>> HeldRun::Query(const std::string& sql, std::stop_token stop) {
  const std::lock_guard lock(mutex_);
  TACHO_ASSIGN_OR_RETURN(Frame frame,
                         FrameOfQuery(sql, *run_, [&] { return stop.stop_requested(); }));
  return std::make_shared<const Frame>(std::move(frame));
}

}  // namespace tacho
