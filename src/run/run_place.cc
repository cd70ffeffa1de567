#include "run/run_place.h"

#include <filesystem>

#include "io/read_whole.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRunJson = size_t{1} << 26;

}  // namespace

std::optional<PlaceInRun> RunPlaceOf(const std::string& trace) {
  std::error_code failed;
  fs::path at = fs::absolute(trace, failed).lexically_normal();
  if (failed) return std::nullopt;
  for (; at.has_relative_path(); at = at.parent_path()) {
    const fs::path traces = at.parent_path();
    if (traces.filename() == "traces")
      return PlaceInRun{traces.parent_path().string(), at.filename().string()};
  }
  return std::nullopt;
}

std::string ModelConfigName(std::string_view worker) {
  return "models/" + std::string(worker) + ".json";
}

std::string QuantizationName(std::string_view worker) {
  return "models/" + std::string(worker) + "-hf_quant_config.json";
}

std::string ReadRunJson(const std::string& folder) {
  const std::string path = folder + "/run.json";
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return "";
  return ReadWholeFile(path, kMostRunJson).value_or("");
}

}  // namespace tacho
