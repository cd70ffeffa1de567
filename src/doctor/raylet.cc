#include "doctor/raylet.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/ancestors.h"
#include "base/words.h"
#include "control/live/port_owner.h"
#include "control/version.h"
#include "io/content_kind.h"
#include "io/read_whole.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRaylets = 16, kMostFiles = 4'096, kMostVersion = 64 << 10;
// Ray kills the groups of workers where its environment says so from the first version on, and by
// default from the second on.
const Version kKnowsGroups{{2, 50}}, kKillsByDefault{{2, 57}};
// Every report begins with the words that KindOf knows, and ends with these. A cut one has a valid
// beginning, but no nsys can read it.
constexpr std::string_view kReportEnd = "[END]";

std::string_view BaseNameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The value in "--NAME=VALUE". Ray writes these names with '_' as well as with '-'.
std::string RayletOption(const std::vector<std::string>& words, std::string_view name) {
  for (const std::string& word : words) {
    const size_t end = word.find('=');
    if (!word.starts_with("--") || end == word.npos) continue;
    std::string own = word.substr(2, end - 2);
    std::ranges::replace(own, '-', '_');
    if (own == name) return word.substr(end + 1);
  }
  return "";
}

// Opens a regular file only: to open a pipe could last for ever.
std::ifstream OpenRegular(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) ? std::ifstream(path, std::ios::binary)
                                           : std::ifstream();
}

// The version of the Ray whose raylet is this program: PACKAGE/core/src/ray/raylet/raylet.
std::string RayVersionOf(const std::string& raylet) {
  constexpr std::string_view kBefore = "version = \"";
  fs::path package(raylet);
  for (int i = 0; i < 5; ++i) package = package.parent_path();
  const std::string path = package / "_version.py";
  std::error_code failed;
  if (!package.is_absolute() || !fs::is_regular_file(path, failed)) return "";
  std::istringstream lines(ReadWholeFile(path, kMostVersion).value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kBefore)) {
      const std::string version =
          line.substr(kBefore.size(), line.find('"', kBefore.size()) - kBefore.size());
      return IsVersion(version) ? version : "";
    }
  return "";
}

// Whether the words are those of a worker of Ray, which names itself "ray::CLASS" once it is ready.
bool IsRayWorker(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  return words.front().starts_with("ray::") ||
         (BaseNameOf(words.front()).starts_with("python") &&
          std::ranges::any_of(words, [](const std::string& word) {
            return BaseNameOf(word) == "default_worker.py";
          }));
}

bool WritesReports(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size() && i < 2; ++i) {  // a script comes after its interpreter
    const std::string_view name = BaseNameOf(words[i]);
    if (name == "QdstrmImporter" ||
        (name == "nsys" && i + 1 < words.size() && words[i + 1] == "profile"))
      return true;
  }
  return false;
}

// What is wrong with a report; "": it is whole. nullopt: it is not there, or may not be read.
std::optional<std::string_view> DamageOf(const fs::path& report) {
  std::ifstream file = OpenRegular(report);
  if (!file.is_open()) return std::nullopt;
  std::array<char, 64> begin{};
  file.read(begin.data(), begin.size());
  const std::string_view start(begin.data(), static_cast<size_t>(file.gcount()));
  if (start.empty()) return "is empty";
  if (KindOf(start) != ContentKind::kNsysReport) return "is no report";
  std::array<char, kReportEnd.size()> end{};
  file.clear();
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(end.data(), end.size());
  return std::string_view(end.data(), end.size()) == kReportEnd ? "" : "has no end";
}

}  // namespace

std::optional<Raylet> RayletOf(const std::vector<std::string>& words,
                               const std::vector<std::string>& settings) {
  Raylet raylet;
  raylet.session = RayletOption(words, "session_dir");
  if (words.empty() || BaseNameOf(words.front()) != "raylet" || !raylet.session.starts_with('/'))
    return std::nullopt;
  const std::string command = RayletOption(words, "python_worker_command");
  std::string_view rest = command;
  if (const std::string_view python = TakeWord(rest); python.starts_with('/'))
    raylet.python = python;  // a path with blanks is in quotes, and stays unknown
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == setting.npos) continue;
    const std::string_view name = std::string_view(setting).substr(0, equals);
    if (name == "PATH") raylet.path = setting.substr(equals + 1);
    if (name == "RAY_process_group_cleanup_enabled")
      raylet.group_cleanup = setting.substr(equals + 1);
  }
  return raylet;
}

std::vector<Raylet> RayletsHere() {
  std::vector<Raylet> raylets;
  for (const int64_t pid : AllPids()) {
    const std::vector<std::string> words = WordsOf(pid);
    if (!RayletOf(words, {})) continue;
    const std::vector<std::string> settings = SettingsOf(pid);
    auto raylet = RayletOf(words, settings);
    raylet->pid = pid;
    if (settings.empty())
      raylet->cannot = "it is another user's";
    else if (!SeesOurFiles(pid))
      raylet->cannot = "it has other files, as in a container: run tacho doctor there";
    else
      raylet->version = RayVersionOf(words.front());
    raylets.push_back(std::move(*raylet));
    if (raylets.size() == kMostRaylets) break;
  }
  return raylets;
}

bool KillsGroups(const Raylet& raylet) {
  const auto version = ParseVersion(raylet.version);
  if (version && *version < kKnowsGroups) return false;
  if (raylet.group_cleanup) {
    const std::string value = AsciiLowered(*raylet.group_cleanup);
    return value == "1" || value == "true";  // to Ray anything else means no
  }
  return !version || *version >= kKillsByDefault;
}

std::vector<NsysRun> NsysRunsInto(const std::string& folder) {
  std::vector<NsysRun> runs;
  std::vector<int64_t> workers;
  for (const int64_t pid : AllPids()) {
    const std::vector<std::string> words = WordsOf(pid);
    const bool names_folder = std::ranges::any_of(
        words, [&](const std::string& word) { return word.find(folder + "/") != word.npos; });
    if (names_folder && WritesReports(words))
      runs.push_back({pid});
    else if (IsRayWorker(words))
      workers.push_back(pid);
  }
  for (const int64_t worker : workers)
    for (const int64_t ancestor : AncestorsOf(worker))
      for (NsysRun& run : runs)
        if (run.pid == ancestor) {
          run.records = true;
          run.shares_group |=
              getpgid(static_cast<pid_t>(worker)) == getpgid(static_cast<pid_t>(run.pid));
        }
  return runs;
}

std::optional<ReportFolder> ReportsIn(const std::string& folder) {
  std::error_code failed;
  fs::directory_iterator files(folder, failed);
  if (failed) return std::nullopt;
  ReportFolder reports;
  size_t looked = 0;
  for (; files != fs::directory_iterator(); files.increment(failed)) {
    if (++looked > kMostFiles) {
      reports.all = false;
      break;
    }
    const fs::path& path = files->path();
    const std::string name = path.filename().string();
    if (name.starts_with("empty.")) continue;
    if (path.extension() == ".nsys-rep") {
      const auto damage = DamageOf(path);
      if (damage && damage->empty()) ++reports.whole;
      if (damage && !damage->empty())
        reports.damaged.push_back(fmt::format("{} {}", name, *damage));
    } else if (path.extension() == ".qdstrm" &&
               DamageOf(fs::path(path).replace_extension(".nsys-rep")) != "") {
      reports.raw.push_back(path.string());
    }
  }
  std::ranges::sort(reports.damaged);
  std::ranges::sort(reports.raw);
  return reports;
}

}  // namespace tacho
