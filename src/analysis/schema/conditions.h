#pragma once

#include <string_view>
#include <type_traits>

#include "base/field_kinds.h"

// Helpers of the functions of this folder, for fields that depend on the data. Each of these
// functions gets `out`: a JsonWriter, to which it writes fields; a JsonReader, from which it reads
// them; or a describer, to which it declares them, so that tools/docs can write the documents. A
// describer visits each object of a list once and each condition both ways.
namespace tacho::schema {

template <typename Out>
constexpr bool kReads = std::remove_cvref_t<Out>::kReads;
template <typename Out>
constexpr bool kDescribes = requires {
  std::remove_cvref_t<Out>::kDescribes;
};

// Whether a condition on the data holds. A describer decides this itself.
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

// Creates the value of an optional member, so that its fields can be read or declared. Does nothing
// when writing.
template <typename Out>
void Ensure(const Out&, auto& member) {
  if constexpr (kReads<Out> || kDescribes<Out>) member.emplace();
}

}  // namespace tacho::schema
