#pragma once

#include <string>
#include <string_view>

#include "analysis/analyze.h"
#include "report/html/drawings.h"

namespace tacho {

// Removes what a stranger must not read: paths, host and process names, the profiler's log, and
// names that are not code (annotations hold request ids and prompts). A removed text becomes "#"
// and eight digits of a salted hash: equal texts stay equal within one report, and without the salt
// nobody can find a text by hashing likely ones. These names stay: kernels, registered operators
// ("aten::mm"), calls of the device's runtime, and Python functions with their file's name (without
// its folder).
class Redactor {
 public:
  explicit Redactor(std::string salt) : salt_(std::move(salt)) {}

  [[nodiscard]] std::string Hash(std::string_view text) const;
  // Redacts the name of an operator, a call, an annotation or a Python frame.
  [[nodiscard]] std::string Name(std::string_view name) const;
  // Redacts the name of a kernel or a copy: only a name that contains a folder is replaced.
  [[nodiscard]] std::string KernelName(std::string_view name) const;
  // Redacts the name of a profiler overhead: known kinds stay.
  [[nodiscard]] std::string Overhead(std::string_view name) const;
  // Redacts an id, a version or the name of a worker. Numbers, short words without lower-case
  // letters, "cpu" and workers like "w3" stay.
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
