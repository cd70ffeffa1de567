#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tacho {

// Calls job(0) .. job(count - 1), each once, on up to `threads` threads (0 = one for each core),
// and returns when all are done. Jobs are handed out in order, one at a time, so unequal ones
// balance. With one thread or one job the caller's thread does the work. If jobs throw, the
// exception of the lowest index is thrown again here, after all have ended.
void ParallelFor(size_t count, size_t threads, const std::function<void(size_t)>& job);
// The same for different jobs, given longest first.
void RunAll(const std::vector<std::function<void()>>& jobs, size_t threads);

// The number of cores that this process may use, at least 1.
size_t CoreCount();

}  // namespace tacho
