#include "session/files/fetch_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/clock_pair.h"
#include "base/parse_number.h"
#include "load/result/records.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMostAnswer = 4096;

// The output of a command that somebody else owns: the command can still be finished (Finish) when
// this object is gone.
class PrintedBytes final : public ByteSource {
 public:
  explicit PrintedBytes(RemoteCommand& command) : command_(command) {}
  size_t Read(char* to, size_t room) override { return command_.Read(to, room); }
  [[nodiscard]] const StreamEnd& end() const override { return command_.end(); }
  [[nodiscard]] uint64_t stored_bytes() const override { return command_.stored_bytes(); }

 private:
  RemoteCommand& command_;
};

// Conditions for `find`: files written on the host since `unix_ns` by our clock. The extra 5 s
// allow for clocks that are read to the second only and for the time in transit; the proof later
// checks the times inside the files.
std::string FilesSince(const RemoteFolder& from, int64_t unix_ns) {
  return fmt::format("-type f -newermt @{}", unix_ns / 1'000'000'000 + from.clock_offset_s - 5);
}

}  // namespace

Result<RemoteFolder> FindRemoteFolder(const std::string& from, const std::string& engine_folder,
                                      milliseconds patience, std::stop_token stop) {
  const size_t colon = std::min(from.find(':'), from.size());
  const std::string host = from.substr(0, colon);
  RemoteFolder folder{.transport = MakeSshTransport(host),
                      .path = colon == from.size() ? engine_folder : from.substr(colon + 1)};
  if (host.empty() || host[0] == '-' || folder.path.empty())
    return Fail(ErrorKind::kUsage,
                fmt::format("--collect-from {}: write it as HOST:/path{}", from,
                            colon == from.size() ? "; the engine does not report its folder" : ""));
  const std::string path = ShellWord(folder.path);
  const auto command = folder.transport->Run(
      fmt::format("date +%s && {{ test -d {} || test -d \"$(dirname -- {})\"; }}", path, path),
      patience, std::move(stop));
  std::string said(kMostAnswer, '\0');
  said.resize(ReadFully(*command, said.data(), said.size()));
  const Result<void> ended = command->Finish();
  std::string_view date = said;
  date.remove_prefix(std::min(date.find_first_of("0123456789"), date.size()));
  const auto now = TakeNumber<int64_t>(date);
  if (!now)
    return Fail(ErrorKind::kRemote, ended ? fmt::format("ssh {}: the host printed no date", host)
                                          : ended.error().message);
  if (!ended)
    return Fail(ErrorKind::kUsage,
                fmt::format("--collect-from {}: no folder {} on that host", from, folder.path));
  folder.clock_offset_s = *now - ReadClocks().unix_ns / 1'000'000'000;
  return folder;
}

Result<std::vector<std::string>> FetchFiles(const RemoteFolder& from, std::string_view key,
                                            int64_t since_unix_ns, const std::string& target,
                                            milliseconds patience, std::stop_token stop,
                                            const std::function<void(uint64_t)>& progress,
                                            const UnpackBounds& bounds) {
  const auto command =
      from.transport->Run(fmt::format("cd {} && find . {} -name {} -print0 | tar --null -T - -cf -",
                                      ShellWord(from.path), FilesSince(from, since_unix_ns),
                                      ShellWord(std::string(key) + "*.json*")),
                          patience, std::move(stop));
  Result<std::vector<std::string>> files =
      UnpackTraces(std::make_unique<PrintedBytes>(*command), key, target, bounds, progress);
  // Reads what follows the archive's end, because tar pads its last block.
  std::array<char, 4096> rest;
  for (size_t i = 0; files && i < 1024 && command->Read(rest.data(), rest.size()) > 0; ++i) {
  }
  // A failed transport explains more than the truncated archive that it causes.
  const Result<void> ended = command->Finish();
  if (!ended) return tl::unexpected(ended.error());
  if (!files)
    return tl::unexpected(files.error().WithContext("what came from " + from.transport->Host()));
  return files;
}

Result<void> RemoveFetched(const RemoteFolder& from, std::string_view key, int64_t since_unix_ns,
                           milliseconds patience) {
  if (key.empty()) return Fail(ErrorKind::kRemote, "their names do not tell whose they are");
  const std::string folder = ShellWord(from.path), begin(key);
  // The same rule as NameHasKey. The shell pattern holds only our own key, which has no special
  // character (PlanStart), and never a file name.
  const auto command =
      from.transport->Run(fmt::format("test ! -d {} || {{ cd {} && find . {} -name {} ! -name {} "
                                      "-delete; }}",
                                      folder, folder, FilesSince(from, since_unix_ns),
                                      ShellWord(begin + "*"), ShellWord(begin + "[0-9]*")),
                          patience, {});
  std::array<char, 4096> said;
  while (command->Read(said.data(), said.size()) > 0) {
  }
  return command->Finish();
}

}  // namespace tacho
