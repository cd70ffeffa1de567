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

// Opens a regular file, a FIFO or, for "-", a copy of standard input for reading. Devices are
// refused before they are opened, because opening can have effects. Errors begin with `path`.
Result<OpenedFile> OpenForReading(const std::string& path);

// Why a path of this type is not read ("is a folder ..."); "" for a regular file and a FIFO.
std::string WhyNotReadable(mode_t mode);

}  // namespace tacho
