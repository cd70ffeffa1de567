#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/temporary_folder.h"

namespace tacho {

// A SQLite export that is removed with the object.
struct NsysExport {
  TemporaryFolder folder;
  std::string path;
};

struct NsysExportOptions {
  bool is_stream = false;  // a .qdstrm file, which its importer makes a report of first
  std::stop_token stop = {};
  // Called once the program is known, as "nsys 2022.4.2.1". Optional, like the next.
  std::function<void(const std::string& program)> on_begin = {};
  // The share that is exported.
  std::function<void(double share)> on_share = {};
};

// Lets the newest nsys of this machine export a report (.nsys-rep) into a temporary folder. nsys is
// ended, with its process group, when `stop` is requested or after 10 minutes and a second for each
// megabyte of the report. It must have room for four times the report's size, at least.
//
// kUnreadable, with the command to run elsewhere: there is no nsys, no importer, or no room, or it
// failed, in its own words. kInterrupted: a stop was requested.
Result<NsysExport> ExportNsysReport(const std::string& report, const NsysExportOptions& options);

// The version of the nsys that recorded, from the first bytes of a report: "2025.5.1"; "" where
// they do not say.
std::string NsysRecorderOf(std::string_view start);

}  // namespace tacho
