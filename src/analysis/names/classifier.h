#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace tacho {

// A category of device work, "attention.mla" or "comm.collective": the part before the first dot is
// its group. Categories are named by index into Classifier::categories().
using WorkCategory = uint16_t;

// The ordered rules that give each kernel (or, on a CPU engine, each operator) its category; the
// first rule that matches wins. The built-in rules are the file rules/kernels.rules, embedded in
// the binary; its head describes the form. Immutable, so one object serves all threads.
class Classifier {
 public:
  // The built-in rules, with `user_rules` (text of a --rules file, same form) in front. Fails with
  // kUsage and the line number when a rule cannot be read.
  static Result<Classifier> Create(std::string_view user_rules = {});
  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

  static constexpr WorkCategory kUnclassified = 0;
  // The category of a kernel by its name as in the trace (mangled or not). Cost: microseconds;
  // callers ask once for each distinct name.
  [[nodiscard]] WorkCategory OfKernel(std::string_view name) const;
  // The same for a host operator ("aten::addmm", "gloo:all_reduce") that does a CPU engine's work.
  [[nodiscard]] WorkCategory OfOperator(std::string_view name) const;
  // Whether such an operator only calls others, which do the work.
  [[nodiscard]] bool IsWrapper(std::string_view operator_name) const;

  // Names by index; [0] is "unclassified".
  [[nodiscard]] const std::vector<std::string>& categories() const;
  // True for communication: "comm" and everything below it.
  [[nodiscard]] bool IsCommunication(WorkCategory category) const;

 private:
  struct Rules;
  explicit Classifier(std::unique_ptr<Rules> rules);
  std::unique_ptr<Rules> rules_;
};

// The next four functions give a kernel's name for people, from the shortest to the longest. None
// is longer than its demangled name.

// Without return type, parameters, and the namespaces and arguments of template arguments.
std::string ShortKernelName(std::string_view name);
// Without return type, parameters and the namespaces of template arguments.
std::string NestedKernelName(std::string_view name);
// Without return type and parameters.
std::string WholeKernelName(std::string_view name);
// The name demangled when it is mangled and can be, else as it is.
std::string DemangledName(std::string_view name);

}  // namespace tacho
