#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace tacho {

// Is told how far reading has come. Several threads may call it at the same time.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  // Tells what will be read. `stored_bytes`: total size of all files; 0 if one of them is a pipe.
  virtual void OnPlan(size_t /*traces*/, uint64_t /*stored_bytes*/) {}
  // Another `stored_bytes` bytes of the files were read.
  virtual void OnBytes(uint64_t /*stored_bytes*/) {}
  // The next functions are about another program ("nsys 2022.4.2.1") that converts `file` so that
  // tacho can read it. Several threads may call them. StopOfExports is called first; if a stop is
  // requested through its token, such programs are ended.
  virtual std::stop_token StopOfExports() { return {}; }
  virtual void OnExportBegin(const std::string& /*file*/, const std::string& /*program*/) {}
  virtual void OnExportShare(double /*share*/) {}
  virtual void OnExportEnd() {}  // also called without OnExportBegin before it
  // Asked at each block of a file. If it returns true, the reading of the file ends with
  // kInterrupted.
  [[nodiscard]] virtual bool IsStopped() const { return false; }
};

}  // namespace tacho
