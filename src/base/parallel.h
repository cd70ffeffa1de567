#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tacho {

// Calls job(0) to job(count - 1), each once, on up to `threads` threads (0: one for each core), and
// returns when all have ended. Each thread takes the next job when it is done with one, so long and
// short jobs balance. With one thread or one job, the caller's thread does the work. If jobs throw,
// the exception of the job with the lowest index is thrown again here after all have ended.
void ParallelFor(size_t count, size_t threads, const std::function<void(size_t)>& job);
// The same for a list of different jobs. Put the longest first.
void RunAll(const std::vector<std::function<void()>>& jobs, size_t threads);

// The number of cores that this process may use, at least 1.
size_t CoreCount();

}  // namespace tacho
