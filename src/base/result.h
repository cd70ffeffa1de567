#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tacho {

// What kind of failure an Error is; each kind has one exit status (see cli/exit_status.h).
enum class ErrorKind {
  kUsage,        // the user asked for something that does not exist or does not fit
  kUnreadable,   // an input cannot be read, or is not what it should be
  kOutput,       // a result cannot be written
  kRemote,       // an engine or a router refused, failed, or did not answer in time
  kInterrupted,  // the user asked to stop
  kBug,          // an invariant of ours does not hold
};

// A failure that ends the job it belongs to. The message names the place (file, byte, flag), what
// was expected, and what to do; it starts in lower case and has no full stop, so that it can be
// prefixed. Defective data is not an Error: it is counted as a Note (model/notes.h).
struct Error {
  ErrorKind kind = ErrorKind::kBug;
  std::string message;

  // Puts `where` in front: "FILE: message".
  [[nodiscard]] Error WithContext(std::string_view where) const {
    return Error{kind, std::string(where) + ": " + message};
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace tacho

// Leaves the enclosing function with the error of `expr`, a Result, if it has one.
#define TACHO_RETURN_IF_ERROR(expr)                                \
  do {                                                             \
    if (auto tacho_status = (expr); !tacho_status.has_value())     \
      return tl::unexpected<::tacho::Error>(tacho_status.error()); \
  } while (false)
