#pragma once

#include <string_view>
#include <type_traits>

#include "base/field_kinds.h"

// What depends on the data in the functions of this folder. Each writes fields to a JsonWriter,
// reads them from a JsonReader, or declares them to a describer, from which tools/docs writes the
// documents: `out`. A describer visits each object of a list once and each condition both ways.
namespace tacho::schema {

template <typename Out>
constexpr bool kReads = std::remove_cvref_t<Out>::kReads;
template <typename Out>
constexpr bool kDescribes = requires {
  std::remove_cvref_t<Out>::kDescribes;
};

// Whether a condition on the data holds; a describer decides.
template <typename Out>
bool Holds(const Out& out, bool condition) {
  if constexpr (kDescribes<Out>) return out.VisitsOptional();
  return condition;
}

// Whether a field that may be absent is there: when reading, by the input; when writing, by `has`.
template <typename Out>
bool IsThere(const Out& out, std::string_view key, bool has) {
  if constexpr (kReads<Out>) return out.Has(key);
  return Holds(out, has);
}

// Gives an optional member that is there its value, which is then read.
template <typename Out>
void Ensure(const Out&, auto& member) {
  if constexpr (kReads<Out> || kDescribes<Out>) member.emplace();
}

}  // namespace tacho::schema
