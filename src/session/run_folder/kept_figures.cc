#include "session/run_folder/kept_figures.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/parse_json.h"
#include "base/replace_file.h"
#include "control/version.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostKinds = 64, kMostInstances = 64;
constexpr int64_t kMostBytes = 1 << 20;
constexpr double kMostFigure = 1e18;
constexpr int64_t kMostForLockNs = 1'000'000'000;
constexpr std::chrono::milliseconds kLookAtLock{10};

struct Field {
  const char* name;
  double ProfileFigures::*figure;
};
constexpr Field kFields[] = {
    {"steps", &ProfileFigures::steps},       {"events", &ProfileFigures::events},
    {"bytes", &ProfileFigures::bytes},       {"window_ns", &ProfileFigures::window_ns},
    {"flush_ns", &ProfileFigures::flush_ns}, {"table_ns", &ProfileFigures::table_ns}};

std::string Folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return std::string(state) + "/tacho";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.local/state/tacho";
  return "";
}

// Reads the kinds of engine that were kept, in the order of their last recordings. Each entry has
// "key", "figures" and "instances".
OrderedJson ReadKinds(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return OrderedJson::array();
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<int64_t>(file.tellg());
  if (!file || size > kMostBytes) return OrderedJson::array();
  std::string text(static_cast<size_t>(size), '\0');
  file.seekg(0);
  file.read(text.data(), size);
  OrderedJson json = ParseOrderedJson(text);
  if (!json.is_object() || !json.contains("kinds") || !json["kinds"].is_array())
    return OrderedJson::array();
  return std::move(json["kinds"]);
}

bool IsOf(const OrderedJson& kind, const std::string& key) {
  return kind.is_object() && kind.contains("key") && kind["key"] == key;
}

std::vector<std::string> InstancesOf(const OrderedJson& kind) {
  std::vector<std::string> instances;
  if (kind.contains("instances") && kind["instances"].is_array())
    for (const OrderedJson& one : kind["instances"])
      if (one.is_string()) instances.push_back(one.get<std::string>());
  return instances;
}

// Returns false if the lock is not free soon. Another tacho holds it for milliseconds only, unless
// it was suspended.
bool LockSoon(int folder, Clock& clock) {
  const int64_t until_ns = clock.NowNs() + kMostForLockNs;
  while (flock(folder, LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || clock.NowNs() > until_ns) return false;
    clock.Pause({}, kLookAtLock);
  }
  return true;
}

bool IsFigure(double value) { return std::isfinite(value) && value >= 0 && value < kMostFigure; }

}  // namespace

bool KeptFigures::Knows(std::string_view instance) const {
  return !instance.empty() &&
         std::find(instances.begin(), instances.end(), instance) != instances.end();
}

std::string FiguresKey(const EngineFacts& facts, const ProfileOptions& options,
                       std::string_view via) {
  std::string key =
      fmt::format("{} {} {} {} tp={} pp={}", NameOf(facts.kind), facts.version, facts.model, via,
                  facts.tensor_parallel.value_or(0), facts.pipeline_parallel.value_or(0));
  const ProfilerFacts& profiler = facts.profiler;
  const auto flag = [&](std::string_view name, const std::optional<bool>& value) {
    if (value) key += fmt::format(" {}={}", name, *value ? 1 : 0);
  };
  flag("stack", profiler.with_stack);
  flag("shapes", profiler.record_shapes);
  flag("gzip", profiler.use_gzip);
  flag("table", profiler.dump_table);
  for (const auto& [name, value] : options.fields)
    if (name != "profile_prefix" && name != "delay_iterations")
      key += fmt::format(" {}:{}", name, value);
  return key;
}

std::optional<KeptFigures> FindFigures(const std::string& key) {
  const std::string folder = Folder();
  if (folder.empty()) return std::nullopt;
  for (const OrderedJson& kind : ReadKinds(folder + "/profiles.json")) {
    if (!IsOf(kind, key) || !kind.contains("figures")) continue;
    KeptFigures kept;
    for (const Field& field : kFields) {
      const OrderedJson& figures = kind["figures"];
      if (!figures.is_object() || !figures.contains(field.name) || !figures[field.name].is_number())
        return std::nullopt;
      kept.figures.*field.figure = figures[field.name].get<double>();
      if (!IsFigure(kept.figures.*field.figure)) return std::nullopt;
    }
    if (kept.figures.bytes <= 0) return std::nullopt;
    // Older entries lack the fixed part.
    if (const OrderedJson fixed = kind["figures"].value("fixed_ns", OrderedJson());
        fixed.is_number() && IsFigure(fixed.get<double>()))
      kept.figures.fixed_ns = std::min(fixed.get<double>(), kept.figures.flush_ns);
    if (kind.contains("unix_s") && kind["unix_s"].is_number_integer())
      kept.unix_s = kind["unix_s"].get<int64_t>();
    kept.instances = InstancesOf(kind);
    return kept;
  }
  return std::nullopt;
}

void KeepFigures(const std::string& key, const ProfileFigures& figures, const std::string& instance,
                 int64_t unix_s, Clock& clock) {
  const std::string folder = Folder();
  if (folder.empty() || !(figures.bytes > 0) || !(figures.window_ns > 0)) return;
  std::error_code failed;
  fs::create_directories(folder, failed);
  // Only one tacho writes at a time; without the lock nothing is kept.
  const FileDescriptor lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || !LockSoon(lock.get(), clock)) return;
  const std::string path = folder + "/profiles.json";
  OrderedJson kept = OrderedJson::array();
  OrderedJson entry = {{"key", key}};
  for (const Field& field : kFields) entry["figures"][field.name] = figures.*field.figure;
  entry["figures"]["fixed_ns"] = figures.fixed_ns;
  entry["unix_s"] = unix_s;
  std::vector<std::string> instances;
  for (OrderedJson& kind : ReadKinds(path)) {
    if (!IsOf(kind, key))
      kept.push_back(std::move(kind));
    else
      instances = InstancesOf(kind);
  }
  std::erase(instances, instance);
  if (!instance.empty()) instances.push_back(instance);
  if (instances.size() > kMostInstances)
    instances.erase(instances.begin(), instances.end() - kMostInstances);
  entry["instances"] = instances;
  kept.push_back(std::move(entry));
  while (kept.size() > kMostKinds) kept.erase(0);
  // If this fails, the next recording measures again.
  (void)ReplaceFile(path, OrderedJson{{"schema", 1}, {"kinds", kept}}.dump(
                              1, ' ', false, OrderedJson::error_handler_t::replace) +
                              '\n');
}

}  // namespace tacho
