#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "session/files/trace_folder.h"
#include "session/recorded_worker.h"
#include "session/recording_options.h"

namespace tacho {

// What the names of the worker's files begin with; "" if the engine puts no key into names.
std::string_view FileKeyOf(const RecordedWorker& worker);
// Where the worker's files are: "HOST:FOLDER/KEY*", or "FOLDER/KEY*" if the folder is seen from
// here.
std::string PlaceOf(const RecordedWorker& worker);

// The files that several profilers write in one session, as seen from here: which worker wrote
// which file, and whether it is whole. The workers and the options must outlive this object.
class WorkerFiles {
 public:
  WorkerFiles(const std::vector<RecordedWorker>& workers, const RecordOptions& options)
      : workers_(workers), options_(options) {}

  // Notes which files are there now: files that change or appear afterwards count as new.
  void LookIntoFolders();
  std::vector<std::string> NewTracesIn(const std::string& folder) const;

  // New files in the worker's folder that may be its own: traces, tables and temporary files.
  FolderState WrittenBy(const RecordedWorker& worker) const;
  std::vector<std::string> TracesOf(const RecordedWorker& worker) const;
  // The number of traces to expect: one for each rank; if profile_by_stage is on, two for each
  // rank, one a stage.
  size_t Expected(const RecordedWorker& worker) const;
  bool WroteAll(const RecordedWorker& worker) const;
  // Waits until the worker's files are whole and have stopped growing.
  void WaitFor(const RecordedWorker& worker, const std::stop_token& stop,
               const std::function<void(uint64_t)>& progress = {}) const;
  // When the worker had written everything, by its own clock as far as that is known. Taken from
  // its files if it runs on this host, else from the time of its answer to the stop.
  int64_t WrittenUnixNs(const RecordedWorker& worker) const;
  // The time between its last trace file and its table file; 0 if there is no later table file.
  double TableNs(const RecordedWorker& worker) const;
  // What the engine is doing in its flush, judged by its files.
  std::string DoingOf(const RecordedWorker& worker) const;

  // For a worker that shares its folder with others. If the file names do not show who wrote them,
  // gives the worker the files of one process, and returns a finding that says so.
  std::optional<Finding> TakeFilesOfOneProcess(size_t index);

  // New files of all workers. `ours`: files whose names show that these workers wrote them;
  // `unclear`: all other traces, which may be somebody else's.
  struct ByOwner {
    std::vector<std::string> ours, unclear;
  };
  ByOwner DivideByOwner() const;

 private:
  const FolderState& Before(const std::string& folder) const;
  bool OfAnother(const RecordedWorker& worker, const std::string& file) const;
  bool NamesItsProcess(const RecordedWorker& worker, const std::string& file) const;

  const std::vector<RecordedWorker>& workers_;
  const RecordOptions& options_;
  std::map<std::string, FolderState> before_;  // by folder
  // Index of the worker, by the process id in its files' names.
  std::map<std::string, size_t> owners_;
};

}  // namespace tacho
