#pragma once

#include <string_view>

#include "model/event.h"

namespace tacho::kineto {

// Adds one top-level member of the document to the header. `value`: its JSON text.
void AddHeaderField(std::string_view key, std::string_view value, TraceHeader& header);

}  // namespace tacho::kineto
