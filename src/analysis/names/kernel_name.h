#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The parts of a demangled C++ function name. Views point into the text that was read.
//
//   "void ns::(anonymous namespace)::f<int, g<3> >(float*)"  ->  ns, f with the arguments "int,
//   g<3> "
//
// Names that are no C++ (Triton, Tensile, trtllm-gen) are one part.
struct KernelName {
  struct Part {
    std::string_view name;       // "f", "operator()", "{lambda(int)#1}"
    std::string_view arguments;  // what stands in its <>, without them
  };
  std::vector<Part> parts;
  std::string_view whole;  // without the return type and the parameters of the function

  // The parts without arguments, joined by "::".
  [[nodiscard]] std::string Key() const;
};

// Reads `demangled`; never fails: what it does not understand stays in one part. Cost: O(n).
KernelName ParseKernelName(std::string_view demangled);

}  // namespace tacho
