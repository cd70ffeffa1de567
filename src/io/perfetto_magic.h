#pragma once

#include <string_view>

namespace tacho {

// True if `start`, the first bytes of a file, are a Perfetto protobuf trace: a chain of TracePacket
// messages. The format has no magic number, so this looks at the fields of the first packet.
bool LooksLikePerfetto(std::string_view start);

}  // namespace tacho
