#include "doctor/doctor_ray.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/find_program.h"
#include "text/format_number.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostNamed = 3;  // of damaged reports
constexpr size_t kMostRaw = 20;

// What keeps a report from the end of its worker.
constexpr std::string_view kKeepReports =
    "RAY_process_group_cleanup_enabled=0 ray start ..., on each node; or end the capture while "
    "the worker lives: \"capture-range\": \"cudaProfilerApi\", \"capture-range-end\": \"stop\" in "
    "its "
    "nsight options, with vLLM's profiler cuda";

std::string RayletName(const Raylet& raylet) {
  return fmt::format("raylet, process {}", raylet.pid);
}

// "PATH=DIR:$PATH ray start ...".
std::string WithFolderOnPath(const std::string& folder) {
  return fmt::format("PATH={}:$PATH ray start ..., on this node", ShellWord(folder));
}

// Whether two paths are one Python: the same program, or `python` and `python3` of one folder. A
// virtual environment's program is a link to that of another Python, and not the same.
bool IsOnePython(const fs::path& one, const fs::path& other) {
  std::error_code failed;
  if (fs::equivalent(one.parent_path(), other.parent_path(), failed)) return true;
  const auto is_virtual = [&](const fs::path& program) {
    return fs::exists(program.parent_path().parent_path() / "pyvenv.cfg", failed);
  };
  return !is_virtual(one) && !is_virtual(other) && fs::equivalent(one, other, failed);
}

// A script may choose any Python, as the shims of pyenv do.
bool IsScript(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  char first = 0, second = 0;
  return file.get(first) && file.get(second) && first == '#' && second == '!';
}

void CheckNsysOnPath(const Raylet& raylet, const std::string& nsys, Examination& examination) {
  examination.Add(
      Finding{FindingId::kRayNoNsys, RayletName(raylet),
              "nsys is not on its PATH: an actor with \"nsight\" in its runtime_env does not start "
              "(RuntimeEnvSetupError: nsight is not installed)",
              nsys.empty() ? "" : WithFolderOnPath(fs::path(nsys).parent_path().string())});
}

// How Ray's own Python becomes the first "python" on the PATH of the raylet. "": it is not known.
std::string PythonRemedy(const Raylet& raylet, bool is_none) {
  if (raylet.python.empty()) return "";
  const fs::path folder = fs::path(raylet.python).parent_path();
  std::vector<std::string> steps;
  if (!IsProgram((folder / "python").string()))
    steps.push_back(fmt::format("ln -s {} {}", ShellWord(raylet.python),
                                ShellWord((folder / "python").string())));
  const std::vector<std::string> on_path =
      ProgramsIn(raylet.path, fs::path(raylet.python).filename().string());
  if (!is_none || std::ranges::find(on_path, raylet.python) == on_path.end())
    steps.push_back(WithFolderOnPath(folder.string()));
  return fmt::format("{}", fmt::join(steps, "; "));
}

void CheckPythonOnPath(const Raylet& raylet, Examination& examination) {
  const std::vector<std::string> programs = ProgramsIn(raylet.path, "python");
  const bool is_none = programs.empty();
  if (!is_none && (raylet.python.empty() || IsOnePython(programs.front(), raylet.python) ||
                   IsScript(programs.front())))
    return;
  examination.Add(Finding{
      FindingId::kRayNoPython, RayletName(raylet),
      is_none
          ? "Ray starts a worker under nsys as \"python\", and no python is on its PATH: the "
            "actor never starts, and whoever waits for it gets no error"
          : fmt::format("Ray starts a worker under nsys as \"python\", which on its PATH is {}, "
                        "not Ray's own {}: without a Ray of its own the actor never starts",
                        programs.front(), raylet.python),
      PythonRemedy(raylet, is_none)});
}

