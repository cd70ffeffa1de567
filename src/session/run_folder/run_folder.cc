#include "session/run_folder/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "base/replace_file.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNames = 1000;
constexpr off_t kReserveBytes = 128 << 10;  // run.json of some tens of workers

std::string LocalTime(int64_t unix_ns, const char* form) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof(text), form, &local);
  return text;
}

tl::unexpected<Error> FolderNotMade(const std::string& path, const std::error_code& why) {
  return Fail(ErrorKind::kOutput,
              fmt::format("{}: this folder cannot be made: {}; name another place with --out", path,
                          why.message()));
}

}  // namespace

// Without the reserve all goes on as well.
RunFolder::RunFolder(std::string path)
    : path_(std::move(path)),
      reserve_(open(path_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)) {
  if (reserve_) posix_fallocate(reserve_.get(), 0, kReserveBytes);
}

Result<RunFolder> RunFolder::Create(const std::string& parent, const std::string& name) {
  std::error_code failed;
  fs::create_directories(parent, failed);
  if (failed) return FolderNotMade(parent, failed);
  for (int i = 1; i <= kMostNames; ++i) {
    fs::path path =
        fs::absolute(fs::path(parent), failed) / (i == 1 ? name : fmt::format("{}-{}", name, i));
    // Made by this call or not at all: two recordings never share a folder.
    if (fs::create_directory(path, failed)) return RunFolder(path.lexically_normal().string());
    if (failed) return FolderNotMade(path.string(), failed);
  }
  return Fail(ErrorKind::kOutput, fmt::format("{}/{}: all names are taken", parent, name));
}

std::string RunFolder::In(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

Result<void> RunFolder::Write(std::string_view name, std::string_view content, mode_t mode) const {
  const std::string path = In(name);
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  return ReplaceFile(path, content, mode);
}

void RunFolder::RemoveEmpty() const {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(path_, ignored))
    if (!entry.is_directory(ignored)) return;
  fs::remove_all(path_, ignored);
}

std::string DateStamp(int64_t unix_ns) { return LocalTime(unix_ns, "%Y%m%d-%H%M%S"); }
std::string TimeOfDay(int64_t unix_ns) { return LocalTime(unix_ns, "%H:%M:%S"); }

}  // namespace tacho
