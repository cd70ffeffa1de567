#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace tacho {

// Who wants to know how far reading has come. Reading calls it from many threads at once.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  // What will be read. `stored_bytes`: of all files together, 0 when a pipe is among them.
  virtual void OnPlan(size_t /*traces*/, uint64_t /*stored_bytes*/) {}
  // So many more stored bytes were read.
  virtual void OnBytes(uint64_t /*stored_bytes*/) {}
  // Another program makes `file` readable: "nsys 2022.4.2.1". Begin and end may be called by
  // several threads; the token, which is asked for first, ends these programs.
  virtual std::stop_token StopOfExports() { return {}; }
  virtual void OnExportBegin(const std::string& /*file*/, const std::string& /*program*/) {}
  virtual void OnExportShare(double /*share*/) {}
  virtual void OnExportEnd() {}  // also without a begin
};

}  // namespace tacho
