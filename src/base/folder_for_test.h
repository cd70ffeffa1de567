#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// A temporary folder that is removed with the object.
class FolderForTest {
 public:
  FolderForTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tacho-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
    // WithoutRoot needs this: mkdtemp gives access only to the owner.
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  FolderForTest(const FolderForTest&) = delete;
  FolderForTest& operator=(const FolderForTest&) = delete;
  ~FolderForTest() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string At(const std::string& name) const { return (path_ / name).string(); }
  // Creates missing parent folders; returns the file's path.
  std::string Write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

// A temporary folder that is $XDG_RUNTIME_DIR while the object exists, so that tests do not share
// files kept there, such as locks.
class RuntimeFolderForTest : public FolderForTest {
 public:
  RuntimeFolderForTest() {
    if (const char* before = getenv(kVariable)) before_ = before;
    setenv(kVariable, path().c_str(), 1);
  }
  ~RuntimeFolderForTest() {
    if (before_)
      setenv(kVariable, before_->c_str(), 1);
    else
      unsetenv(kVariable);
  }

 private:
  static constexpr const char* kVariable = "XDG_RUNTIME_DIR";
  std::optional<std::string> before_;
};

// Runs the test as a user other than root while the object exists. Root may read every file, so a
// test of missing permissions cannot work as root. In some containers root cannot become another
// user; then works() is false, and the test must skip.
class WithoutRoot {
 public:
  WithoutRoot() : user_(geteuid()) {
    constexpr uid_t kNobody = 65534;
    works_ = user_ != 0 || seteuid(kNobody) == 0;
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;
  ~WithoutRoot() { EXPECT_EQ(seteuid(user_), 0); }

  [[nodiscard]] bool works() const { return works_; }

 private:
  uid_t user_;
  bool works_;
};

}  // namespace tacho
