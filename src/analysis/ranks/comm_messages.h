#pragma once

#include <optional>

#include "analysis/index/arg_reader.h"
#include "analysis/ranks/comm_candidates.h"

namespace tacho {

// Reads the sizes of collectives from the arguments that PyTorch gives NCCL's kernels (`In msg
// nelems`, `Out msg nelems`, `dtype`, `Group size`). Immutable.
class CommMessages {
 public:
  explicit CommMessages(const Trace& trace)
      : in_(trace, "In msg nelems"),
        out_(trace, "Out msg nelems"),
        type_(trace, "dtype"),
        ranks_(trace, "Group size"),
        trace_(trace) {}

  // nullopt if a size or the type is missing, unknown or damaged.
  [[nodiscard]] std::optional<CommMessage> Of(const ArgsOf& args) const;

 private:
  ArgReader in_, out_, type_, ranks_;
  const Trace& trace_;
};

// The size in bytes of an element of a PyTorch type ("BFloat16"); 0: not known.
int64_t BytesOfType(std::string_view type);

}  // namespace tacho
