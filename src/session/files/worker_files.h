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

// What the names of the worker's files begin with; "" if the engine puts no key into them.
std::string_view FileKeyOf(const RecordedWorker& worker);
// Where the worker's files are: "HOST:FOLDER/KEY*", or without a host.
std::string PlaceOf(const RecordedWorker& worker);

// The files of one session of several profilers, as seen from here: which worker wrote which file,
// and whether it is whole. The workers and the options must outlive it.
class WorkerFiles {
 public:
  WorkerFiles(const std::vector<RecordedWorker>& workers, const RecordOptions& options)
      : workers_(workers), options_(options) {}

  // Notes the files that are there: files that are new or changed from now on are the session's.
  void LookIntoFolders();
  std::vector<std::string> NewTracesIn(const std::string& folder) const;

  // New files in the worker's folder that may be its own: traces and tables.
  FolderState WrittenBy(const RecordedWorker& worker) const;
  std::vector<std::string> TracesOf(const RecordedWorker& worker) const;
  // The number of traces to expect: one a rank, or one for each stage of a rank.
  size_t Expected(const RecordedWorker& worker) const;
  bool WroteAll(const RecordedWorker& worker) const;
  // Waits until the worker's files are whole and no longer grow.
  void WaitFor(const RecordedWorker& worker, const std::stop_token& stop,
               const std::function<void(uint64_t)>& progress = {}) const;
  // When the worker had written all, by its own clock as far as that is known: by its files if they
  // are seen from here, else by its answer to the stop.
  int64_t WrittenUnixNs(const RecordedWorker& worker) const;
  // The time from its last trace file to its table file; or 0.
  double TableNs(const RecordedWorker& worker) const;
  // What the engine does in its flush, as its files show.
  std::string DoingOf(const RecordedWorker& worker) const;

  // If the worker `index` shares its folder and file names do not show who wrote the files, gives
  // the worker the files of one process. The finding says so.
  std::optional<Finding> TakeFilesOfOneProcess(size_t index);

  // New files of all workers. `ours`: by their names, these workers wrote them; `unclear`: the
  // other traces, which may be somebody else's.
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
  std::map<std::string, size_t> owners_;       // workers, by the process id in their files' names
};

}  // namespace tacho
