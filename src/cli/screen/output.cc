#include "cli/screen/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fstream>

#include "base/error_kind_name.h"
#include "base/file_descriptor.h"
#include "base/replace_file.h"
#include "base/system_error.h"
#include "cli/exit_status.h"
#include "cli/screen/without_interrupts.h"
#include "text/json_writer.h"
#include "text/visible_text.h"

namespace tacho {

Result<OutputPlace> PlaceOf(const std::string& path) {
  std::error_code error;
  std::filesystem::path target = path;
  const auto status = std::filesystem::status(target, error);
  const bool is_folder = std::filesystem::is_directory(status) || !target.has_filename();
  if (is_folder)
    return Fail(ErrorKind::kUsage, VisibleText(path) + " is a folder: give a file's name");
  if (std::filesystem::exists(status)) {
    if (!std::filesystem::is_regular_file(status) || path.starts_with("/dev/"))
      return OutputPlace{};
    if (std::filesystem::is_symlink(target)) target = std::filesystem::canonical(target, error);
  }
  const std::string folder = target.parent_path().string();
  return OutputPlace{folder.empty() ? "." : folder, target.filename().string()};
}

Result<bool> WriteToReader(std::string_view text) {
  const int error = WriteAll(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return error == 0;
  return CannotWrite("standard output", error);
}

Result<void> WriteStdout(std::string_view text) {
  return WriteToReader(text).map([](bool) {});
}

void Complain(std::string_view message) {
  std::string out = "tacho: ";
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    out += VisibleText(message.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  WriteAll(STDERR_FILENO, out);
}

void DrawOnStderr(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

int Fails(const Error& error) {
  Complain(error.message);
  return StatusOf(error.kind);
}

std::string ErrorJson(const Error& error, int exit_status) {
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", 1);
  json.Row("error", "kind", ErrorKindName(error.kind), "message", error.message, "exit_status",
           exit_status);
  json.End();
  return std::move(json).Finish();
}

NewFolders::~NewFolders() {
  // Removes only empty ones.
  for (const std::filesystem::path& folder : made_) rmdir(folder.c_str());
}

int NewFolders::Make(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::path path = folder; !path.empty() && !std::filesystem::exists(path, error);
       path = path.parent_path())
    made_.push_back(path);
  std::filesystem::create_directories(folder, error);
  return error.value();
}

Result<void> WriteFiles(const std::string& folder,
                        const std::vector<std::pair<std::string, std::string>>& files) {
  const WithoutInterrupts guard;
  NewFolders folders;
  if (const int reason = folders.Make(folder); reason != 0) return CannotWrite(folder, reason);
  std::deque<FileBeside> beside;
  for (const auto& [name, content] : files) {
    const std::string path = folder + "/" + name;
    if (const int reason = beside.emplace_back(path).Write(content); reason != 0)
      return CannotWrite(path, reason);
  }
  // All files are now written under hidden names. A rename can still fail for two reasons. Either
  // its target is a folder: this is checked here, before the first rename. Or its target is another
  // user's file in a sticky folder: the files before it are then already replaced.
  for (const auto& [name, content] : files) {
    const std::string path = folder + "/" + name;
    struct stat status = {};
    if (lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
      return CannotWrite(path, EISDIR);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (const int reason = beside[i].Commit(); reason != 0)
      return CannotWrite(folder + "/" + files[i].first, reason);
  }
  return {};
}

Result<void> CheckReplaces(const std::string& folder,
                           const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [name, beginning] : files) {
    const std::string path = folder + "/" + name;
    struct stat status = {};
    if (lstat(path.c_str(), &status) != 0) continue;
    std::string there(beginning.size(), '\0');
    std::ifstream(path, std::ios::binary)
        .read(there.data(), static_cast<std::streamsize>(there.size()));
    if (S_ISREG(status.st_mode) && there == beginning) continue;
    return Fail(ErrorKind::kOutput,
                fmt::format("{} is there and was not written by tacho: move it away, or give "
                            "another folder",
                            VisibleText(path)));
  }
  return {};
}

Result<void> WriteFile(const std::string& path, std::string content) {
  TACHO_ASSIGN_OR_RETURN(const auto place, PlaceOf(path));
  if (place.name.empty()) {
    const FileDescriptor there(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    const int error = there.get() < 0 ? errno : WriteAll(there.get(), content);
    if (error != 0 && error != EPIPE) return CannotWrite(path, error);
    return {};
  }
  return WriteFiles(place.folder, {{place.name, std::move(content)}});
}

Result<void> CheckWritable(const std::string& path) {
  TACHO_ASSIGN_OR_RETURN(const auto place, PlaceOf(path));
  if (place.name.empty()) {
    return access(path.c_str(), W_OK) == 0 ? Result<void>() : CannotWrite(path, errno);
  }
  const WithoutInterrupts guard;
  NewFolders folders;
  if (const int reason = folders.Make(place.folder); reason != 0) return CannotWrite(path, reason);
  const int reason = FileBeside(place.folder + "/" + place.name).Write("");
  return reason == 0 ? Result<void>() : CannotWrite(path, reason);
}

}  // namespace tacho
