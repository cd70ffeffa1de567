#pragma once

#include <string_view>

namespace tacho {

// True if `start`, the first bytes of a file, are a Perfetto protobuf trace: a chain of TracePacket
// messages. The format has no magic number, so the first packet's fields are looked at.
bool LooksLikePerfetto(std::string_view start);

}  // namespace tacho
