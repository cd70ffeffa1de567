#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "base/time.h"

namespace tacho {

// Kinds of fields of a document that one description writes and reads: templates over JsonWriter
// (text/json_writer.h) and JsonReader (io/json_reader.h), which call the same functions in the same
// order. Each refers to a member, which is const when it is written.

// Follows from other fields: written, and skipped by a reader.
template <typename T>
struct Derived {
  explicit Derived(const T& of) : value(of) {}
  const T& value;
};

// Absent where it has the value that means "not known".
template <typename T, typename Unknown>
struct UnlessIs {
  UnlessIs(T& of, Unknown not_known) : value(of), unknown(not_known) {}
  T& value;
  Unknown unknown;
};

// A value of an enumeration by its name; `count` values from 0 on have names.
template <typename Enum>
struct ByName {
  using NameOf = std::string_view (*)(std::remove_const_t<Enum>);
  ByName(Enum& of, NameOf name_of, size_t names) : value(of), name(name_of), count(names) {}
  Enum& value;
  NameOf name;
  size_t count;
};

// A duration that may be negative.
template <typename T>
struct Signed {
  explicit Signed(T& of) : value(of) {}
  T& value;
};

// The length of an interval whose start is a field before it.
template <typename T>
struct LengthOf {
  explicit LengthOf(T& of) : interval(of) {}
  T& interval;
};

}  // namespace tacho
