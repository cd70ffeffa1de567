#include "ray/found_files.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>

#include "base/parse_json.h"
#include "io/read_whole.h"
#include "io/trace_sources.h"
#include "net/url.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

FoundFile FileAt(const std::string& path) {
  FoundFile file;
  file.path = path;
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return file;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.bytes = static_cast<uint64_t>(status.st_size);
  file.changed_ns = status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
  return file;
}

FoundPath FindPath(const std::string& path) {
  FoundPath found;
  found.path = path;
  struct stat status = {};
  const bool exists =
      stat(path.c_str(), &status) == 0 || stat(SplitPart(path).first.c_str(), &status) == 0;
  found.absent = !exists && errno == ENOENT;
  const auto traces = LookForTraces({path});
  if (!traces) {
    found.problem = traces.error().message;
    return found;
  }
  if (traces->traces.empty()) {
    found.problem = NothingFound(*traces, {path}).message;
    found.bare = S_ISDIR(status.st_mode);
    for (const Error& failure : traces->failures)
      found.damaged.push_back(FileAt(std::string(failure.Place())));
  }
  for (const TraceSource& source : traces->traces) {
    // An archive has several traces.
    if (found.files.empty() || found.files.back().path != source.path)
      found.files.push_back(FileAt(source.path));
  }
  return found;
}

// Whether the file is on a file system of a disk or of the memory of this host.
bool IsOnOwnDisk(const std::string& path) {
  constexpr unsigned long kXfs = 0x58465342, kZfs = 0x2fc12fc1;  // without a name in magic.h
  constexpr std::array kLocal{static_cast<unsigned long>(EXT4_SUPER_MAGIC),
                              static_cast<unsigned long>(BTRFS_SUPER_MAGIC),
                              static_cast<unsigned long>(F2FS_SUPER_MAGIC),
                              static_cast<unsigned long>(OVERLAYFS_SUPER_MAGIC),
                              static_cast<unsigned long>(TMPFS_MAGIC),
                              kXfs,
                              kZfs};
  struct statfs disk = {};
  return statfs(path.c_str(), &disk) == 0 &&
         std::ranges::find(kLocal, static_cast<unsigned long>(disk.f_type)) != kLocal.end();
}

bool AreOnOwnDisks(const NodeFiles& files) {
  std::set<uint64_t> devices;
  for (const FoundPath& path : files.paths) {
    for (const FoundFile& file : path.files) {
      // To open a pipe could last for ever (CommandOfOwnFiles).
      std::error_code failed;
      if (!std::filesystem::is_regular_file(file.path, failed) ||
          (devices.insert(file.device).second && !IsOnOwnDisk(file.path)))
        return false;
    }
  }
  return true;
}

template <typename T>
T Number(const nlohmann::json& object, std::string_view key) {
  const nlohmann::json& value = JsonMember(object, key);
  return value.is_number_integer() ? value.get<T>() : T{0};
}

std::string Text(const nlohmann::json& object, std::string_view key) {
  const nlohmann::json& value = JsonMember(object, key);
  return value.is_string() ? PercentDecode(value.get<std::string>()) : "";
}

std::vector<FoundFile> FilesIn(const nlohmann::json& list) {
  std::vector<FoundFile> files;
  if (!list.is_array()) return files;
  for (const nlohmann::json& file : list) {
    files.push_back({Text(file, "path"), Number<uint64_t>(file, "device"),
                     Number<uint64_t>(file, "inode"), Number<uint64_t>(file, "bytes"),
                     Number<int64_t>(file, "changed_ns")});
  }
  return files;
}

// The files that earlier nodes have.
struct Taken {
  std::set<std::tuple<std::string, uint64_t, uint64_t>> here;
  std::set<std::tuple<std::string, uint64_t, uint64_t, int64_t>> shared;

  bool Has(const std::string& boot, const FoundFile& f) const {
    return here.contains({boot, f.device, f.inode}) ||
           shared.contains({f.path, f.inode, f.bytes, f.changed_ns});
  }
  void Add(const std::string& boot, const FoundFile& f) {
    here.insert({boot, f.device, f.inode});
    shared.insert({f.path, f.inode, f.bytes, f.changed_ns});
  }
};

}  // namespace

NodeFiles FindFiles(const std::vector<std::string>& paths) {
  NodeFiles files;
  files.boot = ReadWholeFile("/proc/sys/kernel/random/boot_id", 100).value_or("");
  while (files.boot.ends_with('\n')) files.boot.pop_back();
  for (const std::string& path : paths) files.paths.push_back(FindPath(path));
  files.memory = MeasureMemory();
  files.own_disks = AreOnOwnDisks(files);
  return files;
}

std::string FilesJson(const NodeFiles& files) {
  JsonWriter json;
  json.BeginObject();
  json.Fields("boot", files.boot, "memory", files.memory.total, "free_memory", files.memory.free,
              "own_disks", files.own_disks);
  json.Objects("paths", files.paths, [&](const FoundPath& path) {
    json.Fields("path", PercentEncode(path.path), "problem", PercentEncode(path.problem), "absent",
                path.absent, "bare", path.bare);
    const auto write = [&](const FoundFile& file) {
      json.Fields("path", PercentEncode(file.path), "device", file.device, "inode", file.inode,
                  "bytes", file.bytes, "changed_ns", file.changed_ns);
    };
    json.Rows("files", path.files, write);
    json.Rows("damaged", path.damaged, write);
  });
  json.End();
  return std::move(json).Finish();
}

Result<NodeFiles> ParseFiles(std::string_view text) {
  const nlohmann::json json = ParseJson(text);
  const nlohmann::json& paths = JsonMember(json, "paths");
  if (!paths.is_array()) return Fail(ErrorKind::kRemote, "its list of files is not complete");
  NodeFiles files;
  files.boot = Text(json, "boot");
  files.memory = {Number<uint64_t>(json, "memory"), Number<uint64_t>(json, "free_memory")};
  files.own_disks = JsonMember(json, "own_disks") == true;
  for (const nlohmann::json& of_path : paths) {
    FoundPath& path = files.paths.emplace_back();
    path.path = Text(of_path, "path");
    path.problem = Text(of_path, "problem");
    path.absent = JsonMember(of_path, "absent") == true;
    path.bare = JsonMember(of_path, "bare") == true;
    path.files = FilesIn(JsonMember(of_path, "files"));
    path.damaged = FilesIn(JsonMember(of_path, "damaged"));
  }
  return files;
}

std::vector<std::vector<std::string>> DivideFiles(const std::vector<NodeFiles>& nodes) {
  std::vector<std::vector<std::string>> parts(nodes.size());
  std::vector<size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t i) { return MemoryFor(nodes[i].memory).has_value(); });
  Taken taken;
  for (const size_t i : order) {
    const std::string boot = nodes[i].boot.empty() ? std::to_string(i) : nodes[i].boot;
    std::vector<const FoundFile*> of_node;
    for (const FoundPath& path : nodes[i].paths) {
      std::vector<std::string> fresh;
      for (const FoundFile& file : path.files) {
        if (taken.Has(boot, file)) continue;
        fresh.push_back(file.path);
        of_node.push_back(&file);
      }
      if (fresh.empty()) continue;
      if (fresh.size() == path.files.size() && !path.only_files) fresh = {path.path};
      std::ranges::move(fresh, std::back_inserter(parts[i]));
    }
    for (const FoundFile* file : of_node) taken.Add(boot, *file);
  }
  return parts;
}

}  // namespace tacho
