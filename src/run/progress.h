#pragma once

#include <cstddef>
#include <cstdint>

namespace tacho {

// Who wants to know how far reading has come. Reading calls it from many threads at once.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  // What will be read. `stored_bytes`: of all files together, 0 when a pipe is among them.
  virtual void OnPlan(size_t /*traces*/, uint64_t /*stored_bytes*/) {}
  // So many more stored bytes were read.
  virtual void OnBytes(uint64_t /*stored_bytes*/) {}
};

}  // namespace tacho
