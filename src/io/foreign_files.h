#pragma once

#include <string>
#include <string_view>

namespace tacho {

// A pointer that Git LFS leaves where a large file was not fetched: three short lines of text.
bool IsLfsPointer(std::string_view start);

// Profiles of other tools, by what stands in their first bytes: what the file is, and how to get a
// trace that tacho reads ("is an XPlane profile of JAX or TensorFlow: ..."). "" for all others.
std::string ForeignProfile(std::string_view start);

// The same of tables and of what else lies beside traces.
std::string ForeignFile(std::string_view start);

// The same of an SQLite database, by names of tables in `tables`: its schema, or the start of the
// file that holds the schema.
std::string ForeignDatabase(std::string_view tables);

// What is to be done about a pointer of Git LFS: with the size of the file that is not here.
std::string LfsRemedy(std::string_view pointer);

}  // namespace tacho
