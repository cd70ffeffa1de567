#pragma once

#include <sys/stat.h>

#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

struct OpenedFile {
  FileDescriptor file;
  struct stat status = {};
};

// Opens a regular file, a FIFO or, for "-", a copy of standard input for reading. Refuses a device
// before opening it, because opening one can have effects. Errors begin with `path`.
Result<OpenedFile> OpenForReading(const std::string& path);

// Why a path of this type cannot be read ("is a folder ..."); "" for a regular file or a FIFO.
std::string WhyNotReadable(mode_t mode);

}  // namespace tacho
