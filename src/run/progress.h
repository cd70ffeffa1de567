#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace tacho {

// Learns how far reading has come. Its functions are called by many threads at once.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  // What will be read. `stored_bytes`: the size of all files together, 0 if one is a pipe.
  virtual void OnPlan(size_t /*traces*/, uint64_t /*stored_bytes*/) {}
  // This many more stored bytes were read.
  virtual void OnBytes(uint64_t /*stored_bytes*/) {}
  // Another program ("nsys 2022.4.2.1") makes `file` readable. Begin and end may be called by
  // several threads. StopOfExports is called first; its token ends these programs.
  virtual std::stop_token StopOfExports() { return {}; }
  virtual void OnExportBegin(const std::string& /*file*/, const std::string& /*program*/) {}
  virtual void OnExportShare(double /*share*/) {}
  virtual void OnExportEnd() {}  // also called without a begin
};

}  // namespace tacho
