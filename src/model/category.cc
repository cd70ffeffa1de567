#include "model/category.h"

#include <array>
#include <utility>

namespace tacho {

std::string_view CurrentCategoryName(std::string_view in_file) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOld{{
      {"Kernel", "kernel"},
      {"Memcpy", "gpu_memcpy"},
      {"Memset", "gpu_memset"},
      {"Runtime", "cuda_runtime"},
      {"Operator", "cpu_op"},
  }};
  for (const auto& [old, current] : kOld) {
    if (in_file == old) return current;
  }
  return in_file;
}

SliceKind KindOfCategory(std::string_view category) {
  static constexpr std::array<std::pair<std::string_view, SliceKind>, 17> kKinds{{
      {"kernel", SliceKind::kKernel},
      {"cuda_graph", SliceKind::kKernel},
      {"gpu_memcpy", SliceKind::kMemcpy},
      {"gpu_memset", SliceKind::kMemset},
      {"cpu_op", SliceKind::kHostOp},
      {"python_function", SliceKind::kPythonFrame},
      {"user_annotation", SliceKind::kAnnotation},
      {"gpu_user_annotation", SliceKind::kGpuAnnotation},
      {"cuda_runtime", SliceKind::kHostCall},
      {"cuda_driver", SliceKind::kHostCall},
      {"mtia_runtime", SliceKind::kHostCall},
      {"xpu_runtime", SliceKind::kHostCall},
      {"xpu_driver", SliceKind::kHostCall},
      {"glow_runtime", SliceKind::kHostCall},
      {"hpu_runtime", SliceKind::kHostCall},
      {"privateuse1_runtime", SliceKind::kHostCall},
      {"privateuse1_driver", SliceKind::kHostCall},
  }};
  for (const auto& [name, kind] : kKinds) {
    if (category == name) return kind;
  }
  return SliceKind::kOther;
}

}  // namespace tacho
