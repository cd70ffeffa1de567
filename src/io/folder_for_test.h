#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace tacho::testing {

// A folder that lives as long as the object.
class FolderForTest {
 public:
  FolderForTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tacho-io-XXXXXX").string();
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

// Root may read everything: while the object lives, the tests run as somebody who may not.
class WithoutRoot {
 public:
  WithoutRoot() : user_(geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (user_ == 0 && seteuid(kNobody) != 0) {
      std::cerr << "*** NOT TESTED: permissions, since root cannot become another user here\n";
      works_ = false;
    }
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;
  ~WithoutRoot() { EXPECT_EQ(seteuid(user_), 0); }

  [[nodiscard]] bool works() const { return works_; }

 private:
  uid_t user_;
  bool works_ = true;
};

}  // namespace tacho::testing
