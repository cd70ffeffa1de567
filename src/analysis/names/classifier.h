#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace tacho {

// Stands for a category of device work, such as "attention.mla" or "comm.collective" (the part
// before the dot is its group). The number is an index into Classifier::categories().
using WorkCategory = uint16_t;

// Ordered rules that give each kernel (on a CPU engine, each operator) its category. The first rule
// that matches wins. The built-in rules are in rules/kernels.rules, which is embedded in the
// binary; the head of that file describes the syntax. Immutable, so all threads can share one
// object.
class Classifier {
 public:
  // Puts `user_rules` before the built-in rules. `user_rules` is the text of a --rules file, in the
  // same syntax. Fails with kUsage and the line number if a rule cannot be read.
  static Result<Classifier> Create(std::string_view user_rules = {});
  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

  static constexpr WorkCategory kUnclassified = 0;
  // The category of a kernel. `name`: as in the trace, mangled or not. Cost: microseconds, so
  // callers ask once for each distinct name.
  [[nodiscard]] WorkCategory OfKernel(std::string_view name) const;
  // The same for a host operator ("aten::addmm", "gloo:all_reduce") whose work is that of a CPU
  // engine.
  [[nodiscard]] WorkCategory OfOperator(std::string_view name) const;
  // Whether an operator of this name only calls other operators, which do the work.
  [[nodiscard]] bool IsWrapper(std::string_view operator_name) const;

  // The categories' names; [0] is "unclassified".
  [[nodiscard]] const std::vector<std::string>& categories() const;
  // True for "comm" and all categories "comm.*".
  [[nodiscard]] bool IsCommunication(WorkCategory category) const;

 private:
  struct Rules;
  explicit Classifier(std::unique_ptr<Rules> rules);
  std::unique_ptr<Rules> rules_;
};

// The next four functions turn the name in a trace into a name for people to read. The first gives
// the shortest name, the last the longest. None is longer than the demangled name.

// Leaves out the return type and the parameters. Each template argument loses its namespaces and
// its own template arguments.
std::string ShortKernelName(std::string_view name);
// Leaves out the return type and the parameters. Each template argument loses its namespaces but
// keeps its own template arguments.
std::string NestedKernelName(std::string_view name);
// Leaves out the return type and the parameters.
std::string WholeKernelName(std::string_view name);
// Demangles a mangled name. Returns the name unchanged if it is not mangled or cannot be demangled.
std::string DemangledName(std::string_view name);

}  // namespace tacho
