#pragma once

#include <string>
#include <string_view>

#include "analysis/analyze.h"
#include "report/html/drawings.h"

namespace tacho {

// Takes out what a stranger must not read: paths, host and process names, the profiler's log, and
// names that are not code (annotations hold request ids and prompts). What is taken out becomes
// "#" and eight digits of a hash with a salt, so that equal texts stay equal within one report and
// nobody can try texts out without the salt. Kernels, registered operators ("aten::mm"), calls of
// the device's runtime and functions with the file's name, but not its folder, stay.
class Redactor {
 public:
  explicit Redactor(std::string salt) : salt_(std::move(salt)) {}

  [[nodiscard]] std::string Hash(std::string_view text) const;
  // Redacts the name of an operator, a call, an annotation or a Python frame.
  [[nodiscard]] std::string Name(std::string_view name) const;
  // Redacts the name of a kernel or a copy: only a name with a folder in it is taken out.
  [[nodiscard]] std::string KernelName(std::string_view name) const;
  // Redacts the name of a profiler overhead: known kinds stay.
  [[nodiscard]] std::string Overhead(std::string_view name) const;
  // Redacts an id, a version or the name of a worker: numbers and short words without lower-case
  // letters stay.
  [[nodiscard]] std::string Id(std::string_view id) const;

  [[nodiscard]] RunAnalysis Redacted(RunAnalysis run) const;
  [[nodiscard]] Drawings Redacted(Drawings drawings) const;

 private:
  void Redact(TraceAnalysis& trace) const;
  void Redact(IdleTable& idle, bool on_host) const;
  void Redact(std::vector<DeviceTime>& devices) const;
  void Redact(std::vector<OpRow>& ops) const;
  void Redact(MemoryTable& memory) const;

  std::string salt_;
};

}  // namespace tacho
