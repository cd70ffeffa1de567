#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tacho {

// The jobs that ClusterRun runs on nodes. A job stays when its command has ended, so that its end
// is in its log at once, and so that its folder is removed when the job is stopped: Ray needs 3 to
// 4 s to start another job for that, and a second to tell that a job has ended.

// A shell takes its command as one word, of at most 128 kB.
inline constexpr size_t kMostCommand = 100'000;

// A shell command that says that it begins, runs `command`, prints its exit status after `name`,
// and waits to be stopped. `clear` runs then, or 6 hours later if nobody stops the job. If the
// status cannot be printed, as on a full disk, the job ends with it.
std::string CommandOfJob(const std::string& name, const std::string& command,
                         const std::string& clear);

// The exit status of the command of the job `name`, from the end of the job's log; nullopt: it
// runs, or the job ended without it.
std::optional<int> EndInLog(const std::string& log, const std::string& name);

// The last line that the command printed; "" without one.
std::string LastWordsInLog(const std::string& log, const std::string& name);

}  // namespace tacho
