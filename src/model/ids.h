#pragma once

#include <cstdint>
#include <type_traits>

#include "base/string_pool.h"

namespace tacho {

// Indexes into the vectors of one Trace (model/vocabulary.h). Each kind of index is a type of its
// own.
enum class ProcessId : uint32_t {};
enum class TrackId : uint32_t {};    // a line of the timeline: a thread of a process
enum class StreamId : uint32_t {};   // a stream of a device: (device, stream)
enum class CategoryId : uint8_t {};  // the `cat` of an event, by its current name
enum class MetricId : uint32_t {};   // what a counter measures
enum class ArgsShapeId : uint32_t { kNone = 0 };
enum class LaunchId : uint32_t { kNone = 0 };  // a kernel's LaunchSizes

template <typename Id>
constexpr auto Index(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

}  // namespace tacho
