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
  bool is_stream = false;  // a .qdstrm file, which nsys's importer first turns into a report
  std::stop_token stop = {};
  // Called with "nsys 2022.4.2.1" once the program is known. Optional, like on_share.
  std::function<void(const std::string& program)> on_begin = {};
  // Called with the share (0..1) that is exported so far.
  std::function<void(double share)> on_share = {};
};

// Lets the newest nsys of this machine export a report (.nsys-rep) into a temporary folder. nsys is
// ended, with its process group, when `stop` is requested or after 10 minutes and a second for each
// megabyte of the report. The disk must have room for at least four times the report's size.
//
// kUnreadable, with the command to run elsewhere: there is no nsys, no importer or no room, or nsys
// failed (then with its own words). kInterrupted: a stop was requested.
Result<NsysExport> ExportNsysReport(const std::string& report, const NsysExportOptions& options);

// The version of the nsys that recorded a report, from the report's first bytes: "2025.5.1"; "" if
// it is not there.
std::string NsysRecorderOf(std::string_view start);

}  // namespace tacho
