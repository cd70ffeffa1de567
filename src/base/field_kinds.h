#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "base/time.h"

namespace tacho {

// Kinds of fields of a document. The same template writes and reads a document: it makes the same
// calls, in the same order, to a JsonWriter (text/json_writer.h) or a JsonReader
// (io/json_reader.h). Each kind holds a reference to a member, which is const for a writer.

// The name of a field and its meaning. The meaning is a noun phrase in Markdown that tells what the
// field holds. Writer and reader use the name; tools/docs prints the meaning. If the name comes
// from the data, the meaning is empty.
// NOLINTBEGIN(google-explicit-constructor): a plain name is allowed where a Key is expected
struct Key {
  constexpr Key(std::string_view the_name, std::string_view meaning = {})
      : name(the_name), means(meaning) {}
  constexpr Key(const char* the_name, std::string_view meaning = {})
      : name(the_name), means(meaning) {}
  constexpr operator std::string_view() const { return name; }
  std::string_view name, means;
};
// NOLINTEND(google-explicit-constructor)

// A field that follows from other fields: a writer writes it, a reader skips it.
template <typename T>
struct Derived {
  explicit Derived(const T& of) : value(of) {}
  const T& value;
};

// A field that is left out if its value is `unknown`.
template <typename T, typename Unknown>
struct UnlessIs {
  UnlessIs(T& of, Unknown not_known) : value(of), unknown(not_known) {}
  T& value;
  Unknown unknown;
};

// A value of an enumeration, written as its name. The values 0 to `count` - 1 have names.
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

// The length of an interval; its start was written or read in an earlier field.
template <typename T>
struct LengthOf {
  explicit LengthOf(T& of) : interval(of) {}
  T& interval;
};

}  // namespace tacho
