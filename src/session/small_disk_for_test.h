#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>
#include <utility>

namespace tacho {

// A disk of 64 kB at `path` that exists as long as this object. Only root can make one.
class SmallDiskForTest {
 public:
  explicit SmallDiskForTest(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    works_ = mount("none", path_.c_str(), "tmpfs", 0, "size=64k") == 0;
  }
  SmallDiskForTest(const SmallDiskForTest&) = delete;
  SmallDiskForTest& operator=(const SmallDiskForTest&) = delete;
  ~SmallDiskForTest() {
    if (works_) umount2(path_.c_str(), MNT_DETACH);
  }

  [[nodiscard]] bool works() const { return works_; }

 private:
  const std::string path_;
  bool works_ = false;
};

}  // namespace tacho
