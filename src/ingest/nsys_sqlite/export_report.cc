#include "ingest/nsys_sqlite/export_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/drawn_share.h"
#include "base/parse_number.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "ingest/nsys_sqlite/nsys_program.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kGrace{3'000};
constexpr int64_t kLeastPatienceMs = 600'000, kPatienceMsAMegabyte = 1'000;
constexpr uint64_t kRoom = 4;  // free space needed, as a multiple of the report's size

// The command to run on a machine where the report can be exported.
std::string CommandFor(const std::string& report, bool is_stream) {
  return is_stream ? "QdstrmImporter -i FILE.qdstrm -o FILE.nsys-rep, then nsys export --type "
                     "sqlite -o FILE.sqlite FILE.nsys-rep"
                   : fmt::format("nsys export --type sqlite -o {} {}",
                                 fs::path(report).filename().replace_extension(".sqlite").string(),
                                 fs::path(report).filename().string());
}

std::string StartOf(const std::string& path) {
  std::string start(256, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return start;
}

// Runs one of nsys's programs to its end, and reports the progress that the program shows.
Result<void> RunToItsEnd(SubprocessOptions options, const std::function<void(double)>& on_share) {
  TACHO_ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start(std::move(options)));
  std::array<char, 4096> text;
  std::string line;
  while (const size_t got = process.Read(text.data(), text.size())) {
    line.append(text.data(), got);
    constexpr size_t kLongestLine = 512;
    if (line.size() > kLongestLine) line.erase(0, line.size() - kLongestLine);
    if (const auto share = LastShareIn(line); on_share && share) on_share(*share);
  }
  return process.Finish();
}

Result<void> HasRoom(const std::string& folder, uint64_t report_size) {
  std::error_code error;
  const uint64_t room = fs::space(folder, error).available;
  if (error || room / kRoom >= report_size) return {};
  return Fail(ErrorKind::kUnreadable,
              fmt::format("{} has {} MB of room for its export, which needs 4 times the report's "
                          "size: set TMPDIR to a folder with more",
                          fs::path(folder).parent_path().string(), room / 1'000'000));
}

}  // namespace

std::string NsysRecorderOf(std::string_view start) {
  constexpr std::string_view kBefore = "NVIDIA Tegra Profiler Report ";
  if (!start.starts_with(kBefore)) return "";
  start.remove_prefix(kBefore.size());
  std::string version;
  for (int i = 0; i < 3; ++i) {
    const size_t digits =
        static_cast<size_t>(std::ranges::find_if_not(start, IsDigit) - start.begin());
    if (digits == 0 || digits >= start.size() || start[digits] != '@') return "";
    version += (i == 0 ? "" : ".") + std::string(start.substr(0, digits));
    start.remove_prefix(digits + 1);
  }
  return version;
}

Result<NsysExport> ExportNsysReport(const std::string& report, const NsysExportOptions& options) {
  const std::string what = options.is_stream
                               ? "is a raw recording of Nsight Systems that was never made a report"
                               : "is an Nsight Systems report";
  const std::string recorder = options.is_stream ? "" : NsysRecorderOf(StartOf(report));
  const std::string at_least = recorder.empty() ? "" : fmt::format(" ({} or later)", recorder);
  const std::string elsewhere = fmt::format("run this where a newer one is{}: {}", at_least,
                                            CommandFor(report, options.is_stream));
  const auto interrupted = [&] { return options.stop.stop_requested(); };
  const auto nsys = FindNsys(options.stop);
  if (interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted");
  if (!nsys) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}, which only nsys can open, and no nsys was found here (in PATH, "
                            "/opt/nvidia and /usr/local/cuda*): run this where one is{}, and give "
                            "tacho the file that it makes: {}",
                            what, at_least, CommandFor(report, options.is_stream)));
  }
  const std::string importer = options.is_stream ? FindImporter(*nsys) : "";
  if (options.is_stream && importer.empty()) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}, and the QdstrmImporter of {} was not found: {}", what, nsys->path,
                            elsewhere));
  }
  TACHO_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Make());
  std::error_code error;
  const uint64_t size = fs::file_size(report, error);
  TACHO_RETURN_IF_ERROR(WithContext(HasRoom(folder.path(), size), what));
  if (options.on_begin) options.on_begin("nsys " + nsys->version);
  const milliseconds patience{kLeastPatienceMs +
                              kPatienceMsAMegabyte * static_cast<int64_t>(size / 1'000'000)};
  std::string from = fs::absolute(report, error).string();
  const auto run = [&](std::vector<std::string> arguments,
                       const std::string& name) -> Result<void> {
    const auto ran = RunToItsEnd({.arguments = std::move(arguments),
                                  .name = name,
                                  .patience = patience,
                                  .grace = kGrace,
                                  .stop = options.stop},
                                 options.on_share);
    if (interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted");
    if (ran) return {};
    return Fail(ErrorKind::kUnreadable, fmt::format("{}, which {} could not export ({}): {}", what,
                                                    nsys->path, ran.error().message, elsewhere));
  };
  if (options.is_stream) {
    const std::string made = folder.At("imported.nsys-rep");
    TACHO_RETURN_IF_ERROR(run({importer, "-i", from, "-o", made}, "QdstrmImporter"));
    from = made;
  }
  std::string path = folder.At("exported.sqlite");
  TACHO_RETURN_IF_ERROR(run({nsys->path, "export", "--type", "sqlite", "--output", path, from},
                            "nsys " + nsys->version));
  if (!fs::is_regular_file(path, error)) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}, and {} made no export of it: {}", what, nsys->path, elsewhere));
  }
  return NsysExport{std::move(folder), std::move(path)};
}

}  // namespace tacho
