#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace tacho {

// Whether the text is one JSON value by strict rules. Other programs' readers require that.
bool IsJson(std::string_view text);

// Writes the arguments of events as valid JSON. The arguments in a trace are as in its file and may
// be invalid: NaN, bytes that are not UTF-8, raw control characters. Checks each shape and each
// text only once. Memory: a byte for each of these.
class ValidArgs {
 public:
  explicit ValidArgs(const Trace& trace)
      : trace_(trace),
        shapes_(trace.words.args_shapes().size()),
        texts_(trace.words.strings.size()) {}

  // The arguments as in the file if they are valid. Otherwise rebuilt key by key: a value that is
  // not JSON ("NaN") becomes a string. "" for an event without arguments.
  std::string Json(const ArgsOf& args);

 private:
  enum class Known : uint8_t { kNot, kValid, kInvalid };
  bool ShapeIsValid(ArgsShapeId id);
  bool TextsAreValid(const ArgsOf& args);

  const Trace& trace_;
  std::vector<Known> shapes_;  // indexed by ArgsShapeId
  std::vector<Known> texts_;   // indexed by StringId
};

}  // namespace tacho
