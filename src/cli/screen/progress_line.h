#pragma once

#include <cstdint>
#include <string>

#include "text/text_style.h"

namespace tacho {

// The lines that show how far reading has come: in the terminal (progress_bar.h), and in Python.

// `total`: bytes of all files; 0: not known.
std::string ProgressLine(uint64_t done, uint64_t total, uint64_t files, double seconds,
                         const TextStyle& style);
// While another program converts a file. `exporting`: "FILE with nsys 2022.4.2.1".
std::string ExportLine(const std::string& exporting, double share, double seconds);
// Once all is read.
std::string ReadLine(uint64_t bytes, double seconds);

}  // namespace tacho
