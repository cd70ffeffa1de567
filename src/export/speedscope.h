#pragma once

#include <span>
#include <string_view>

#include "base/byte_sink.h"
#include "export/exported_rank.h"

namespace tacho {

// What each file of this format begins with.
inline constexpr std::string_view kSpeedscopeBegin =
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"tacho\"";

// speedscope's JSON (https://www.speedscope.app/file-format-schema.json): an evented profile for
// each thread and each stream that has slices in the window, in nanoseconds on the run's clock.
// speedscope refuses slices that overlap without nesting: these go into further profiles of their
// thread.
//
// Memory: a megabyte, the different names, and the text of such further profiles of one thread.
// False: a write to `to` failed.
bool WriteSpeedscope(std::span<const ExportedRank> ranks, ByteSink& to);

}  // namespace tacho