void CheckGroups(const Raylet& raylet, const std::vector<NsysRun>& runs, Examination& examination) {
  const auto shares = std::ranges::find_if(runs, &NsysRun::shares_group);
  const bool records = std::ranges::any_of(runs, &NsysRun::records);
  // What runs now decides it. If nothing does, nobody knows in which group nsys will be.
  if (!KillsGroups(raylet) || (records && shares == runs.end())) return;
  examination.Add(Finding{
      FindingId::kRayKillsNsys, RayletName(raylet),
      fmt::format(
          "{} kills the process group of a worker as soon as the worker has ended "
          "(RAY_process_group_cleanup_enabled is {}). {}",
          raylet.version.empty() ? "Ray" : "Ray " + raylet.version,
          raylet.group_cleanup ? "set" : "not set, which means 1 from Ray 2.57 on",
          shares == runs.end()
              ? std::string("An nsys in that group is killed too, before it has written its report")
              : fmt::format("nsys, process {}, is in that group: it is killed before it has "
                            "written its report",
                            shares->pid)),
      std::string(kKeepReports)});
}

void CheckReports(const Raylet& raylet, const ReportFolder& reports, Examination& examination) {
  const std::vector<std::string>& damaged = reports.damaged;
  if (!damaged.empty()) {
    const size_t named = std::min(damaged.size(), kMostNamed);
    examination.Add(Finding{
        FindingId::kRayReportLost, raylet.ReportFolder(),
        fmt::format(
            "{} of {} of nsys cannot be read: {}{}. nsys was ended before it had written it all, "
            "or had no room",
            damaged.size(), FormatCounted(reports.whole + damaged.size(), "report"),
            fmt::join(damaged.begin(), damaged.begin() + static_cast<std::ptrdiff_t>(named), ", "),
            named < damaged.size() ? fmt::format(" and {} more", damaged.size() - named) : ""),
        KillsGroups(raylet) ? std::string(kKeepReports) : ""});
  }
  for (size_t i = 0; i < std::min(reports.raw.size(), kMostRaw); ++i)
    examination.Add(Finding{FindingId::kNsysNotImported, reports.raw[i],
                            "nsys has not made a report of it: its processes were killed, or its "
                            "importer was not found"});
}

// "DIR: 3 whole reports of nsys, 1 not whole or not yet; nsys still records or writes (process 7)".
std::string ReportsText(const Raylet& raylet, const ReportFolder& reports,
                        const std::vector<NsysRun>& runs) {
  std::string text = fmt::format(
      "{}: {}{} of nsys", raylet.ReportFolder(), reports.all ? "" : "in its first files ",
      reports.whole == 0 ? "no whole report" : FormatCounted(reports.whole, "whole report"));
  if (runs.empty()) return text;
  if (!reports.damaged.empty())
    text += fmt::format(", {} not whole or not yet", reports.damaged.size());
  return text + fmt::format("; nsys still records or writes (process {}{})", runs.front().pid,
                            runs.size() > 1 ? fmt::format(" and {} more", runs.size() - 1) : "");
}

}  // namespace

void ExamineRaylet(const Raylet& raylet, const std::vector<NsysRun>& runs, const std::string& nsys,
                   Examination& examination) {
  const auto saw = [&](std::string at, std::string cannot = "") {
    examination.looked.push_back({Look::kRay, std::move(at), std::move(cannot)});
  };
  if (!raylet.cannot.empty()) return saw(RayletName(raylet), raylet.cannot);
  saw(fmt::format("{}{}", RayletName(raylet),
                  raylet.version.empty() ? "" : ": Ray " + raylet.version));
  if (ProgramsIn(raylet.path, "nsys").empty()) {
    CheckNsysOnPath(raylet, nsys, examination);
  } else {
    CheckPythonOnPath(raylet, examination);
    CheckGroups(raylet, runs, examination);
  }
  auto reports = ReportsIn(raylet.ReportFolder());
  if (!reports) return saw(raylet.ReportFolder(), "it is not there, or may not be read");
  saw(ReportsText(raylet, *reports, runs));
  // While nsys runs, a report without an end may be one that it is still writing.
  if (!runs.empty()) reports->damaged.clear(), reports->raw.clear();
  CheckReports(raylet, *reports, examination);
}

void ExamineRaylets(const std::string& nsys, Examination& examination) {
  for (const Raylet& raylet : RayletsHere())
    ExamineRaylet(raylet, NsysRunsInto(raylet.ReportFolder()), nsys, examination);
}

}  // namespace tacho
