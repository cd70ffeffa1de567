#pragma once

#include <string_view>

namespace tacho {

// Whether a file that begins with `start` is a Perfetto protobuf trace, a sequence of TracePacket
// messages. The format has no magic number, so this looks at the fields of the first packet.
bool LooksLikePerfetto(std::string_view start);

}  // namespace tacho
