#include "io/folder_walk.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/system_error.h"

namespace tacho {
namespace {

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// The names in a folder, sorted, so that the choice among several links to one file does not depend
// on the disk.
Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  const std::unique_ptr<DIR, DirCloser> dir(::opendir(folder.c_str()));
  if (!dir) {
    return Fail(ErrorKind::kUnreadable, "the folder cannot be read: " + SystemErrorText(errno));
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) {
    return Fail(ErrorKind::kUnreadable, "the folder cannot be read: " + SystemErrorText(errno));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

bool FolderWalk::MarkSeen(const std::string& path, const struct stat& status) {
  const auto [first, is_new] = seen_.emplace(Identity{status.st_dev, status.st_ino}, path);
  if (!is_new && first->second != path) Skip(path, "is the same file as " + first->second);
  return is_new;
}

Result<std::vector<FolderWalk::File>> FolderWalk::FilesBelow(const std::string& folder) {
  std::vector<File> files;
  struct stat status = {};
  if (::stat(folder.c_str(), &status) != 0) {
    return Fail(ErrorKind::kUnreadable,
                folder + ": the folder cannot be read: " + SystemErrorText(errno));
  }
  if (!seen_.emplace(Identity{status.st_dev, status.st_ino}, folder).second) return files;
  Pending pending;
  TACHO_RETURN_IF_ERROR(WithContext(ReadFolder(folder, pending, files), folder));
  // Follow links last, so that a file below the folder is listed under its own name.
  while (!pending.folders.empty() || !pending.links.empty()) {
    if (!pending.folders.empty()) {
      const std::string next = std::move(pending.folders.back());
      pending.folders.pop_back();
      if (Result<void> read = ReadFolder(next, pending, files); !read) {
        failures_.push_back(read.error().WithContext(next));
      }
      continue;
    }
    std::vector<std::string> links = std::exchange(pending.links, {});
    std::sort(links.begin(), links.end());
    for (const std::string& link : links) {
      if (::stat(link.c_str(), &status) != 0) {
        Skip(link, "the link leads nowhere: " + SystemErrorText(errno));
      } else {
        Take(link, status, pending, files);
      }
    }
  }
  return files;
}

Result<void> FolderWalk::ReadFolder(const std::string& folder, Pending& pending,
                                    std::vector<File>& files) {
  TACHO_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(folder));
  for (const std::string& name : names) {
    const std::string path = folder.ends_with('/') ? folder + name : folder + "/" + name;
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0) {
      // ENOENT: the file is gone since it was listed, like the temporary files of a running engine.
      if (errno != ENOENT) Skip(path, "cannot be looked at: " + SystemErrorText(errno));
    } else if (S_ISLNK(status.st_mode)) {
      pending.links.push_back(path);
    } else {
      Take(path, status, pending, files);
    }
  }
  return {};
}

void FolderWalk::Take(const std::string& path, const struct stat& status, Pending& pending,
                      std::vector<File>& files) {
  const bool folder = S_ISDIR(status.st_mode);
  // Sockets, FIFOs and devices are not listed: a running engine leaves some beside its traces.
  if (!folder && !S_ISREG(status.st_mode)) return;
  const auto [first, is_new] = seen_.emplace(Identity{status.st_dev, status.st_ino}, path);
  if (!is_new) {
    if (first->second != path) {
      Skip(path, (folder ? "is the same folder as " : "is the same file as ") + first->second);
    }
    return;
  }
  if (folder) {
    pending.folders.push_back(path);
  } else {
    files.push_back({path, static_cast<uint64_t>(status.st_size)});
  }
}

void FolderWalk::Skip(const std::string& path, const std::string& why) {
  skipped_.push_back(path + ": " + why);
}

}  // namespace tacho
