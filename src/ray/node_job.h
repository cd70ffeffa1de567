#pragma once

#include <optional>
#include <string>

namespace tacho {

// The jobs that ClusterRun runs on nodes. A job stays when its command has ended, so that its end
// is in its log at once, and so that its folder is removed when the job is stopped: Ray needs 2 to
// 3 s to start another job for that, and a second to tell that a job has ended.

// A shell command that runs `command`, prints its exit status after `name`, and waits to be
// stopped. `clear` runs then, or 6 hours later if nobody stops the job.
std::string CommandOfJob(const std::string& name, const std::string& command,
                         const std::string& clear);

// The exit status of the command of the job `name`, from the end of the job's log; nullopt: it
// runs, or the job ended without it.
std::optional<int> EndInLog(const std::string& log, const std::string& name);

// The last line that the command printed; "" without one.
std::string LastWordsInLog(const std::string& log, const std::string& name);

}  // namespace tacho
