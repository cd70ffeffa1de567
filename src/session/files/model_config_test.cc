#include "session/files/model_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kSoon(10'000);

TEST(FetchModelConfig, FromAFolderOrTheHub) {
  const FolderForTest folder;
  const auto write = [&](const std::string& in, const std::string& text) {
    std::filesystem::create_directories(folder.path() + in);
    std::ofstream(folder.path() + in + "/config.json") << text;
  };
  write("/it's a model", "{\"model_type\": \"llama\"}");
  write("/hub/models--Qwen--Qwen3-8B/snapshots/b968826d", "{\"model_type\": \"qwen3\"}");
  write("/hub/models--Qwen--Qwen3-8B/snapshots/00old", "{}");
  std::filesystem::last_write_time(
      folder.path() + "/hub/models--Qwen--Qwen3-8B/snapshots/00old",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  setenv("HF_HUB_CACHE", (folder.path() + "/hub").c_str(), 1);
  const auto fetch = [](const std::string& model) {
    return FetchModelConfig(*MakeLocalTransport(), model, kSoon);
  };
  EXPECT_EQ(fetch(folder.path() + "/it's a model"), "{\"model_type\": \"llama\"}");
  EXPECT_EQ(fetch("Qwen/Qwen3-8B"), "{\"model_type\": \"qwen3\"}");
  EXPECT_EQ(fetch("Qwen/Qwen3-32B"), "");
  std::ofstream(folder.path() + "/it's a model/hf_quant_config.json") << "{}";
  EXPECT_EQ(FetchModelConfig(*MakeLocalTransport(), folder.path() + "/it's a model", kSoon,
                             "hf_quant_config.json"),
            "{}");
  EXPECT_EQ(fetch("; echo text"), "");
  EXPECT_EQ(fetch(""), "");
  write("/large", std::string(2 << 20, ' '));
  EXPECT_EQ(fetch(folder.path() + "/large"), "");
  unsetenv("HF_HUB_CACHE");
}

}  // namespace
}  // namespace tacho
