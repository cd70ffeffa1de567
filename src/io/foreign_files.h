#pragma once

#include <string>
#include <string_view>

namespace tacho {

// Whether a file that begins with `start` is a Git LFS pointer: three short lines of text in place
// of a large file that was not fetched.
bool IsLfsPointer(std::string_view start);

// For another tool's profile, recognised by its first bytes: what the file is, and how to get a
// trace that tacho reads ("is an XPlane profile of JAX or TensorFlow: ..."). "" for other files.
std::string ForeignProfile(std::string_view start);

// The same for tables and other files that often lie beside traces.
std::string ForeignFile(std::string_view start);

// The same for a SQLite database, recognised by the names of its tables. `tables`: its schema, or
// the start of the file, which holds the schema.
std::string ForeignDatabase(std::string_view tables);

// What to do about a Git LFS pointer. Tells the size of the file that is missing here.
std::string LfsRemedy(std::string_view pointer);

}  // namespace tacho
