#pragma once

#include <span>
#include <string_view>

#include "base/byte_sink.h"
#include "export/exported_rank.h"

namespace tacho {

// Every file of this format begins with this text.
inline constexpr std::string_view kSpeedscopeBegin =
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"tacho\"";

// Writes speedscope's JSON (https://www.speedscope.app/file-format-schema.json). Each thread and
// each stream with slices in the window becomes an evented profile, in ns on the run's clock.
// speedscope does not accept slices that overlap without nesting; these go to further profiles of
// the same thread.
//
// Memory: a megabyte, all different names, and the text of the further profiles of one thread.
// Returns false if a write to `to` failed.
bool WriteSpeedscope(std::span<const ExportedRank> ranks, ByteSink& to);

}  // namespace tacho
