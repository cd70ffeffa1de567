#include "ray/node_program.h"

#include <fmt/format.h>

#include <sstream>

#include "base/base64.h"
#include "base/parse_number.h"
#include "base/sha256.h"
#include "io/read_whole.h"
#include "ray/analyze_command.h"
#include "ray/file_sum.h"
#include "ray/found_files.h"

namespace tacho {

ResultsSum SumOf(int status, std::string_view results) {
  return {status, results.size(), Base64(Sha256(results))};
}

std::string SumText(const ResultsSum& sum) {
  return fmt::format("{} {} {}\n", sum.status, sum.bytes, sum.digest);
}

Result<ResultsSum> ParseSum(const std::string& text) {
  ResultsSum sum;
  std::istringstream words(text);
  constexpr size_t kDigest = 44;
  if (!(words >> sum.status >> sum.bytes >> sum.digest) || sum.digest.size() != kDigest)
    return Fail(ErrorKind::kRemote, "the sum of its results is damaged");
  return sum;
}

Result<std::string> RunOnNode(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1 && arguments[0] == "files")
    return FilesJson(FindFiles({arguments.begin() + 1, arguments.end()}));
  if (arguments.size() > 1 && arguments[0] == "sums")
    return FileSumsText({arguments.begin() + 1, arguments.end()});
  if (arguments.size() > 2 && arguments[0] == "own") {
    TACHO_ASSIGN_OR_RETURN(const std::string json, ReadWholeFile(arguments[1], kMostResults));
    TACHO_ASSIGN_OR_RETURN(const NodeFiles files, ParseFiles(json));
    return CommandOfOwnFiles(files, {ParseWhole<int64_t>(arguments[2]).value_or(0),
                                     {arguments.begin() + 3, arguments.end()}});
  }
  if (arguments == std::vector<std::string>{"claim"})
    return ClaimFile().map([] { return std::string(); });
  const auto status =
      arguments.size() == 3 && arguments[0] == "sum" ? ParseWhole<int>(arguments[1]) : std::nullopt;
  if (!status) return Fail(ErrorKind::kUsage, "tacho starts this command itself");
  TACHO_ASSIGN_OR_RETURN(const std::string results, ReadWholeFile(arguments[2], kMostResults));
  return SumText(SumOf(*status, results));
}

}  // namespace tacho
