#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The parts of a demangled C++ function name. Views point into the text that was read.
//
//   "void ns::(anonymous namespace)::f<int, g<3> >(float*)"  ->  the parts `ns`, and `f` with the
//   arguments "int, g<3> "
//
// A name that is not C++ (Triton, Tensile, trtllm-gen) is a single part.
struct KernelName {
  struct Part {
    std::string_view name;       // "f", "operator()", "{lambda(int)#1}"
    std::string_view arguments;  // the text between its < and >
  };
  std::vector<Part> parts;
  std::string_view whole;  // the name without return type and parameters

  // The names of all parts, joined by "::".
  [[nodiscard]] std::string Key() const;
};

// Never fails: a name that it does not understand is a single part. Cost: O(n).
KernelName ParseKernelName(std::string_view demangled);

}  // namespace tacho
