#pragma once

#include <string>

#include "simulate/engine/recording.h"

namespace tacho::simulate {

// PyTorch's key_averages().table(), as vLLM writes it beside a trace: sorted by self CUDA time, the
// first hundred rows, names cut to 52 characters.
std::string KeyAveragesTable(const TraceSource& source, const Recording& recording);

}  // namespace tacho::simulate
