#include "base/fresh_folder.h"

#include <fmt/format.h>

#include <filesystem>

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNames = 1000;

tl::unexpected<Error> FolderNotMade(const std::string& path, const std::error_code& why) {
  return Fail(ErrorKind::kOutput,
              fmt::format("{}: this folder cannot be made: {}; name another place with --out", path,
                          why.message()));
}

}  // namespace

Result<std::string> MakeFreshFolder(const std::string& parent, const std::string& name) {
  std::error_code failed;
  fs::create_directories(parent, failed);
  if (failed) return FolderNotMade(parent, failed);
  for (int i = 1; i <= kMostNames; ++i) {
    fs::path path =
        fs::absolute(fs::path(parent), failed) / (i == 1 ? name : fmt::format("{}-{}", name, i));
    // True only if this call created the folder, so nobody else uses it.
    if (fs::create_directory(path, failed)) return path.lexically_normal().string();
    if (failed) return FolderNotMade(path.string(), failed);
  }
  return Fail(ErrorKind::kOutput, fmt::format("{}/{}: all names are taken", parent, name));
}

}  // namespace tacho
