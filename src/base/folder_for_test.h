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

// A folder that lives as long as the object.
class FolderForTest {
 public:
  FolderForTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tacho-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
    // For WithoutRoot; mkdtemp lets the owner in only.
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
  // Makes the folders on the way; gives the file's path.
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

// A folder that is $XDG_RUNTIME_DIR meanwhile: locks and marks of its own, and none of another
// test's.
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

// Root may read everything: while the object lives, the tests run as a user who may not. A test is
// skipped where this does not work: root of some containers cannot become another user.
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
