// What another program does with the libraries alone, without cli/: on two threads at once it
// records two simulated engines behind a router, analyses the recordings, and compares them.
#include <array>
#include <filesystem>
#include <iostream>
#include <thread>

#include "analysis/compare/compare_runs.h"
#include "base/temporary_folder.h"
#include "run/read_run.h"
#include "session/record.h"
#include "session/record_observer.h"
#include "simulate/simulation.h"

namespace {

using namespace tacho;

struct Quiet : RecordObserver {
  void OnDone(std::string_view, const std::string&) override {}
  void OnProgress(std::string_view, const std::string&) override {}
  void OnRemark(const std::string&) override {}
  void OnLeftBehind(const std::string&) override {}
};

Result<RunAnalysis> RecordAndAnalyse(const std::string& folder, const Classifier& classifier) {
  simulate::SimulationOptions engine;
  engine.count = 2;
  engine.router = simulate::RouterKind::kVllm;
  simulate::WorkerOptions& worker = engine.worker;
  worker.version = "0.32";
  worker.served_model = "tiny";
  worker.dev_mode = true;
  worker.cost = {*simulate::FindModelShape("tiny"), *simulate::FindHardware("h100"), 1, 10};
  worker.trace_folder = folder + "/engine";
  worker.temp_folder = folder;
  worker.profiler_config = R"({"profiler": "torch", "torch_profiler_with_stack": false, )"
                           R"("torch_profiler_dir": ")" +
                           worker.trace_folder + "\"}";
  TACHO_ASSIGN_OR_RETURN(const auto simulation, simulate::Simulation::Start(engine));
  TACHO_ASSIGN_OR_RETURN(const auto client, HttpClient::Create({}));
  RecordOptions options;
  options.targets = {simulation->RouterUrl()};
  options.out = folder;
  options.warm_up_ns = options.baseline_ns = options.window_ns = 500'000'000;
  Quiet observer;
  TACHO_ASSIGN_OR_RETURN(const Recording recording, Record(*client, options, observer));
  RunProgress progress;
  TACHO_ASSIGN_OR_RETURN(auto read, ReadRun({.paths = {recording.folder.In("traces")}},
                                            {.step_profile = true}, classifier, progress));
  return std::move(read.run);
}

}  // namespace

int main() {
  const Result<Classifier> classifier = Classifier::Create();
  const auto folder = TemporaryFolder::Make();
  if (!classifier || !folder) return 1;
  std::array<Result<RunAnalysis>, 2> runs{RunAnalysis{}, RunAnalysis{}};
  {
    std::array<std::jthread, 2> threads;
    for (size_t i = 0; i < 2; ++i) {
      const std::string own = folder->At(std::to_string(i));
      std::filesystem::create_directories(own + "/engine");
      threads[i] = std::jthread([&, i, own] { runs[i] = RecordAndAnalyse(own, *classifier); });
    }
  }
  for (const Result<RunAnalysis>& run : runs) {
    if (!run) return std::cerr << run.error().message << '\n', 1;
  }
  const RunChanges changes = CompareRuns({*runs[0]}, {*runs[1]});
  const size_t steps = runs[0]->traces.at(0).steps.steps.size();
  std::cout << steps << " steps, " << changes.phases.size() << " phases compared\n";
  return steps > 0 && changes.AnythingCompared() ? 0 : 1;
}
