#include "launch/launch_registry.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/replace_file.h"
#include "control/live/port_owner.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kEnding = ".launch";
constexpr size_t kMostBytes = 1 << 20, kMostLaunches = 1000, kLongestName = 64;

Result<std::string> PathOf(const std::string& name) {
  return RuntimeFolder().map(
      [&](const std::string& folder) { return fmt::format("{}/{}{}", folder, name, kEnding); });
}

std::string TextOf(const LaunchRecord& record) {
  Json servers = Json::array();
  for (const LaunchRecord::Server& s : record.servers)
    servers.push_back({{"name", s.name},
                       {"url", s.url},
                       {"log", s.log},
                       {"traces", s.traces},
                       {"pid", s.pid},
                       {"keeper", s.keeper},
                       {"keeper_ticks", s.keeper_ticks}});
  const Json json{{"name", record.name},          {"engine", record.engine},
                  {"version", record.version},    {"preset", record.preset},
                  {"folder", record.folder},      {"url", record.url},
                  {"begun", record.begun_unix_s}, {"servers", servers}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Returns nullopt if the file does not have the form of TextOf.
std::optional<LaunchRecord> Read(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMostBytes || error) return std::nullopt;
  std::ifstream file(path);
  try {
    const Json json = Json::parse(file);
    LaunchRecord record;
    record.name = json.at("name");
    record.engine = json.at("engine");
    record.version = json.at("version");
    record.preset = json.at("preset");
    record.folder = json.at("folder");
    record.url = json.at("url");
    record.begun_unix_s = json.at("begun");
    for (const Json& s : json.at("servers"))
      record.servers.push_back({s.at("name"), s.at("url"), s.at("log"), s.at("traces"), s.at("pid"),
                                s.at("keeper"), s.at("keeper_ticks")});
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::vector<fs::path> RecordFiles() {
  std::vector<fs::path> paths;
  const auto folder = RuntimeFolder();
  if (!folder) return paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(*folder, error))
    if (entry.path().extension() == kEnding && paths.size() < kMostLaunches)
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

bool HasEnded(const fs::path& path) {
  const std::optional<LaunchRecord> record = Read(path);
  return record && KeepersOf(*record).empty();
}

Result<SessionLock> LockName(const std::string& name) {
  return SessionLock::Take({"launch " + name}, "tacho launch");
}

}  // namespace

std::vector<std::string> LaunchRecord::targets() const {
  std::vector<std::string> urls;
  for (const Server& server : servers) {
    if (server.traces.empty()) return {server.url};
    urls.push_back(server.url);
  }
  return urls;
}

Result<void> CheckLaunchName(const std::string& name) {
  const bool fits = !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
                    std::ranges::all_of(name, [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                    });
  if (fits) return {};
  return Fail(ErrorKind::kUsage,
              fmt::format("--name: at most {} letters, digits, '.', '_' and '-'", kLongestName));
}

Result<TakenName> TakeLaunchName(const std::string& asked, const std::string& engine) {
  if (!asked.empty()) TACHO_RETURN_IF_ERROR(CheckLaunchName(asked));
  ForgetEndedLaunches();
  for (size_t i = 1;; ++i) {
    std::string name = i == 1 ? engine : fmt::format("{}-{}", engine, i);
    if (!asked.empty()) name = asked;
    TACHO_ASSIGN_OR_RETURN(const std::string path, PathOf(name));
    auto lock = LockName(name);
    if (!lock && lock.error().kind == ErrorKind::kOutput)
      return tl::unexpected<Error>(lock.error());
    std::error_code error;
    if (lock && !fs::exists(path, error)) return TakenName{name, *std::move(lock)};
    if (asked.empty()) continue;
    const std::string text = fmt::format("--name {}: a launch of that name ", name);
    if (!lock) return Fail(ErrorKind::kUsage, text + "is just beginning");
    const auto other = Read(path);
    if (!other)
      return Fail(ErrorKind::kUsage, fmt::format("{}has an unreadable record, {}", text, path));
    return Fail(ErrorKind::kUsage,
                fmt::format("{}runs at {}: tacho launch stop {}", text, other->url, name));
  }
}

Result<void> KeepLaunch(const LaunchRecord& record) {
  TACHO_ASSIGN_OR_RETURN(const std::string path, PathOf(record.name));
  return ReplaceFile(path, TextOf(record), S_IRUSR | S_IWUSR);
}

std::vector<int64_t> KeepersOf(const LaunchRecord& record) {
  std::vector<int64_t> keepers;
  for (const LaunchRecord::Server& server : record.servers)
    if (server.keeper > 1 && server.keeper_ticks != 0 &&
        StartTicksOf(server.keeper) == server.keeper_ticks)
      keepers.push_back(server.keeper);
  return keepers;
}

std::vector<LaunchRecord> RunningLaunches() {
  std::vector<LaunchRecord> running;
  for (const fs::path& path : RecordFiles()) {
    std::optional<LaunchRecord> record = Read(path);
    if (record && !KeepersOf(*record).empty()) running.push_back(*std::move(record));
  }
  return running;
}

void ForgetEndedLaunches() {
  for (const fs::path& path : RecordFiles()) {
    if (!HasEnded(path)) continue;
    // Checks again under the lock: a launch that takes this name may just have replaced the record.
    const auto lock = LockName(path.stem().string());
    std::error_code ignored;
    if (lock && HasEnded(path)) fs::remove(path, ignored);
  }
}

}  // namespace tacho
