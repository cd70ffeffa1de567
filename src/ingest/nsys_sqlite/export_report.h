#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/temporary_folder.h"

namespace tacho {

// A SQLite export. Its files are removed together with this object.
struct NsysExport {
  TemporaryFolder folder;
  std::string path;
};

struct NsysExportOptions {
  bool is_stream = false;  // the report is a .qdstrm file, which nsys's importer must convert first
  std::stop_token stop = {};
  // Called with a text such as "nsys 2022.4.2.1" once the program is known. May be empty, like
  // on_share.
  std::function<void(const std::string& program)> on_begin = {};
  // Called with the share (0..1) that has been exported so far.
  std::function<void(double share)> on_share = {};
};

// Lets the newest nsys on this machine export a report (.nsys-rep) into a temporary folder. Ends
// nsys, with its process group, when `stop` is requested or after 10 minutes plus a second per
// megabyte of the report. The disk must have room for at least four times the report's size.
//
// kUnreadable, with the command to run elsewhere: there is no nsys, no importer or no room, or nsys
// failed (the error then quotes it). kInterrupted: a stop was requested.
Result<NsysExport> ExportNsysReport(const std::string& report, const NsysExportOptions& options);

// The version of the nsys that recorded a report, such as "2025.5.1". `start`: the report's first
// bytes. "" if they do not hold it.
std::string NsysRecorderOf(std::string_view start);

}  // namespace tacho
