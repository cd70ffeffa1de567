#include "ray/file_sum.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "base/base64.h"
#include "base/file_descriptor.h"
#include "base/sha256.h"
#include "base/system_error.h"
#include "net/url.h"

namespace tacho {
namespace {

constexpr size_t kPieceOfFile = 1u << 20, kDigestText = 44;

}  // namespace

Result<FileSum> SumOfFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0)
    return FailAt(ErrorKind::kUnreadable, path, SystemErrorText(errno));
  if (!S_ISREG(status.st_mode)) return FailAt(ErrorKind::kUnreadable, path, "is no regular file");
  FileSum sum;
  Sha256Sum digest;
  std::string piece(kPieceOfFile, '\0');
  while (true) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailAt(ErrorKind::kUnreadable, path, SystemErrorText(errno));
    if (got == 0) break;
    sum.bytes += static_cast<uint64_t>(got);
    digest.Add(std::string_view(piece).substr(0, static_cast<size_t>(got)));
  }
  sum.digest = Base64(digest.Finish());
  return sum;
}

std::string FileSumsText(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    const auto sum = SumOfFile(path);
    text += sum ? fmt::format("{} {}\n", sum->bytes, sum->digest)
                : fmt::format("- {}\n", PercentEncode(sum.error().message));
  }
  return text;
}

Result<std::vector<Result<FileSum>>> ParseFileSums(const std::string& text, size_t files) {
  std::vector<Result<FileSum>> sums;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && sums.size() < files;) {
    if (line.starts_with("- ")) {
      sums.push_back(Fail(ErrorKind::kUnreadable, PercentDecode(line.substr(2))));
      continue;
    }
    FileSum sum;
    std::istringstream words(line);
    if (!(words >> sum.bytes >> sum.digest) || sum.digest.size() != kDigestText) break;
    sums.push_back(std::move(sum));
  }
  if (sums.size() != files) return Fail(ErrorKind::kRemote, "the sums of its files are damaged");
  return sums;
}

}  // namespace tacho
