#include "session/run_folder/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/fresh_folder.h"
#include "base/replace_file.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr off_t kReserveBytes = 128 << 10;  // enough for a run.json of some tens of workers

}  // namespace

// The reserve is optional: everything works without it.
RunFolder::RunFolder(std::string path)
    : path_(std::move(path)),
      reserve_(open(path_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)) {
  if (reserve_) posix_fallocate(reserve_.get(), 0, kReserveBytes);
}

Result<RunFolder> RunFolder::Create(const std::string& parent, const std::string& name) {
  TACHO_ASSIGN_OR_RETURN(std::string path, MakeFreshFolder(parent, name));
  return RunFolder(std::move(path));
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

}  // namespace tacho
