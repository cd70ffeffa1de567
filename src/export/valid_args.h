#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace tacho {

// Whether the text is one JSON value by strict rules, as other readers than ours require.
bool IsJson(std::string_view text);

// Writes the arguments of events as valid JSON. A file, and so its Trace, may hold arguments that
// are not: NaN, bytes that are not UTF-8, raw control characters. Checks each shape and each text
// once. Memory: a byte for each.
class ValidArgs {
 public:
  explicit ValidArgs(const Trace& trace)
      : trace_(trace),
        shapes_(trace.words.args_shapes().size()),
        texts_(trace.words.strings.size()) {}

  // As in the file if that is valid, else rebuilt key by key: a value that is not JSON ("NaN")
  // becomes a string. "" for an event without arguments.
  std::string Json(const ArgsOf& args);

 private:
  enum class Known : uint8_t { kNot, kValid, kInvalid };
  bool ShapeIsValid(ArgsShapeId id);
  bool TextsAreValid(const ArgsOf& args);

  const Trace& trace_;
  std::vector<Known> shapes_;  // by ArgsShapeId
  std::vector<Known> texts_;   // by StringId
};

}  // namespace tacho
