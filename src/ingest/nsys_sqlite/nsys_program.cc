#include "ingest/nsys_sqlite/nsys_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/find_program.h"
#include "base/parse_number.h"
#include "base/subprocess.h"
#include "base/words.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostPrograms = 64;
constexpr std::chrono::milliseconds kAnswersWithin{10'000};
constexpr std::chrono::milliseconds kEndsWithin{1'000};

// Where nsys may be outside $PATH: packages of NVIDIA, CUDA, the HPC SDK and Debian.
constexpr std::array kInstalled = {
    "/opt/nvidia/nsight-systems*/*/bin/nsys",     "/opt/nvidia/nsight-systems*/*/target-*/nsys",
    "/opt/nvidia/nsight-systems*/bin/nsys",       "/usr/local/cuda*/bin/nsys",
    "/opt/nvidia/hpc_sdk/*/*/compilers/bin/nsys", "/usr/lib/nsight-systems/bin/nsys"};

void AddMatching(const std::string& pattern, std::vector<std::string>& paths) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
}

// What `nsys --version` prints; "" if it fails.
std::string AskVersion(const std::string& path, const std::stop_token& stop) {
  constexpr size_t kMostText = 4096;
  return OutputOf({.arguments = {path, "--version"},
                   .patience = kAnswersWithin,
                   .grace = kEndsWithin,
                   .stop = stop},
                  kMostText)
      .value_or("");
}

}  // namespace

std::vector<int> NsysVersionIn(std::string_view text) {
  constexpr std::string_view kBefore = "Nsight Systems version ";
  const size_t at = text.find(kBefore);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + kBefore.size());
  std::vector<int> numbers;
  while (!text.empty() && IsDigit(text.front())) {
    const auto number = TakeNumber<int>(text);
    if (!number) return {};
    numbers.push_back(*number);
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return numbers;
}

std::string NsysVersionText(const std::vector<int>& numbers) {
  return fmt::format("{}", fmt::join(numbers, "."));
}

std::optional<NsysProgram> FindNsys(const std::stop_token& stop) {
  std::vector<std::string> paths = ProgramsInPath("nsys");
  for (const char* const pattern : kInstalled) AddMatching(pattern, paths);
  std::optional<NsysProgram> newest;
  std::set<std::string> asked;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    if (error || !IsProgram(path) || !asked.insert(whole.string()).second) continue;
    if (asked.size() > kMostPrograms) break;
    std::vector<int> numbers = NsysVersionIn(AskVersion(path, stop));
    if (numbers.empty() || (newest && newest->numbers >= numbers)) continue;
    newest = NsysProgram{path, NsysVersionText(numbers), std::move(numbers)};
  }
  return newest;
}

std::string FindImporter(const NsysProgram& nsys) {
  constexpr const char* kName = "QdstrmImporter";
  std::vector<std::string> paths;
  for (const std::string& program : {nsys.path, fs::weakly_canonical(nsys.path).string()}) {
    const std::string folder = fs::path(program).parent_path().string();
    for (const char* const where :
         {"/", "/../host-*/", "/../nsight-systems/host-*/", "/../../../nsight-systems/host-*/",
          "/../lib/nsight-systems/host-*/"}) {
      AddMatching(folder + where + kName, paths);
    }
  }
  std::ranges::move(ProgramsInPath(kName), std::back_inserter(paths));
  const auto found = std::ranges::find_if(paths, IsProgram);
  return found == paths.end() ? "" : *found;
}

}  // namespace tacho
