#include "serve/marks_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/file_descriptor.h"
#include "base/parse_json.h"
#include "base/replace_file.h"
#include "base/string_pool.h"
#include "base/system_error.h"
#include "serve/entity_tags.h"
#include "serve/parameters.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

struct Mark {
  int64_t from = 0, to = 0;
  std::string note;
};

std::optional<int64_t> TimeIn(const Json& mark, const char* key) {
  const auto time = mark.find(key);
  if (time == mark.end() || !time->is_number_integer()) return std::nullopt;
  if (time->is_number_unsigned() && time->get<uint64_t>() > uint64_t{kMostApiTime})
    return std::nullopt;
  const int64_t ns = time->get<int64_t>();
  return ns < -kMostApiTime || ns > kMostApiTime ? std::nullopt : std::optional(ns);
}

std::optional<Mark> MarkOf(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto from = TimeIn(json, "from_ns"), to = TimeIn(json, "to_ns");
  const auto note = json.find("note");
  if (!from || !to || *to < *from) return std::nullopt;
  if (note == json.end() || !note->is_string()) return std::nullopt;
  Mark mark{*from, *to, note->get<std::string>()};
  return mark.note.size() > MarksFile::kMostNote ? std::nullopt : std::optional(std::move(mark));
}

// The marks in `text` in their normal form; nullopt if the text holds no marks.
std::optional<std::string> Checked(std::string_view text) {
  const Json json = ParseJson(text);
  if (!json.is_object()) return std::nullopt;
  const auto list = json.find("marks");
  if (list == json.end() || !list->is_array() || list->size() > MarksFile::kMostMarks)
    return std::nullopt;
  std::vector<Mark> marks;
  for (const Json& one : *list) {
    auto mark = MarkOf(one);
    if (!mark) return std::nullopt;
    marks.push_back(*std::move(mark));
  }
  JsonWriter out;
  out.BeginObject();
  out.Rows("marks", marks, [&](const Mark& mark) {
    out.Fields("from_ns", mark.from, "to_ns", mark.to, "note", mark.note);
  });
  out.End();
  return std::move(out).Finish();
}

// The marks in the file; no marks if there is no file. Opens it without blocking, because opening a
// pipe could wait for ever.
Result<std::string> MarksIn(const std::string& path) {
  const FileDescriptor file(path.empty() ? -1
                                         : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file && (path.empty() || errno == ENOENT)) return *Checked(R"({"marks": []})");
  if (!file) return Fail(ErrorKind::kUnreadable, path + ": " + SystemErrorText(errno));
  struct stat status = {};
  std::string text(MarksFile::kMostBytes + 1, '\0');
  size_t size = 0;
  if (fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) {
    for (ssize_t got = 1; got > 0 && size < text.size(); size += static_cast<size_t>(got))
      got = std::max<ssize_t>(0, read(file.get(), text.data() + size, text.size() - size));
  }
  text.resize(size);
  auto checked = text.size() > MarksFile::kMostBytes ? std::nullopt : Checked(text);
  if (!checked)
    return Fail(ErrorKind::kUnreadable,
                path + ": does not hold tacho's marks: move it away to begin anew");
  return *std::move(checked);
}

}  // namespace

Result<std::string> MarksFile::Read() const {
  const std::lock_guard lock(mutex_);
  return MarksIn(path_);
}

Result<bool> MarksFile::Replace(std::string_view json, std::string_view if_match) {
  const auto checked = json.size() > kMostBytes ? std::nullopt : Checked(json);
  if (!checked)
    return Fail(ErrorKind::kUsage,
                fmt::format("the marks are {{\"marks\": [{{\"from_ns\", \"to_ns\", \"note\"}}]}}: "
                            "at most {} of them, notes of {} bytes, 1 MB in all",
                            kMostMarks, kMostNote));
  if (path_.empty())
    return Fail(
        ErrorKind::kUsage,
        "a trace from standard input, or one that is not kept, has no place for marks: save "
        "it to a file");
  const std::lock_guard lock(mutex_);
  TACHO_ASSIGN_OR_RETURN(const std::string there, MarksIn(path_));
  if (!if_match.empty() && !NamesTag(if_match, TagOf(there))) return false;
  TACHO_RETURN_IF_ERROR(ReplaceFile(path_, *checked));
  return true;
}

std::string MarksFile::TagOf(std::string_view marks) {
  return fmt::format("\"{:016x}\"", HashBytes(marks));
}

std::string MarksPathOf(const std::string& path) {
  if (path == "-" || path.empty()) return "";
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    return (std::filesystem::path(path) / "tacho-marks.json").string();
  return path + ".tacho-marks.json";
}

}  // namespace tacho
