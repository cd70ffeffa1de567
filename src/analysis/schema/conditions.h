#pragma once

#include <string_view>
#include <type_traits>

#include "base/field_kinds.h"

// Helpers for the functions in this folder. Each such function names the fields of one JSON object
// and takes an argument `out`. A JsonWriter as `out` writes the fields, and a JsonReader reads
// them. A describer only notes which fields there are; tools/docs writes the documents from these
// notes. A describer visits the object of each list once, and each condition twice, as true and as
// false.
namespace tacho::schema {

template <typename Out>
constexpr bool kReads = std::remove_cvref_t<Out>::kReads;
template <typename Out>
constexpr bool kDescribes = requires {
  std::remove_cvref_t<Out>::kDescribes;
};

// Whether a condition on the data holds. With a describer, the describer decides.
template <typename Out>
bool Holds(const Out& out, bool condition) {
  if constexpr (kDescribes<Out>) return out.VisitsOptional();
  return condition;
}

// Whether an optional field is present. A reader looks into its input; a writer uses `has`.
template <typename Out>
bool IsThere(const Out& out, std::string_view key, bool has) {
  if constexpr (kReads<Out>) return out.Has(key);
  return Holds(out, has);
}

// When reading or describing: creates the value of an optional member, so that its fields can be
// filled in. Does nothing when writing.
template <typename Out>
void Ensure(const Out&, auto& member) {
  if constexpr (kReads<Out> || kDescribes<Out>) member.emplace();
}

}  // namespace tacho::schema
