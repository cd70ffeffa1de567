#include "io/trace_sources.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/capture_file.h"
#include "io/archive_open.h"
#include "io/decode.h"
#include "io/file_source.h"
#include "io/folder_walk.h"
#include "io/peeked_source.h"

namespace tacho {
namespace {

struct Sniffed {
  ContentKind kind = ContentKind::kOther;
  StreamEnd end;  // set only if the start is the whole file
  bool is_export = false;
  std::string remedy;  // from RemedyFor
};

Sniffed Sniff(std::unique_ptr<ByteSource> stored) {
  PeekedSource plain(Decode(std::move(stored)));
  const std::string_view start = plain.Peek(kSniffBytes);
  const ContentKind kind = KindOf(start);
  Sniffed sniffed{kind, {}, start.starts_with(kKinetoExportBegin), RemedyFor(kind, start)};
  if (start.size() < kSniffBytes) sniffed.end = plain.end();
  return sniffed;
}

// Whether profilers or engines name their traces like this. Used only for files that cannot be
// opened.
bool IsNamedAsTrace(std::string_view name) {
  for (const std::string_view ending : {".tmp", ".gz", ".zst"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name.ends_with(".json") || name.ends_with(".sqlite");
}

bool IsNsysReport(ContentKind kind) {
  return kind == ContentKind::kNsysReport || kind == ContentKind::kNsysStream;
}

// Removes `key` and digits after it from the front of `text`. False if `text` does not begin so.
bool TakeNumber(std::string_view& text, std::string_view key) {
  if (!text.starts_with(key)) return false;
  text.remove_prefix(key.size());
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

bool IsArchive(ContentKind kind) { return kind == ContentKind::kTar || kind == ContentKind::kZip; }

// Builds one Discovery. A given path that cannot be used is an error; a file found below a folder
// is skipped with a reason.
class Finder {
 public:
  Result<Discovery> Find(const std::vector<std::string>& paths) {
    // Files come first, so that a given file keeps its given name even if it also lies in a given
    // folder.
    std::vector<std::string> folders;
    for (const std::string& path : paths) {
      TACHO_RETURN_IF_ERROR(TakeGiven(path, folders));
    }
    for (const std::string& folder : folders) {
      TACHO_RETURN_IF_ERROR(TakeFolder(folder));
    }
    found_.skipped.insert(found_.skipped.end(), walk_.skipped().begin(), walk_.skipped().end());
    found_.failures.insert(found_.failures.end(), walk_.failures().begin(), walk_.failures().end());
    std::sort(found_.skipped.begin(), found_.skipped.end());
    std::ranges::sort(found_.captures);
    std::ranges::sort(found_.failures, {}, &Error::message);
    SortTraces();
    return std::move(found_);
  }

 private:
  Result<void> TakeGiven(const std::string& path, std::vector<std::string>& folders) {
    if (path == "-") {
      AddTrace(path, "", 0);
      return {};
    }
    struct stat status = {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
      folders.push_back(path);
      return {};
    }
    if (exists && S_ISFIFO(status.st_mode)) {
      AddTrace(path, "", 0);  // looking at a FIFO would consume its bytes
      return {};
    }
    if (exists && S_ISREG(status.st_mode) && !walk_.MarkSeen(path, status)) return {};
    if (!exists) {
      if (const auto [file, part] = SplitPart(path); !part.empty()) return TakePart(file, part);
    }
    // If the path is missing, this fails with the right error.
    return TakeGivenFile(path);
  }

  // If a file is given as several parts, each part becomes a source.
  Result<void> TakePart(const std::string& path, const std::string& part) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      (void)walk_.MarkSeen(path, status);  // so that a folder does not list the whole file
    }
    const size_t before = found_.traces.size();
    TACHO_RETURN_IF_ERROR(TakeGivenFile(path));
    const bool is_nsys = found_.traces.size() == before + 1 &&
                         (found_.traces.back().kind == ContentKind::kNsysSqlite ||
                          found_.traces.back().is_nsys_report());
    if (!is_nsys)
      return Fail(ErrorKind::kUsage, fmt::format("{}: is not a recording of nsys with processes to "
                                                 "choose from: leave out #{}",
                                                 path, part));
    found_.traces.back().part = part;
    return {};
  }

  Result<void> TakeGivenFile(const std::string& path) {
    TACHO_ASSIGN_OR_RETURN(std::unique_ptr<FileSource> file, FileSource::Open(path));
    const uint64_t size = file->size_at_open();
    const Sniffed sniffed = Sniff(std::move(file));
    if (IsArchive(sniffed.kind)) {
      const size_t before = found_.traces.size();
      TACHO_RETURN_IF_ERROR(TakeArchive(path));
      LeaveOutCaptures(before);
      return {};
    }
    if (!sniffed.remedy.empty() && !IsNsysReport(sniffed.kind)) {
      return FailAt(ErrorKind::kUnreadable, path, sniffed.remedy);
    }
    if (sniffed.kind == ContentKind::kEmpty && sniffed.end.defect == StreamDefect::kReadFailed) {
      return FailAt(ErrorKind::kUnreadable, path, sniffed.end.text);
    }
    AddTrace(path, "", size, sniffed.kind);
    return {};
  }

  Result<void> TakeFolder(const std::string& folder) {
    TACHO_ASSIGN_OR_RETURN(std::vector<FolderWalk::File> files, walk_.FilesBelow(folder));
    const size_t before = found_.traces.size();
    folder_ = folder;
    for (const FolderWalk::File& file : files) TakeFound(file);
    folder_.clear();
    LeaveOutCaptures(before);
    const bool has_others = found_.traces.size() > before;
    for (const TraceSource& source : std::exchange(exports_, {})) {
      if (has_others) {
        Skip(source.path,
             "an export of tacho, left out beside traces: name the file to read it too");
      } else {
        found_.traces.push_back(source);
      }
    }
    const bool has_traces = found_.traces.size() > before;
    const std::vector<TraceSource> waiting = std::exchange(waiting_, {});
    const bool has_reports = std::ranges::any_of(waiting, &TraceSource::is_nsys_report);
    for (const TraceSource& source : waiting) {
      if (source.is_nsys_report() && HasExportOf(source.path, before)) continue;
      if (source.is_nsys_report() && has_traces) {
        Skip(source.path, RemedyFor(source.kind));
      } else if (source.is_results() && (has_traces || has_reports) &&
                 !StandsForTraces(source.path)) {
        Skip(source.path,
             "results of tacho analyze, left out beside traces: name the file to read it too");
      } else {
        found_.traces.push_back(source);
      }
    }
    return {};
  }

  // Takes the recordings of graph capture in a folder or archive only if it has no other trace.
  // `before`: how many traces were found before this folder or archive.
  void LeaveOutCaptures(size_t before) {
    const bool has_others = found_.traces.size() > before;
    for (const TraceSource& source : std::exchange(captures_, {})) {
      if (has_others) {
        found_.captures.push_back(source.Display());
      } else {
        found_.traces.push_back(source);
      }
    }
  }

  // Whether a file is a recording of graph capture, judged by its name or by that of a folder
  // between it and the given folder.
  [[nodiscard]] bool IsCapture(const std::string& path, const std::string& member) const {
    if (!member.empty() && IsCaptureFile(member)) return true;
    std::string_view below = path;
    if (below.starts_with(folder_)) below.remove_prefix(folder_.size());
    return (member.empty() || !folder_.empty()) && IsCaptureFile(below);
  }

  // Whether an export of this very report lies beside it; the export is then read instead.
  [[nodiscard]] bool HasExportOf(const std::string& report, size_t since) const {
    const std::filesystem::path own = std::filesystem::path(report).replace_extension(".sqlite");
    return std::any_of(found_.traces.begin() + static_cast<std::ptrdiff_t>(since),
                       found_.traces.end(),
                       [&](const TraceSource& trace) { return trace.path == own; });
  }

  // Whether a recording has these results in place of its traces, which lie on other hosts:
  // RUN/traces/NODE.json, with RUN/run.json.
  [[nodiscard]] static bool StandsForTraces(const std::string& results) {
    const std::filesystem::path traces = std::filesystem::path(results).parent_path();
    std::error_code failed;
    return traces.filename() == "traces" &&
           std::filesystem::is_regular_file(traces.parent_path() / "run.json", failed);
  }

  void TakeFound(const FolderWalk::File& found) {
    // Empty files are not opened: files in /proc claim to be empty, and reading some of them
    // blocks.
    if (found.size == 0) return Lose(found.path, "is empty (0 bytes)");
    Result<std::unique_ptr<FileSource>> file = FileSource::Open(found.path);
    if (!file) return Lose(found.path, std::string(file.error().What()));
    const Sniffed sniffed = Sniff(std::move(*file));
    if (!IsArchive(sniffed.kind)) return TakeByContent(found.path, "", found.size, sniffed);
    if (Result<void> taken = TakeArchive(found.path); !taken) {
      found_.skipped.push_back(taken.error().message);
    }
  }

  // Takes the members before any damage in the archive; an error if there are none.
  Result<void> TakeArchive(const std::string& path) {
    TACHO_ASSIGN_OR_RETURN(std::unique_ptr<ArchiveReader> reader, OpenArchive(path));
    for (size_t i = 0; i < kMaxArchiveMembers; ++i) {
      Result<std::optional<ArchiveMember>> member = reader->Next();
      if (!member) {
        const Error error = member.error().WithContext(path);
        if (i == 0) return tl::unexpected<Error>(error);
        found_.skipped.push_back(error.message);
        return {};
      }
      if (!*member) return {};
      TakeMember(path, **member, *reader);
    }
    Skip(path,
         fmt::format("has more than {} members: the rest is not looked at", kMaxArchiveMembers));
    return {};
  }

  void TakeMember(const std::string& path, const ArchiveMember& member, ArchiveReader& reader) {
    const std::string display = TraceSource{path, member.name, 0}.Display();
    if (member.encrypted) return Skip(display, "is encrypted: unpack it with its password first");
    const Sniffed sniffed = Sniff(SourceOfMember(reader));
    if (IsArchive(sniffed.kind)) {
      return Skip(display, "is an archive inside of an archive: unpack it first");
    }
    TakeByContent(path, member.name, member.size, sniffed);
  }

  // Takes a file in a folder, or a member of an archive, if it looks like a trace. Results, exports
  // and nsys reports wait until the folder's traces are known.
  void TakeByContent(const std::string& path, const std::string& member, uint64_t size,
                     const Sniffed& sniffed) {
    const std::string display = TraceSource{path, member, 0}.Display();
    if (sniffed.kind == ContentKind::kChromeJson && IsCapture(path, member)) {
      captures_.push_back({path, member, size, sniffed.kind});
    } else if (sniffed.is_export && member.empty()) {
      exports_.push_back({path, "", size, sniffed.kind});
    } else if (sniffed.kind == ContentKind::kChromeJson ||
               sniffed.kind == ContentKind::kNsysSqlite) {
      AddTrace(path, member, size, sniffed.kind);
    } else if (member.empty() &&
               (sniffed.kind == ContentKind::kResults || IsNsysReport(sniffed.kind))) {
      waiting_.push_back({path, "", size, sniffed.kind});
    } else if (sniffed.kind == ContentKind::kResults) {
      Skip(display, "results of tacho analyze in an archive: unpack them first");
    } else if (sniffed.kind == ContentKind::kLfsPointer) {
      Lose(display, sniffed.remedy);
    } else if (sniffed.kind == ContentKind::kForeignFile) {
      found_.beside.push_back(display + ": " + sniffed.remedy);
    } else if (!sniffed.remedy.empty()) {
      Skip(display, sniffed.remedy);
    } else if (sniffed.kind == ContentKind::kEmpty) {
      const bool whole = sniffed.end.defect == StreamDefect::kNone;
      Lose(display, whole ? "is empty" : sniffed.end.text);
    }
  }

  void AddTrace(const std::string& path, const std::string& member, uint64_t size,
                ContentKind kind = ContentKind::kChromeJson) {
    found_.traces.push_back({path, member, size, kind});
  }

  void Skip(const std::string& display, const std::string& why) {
    found_.skipped.push_back(display + ": " + why);
  }

  // Reports a file that cannot be read: as a failure if its name is that of a trace, else as
  // skipped.
  void Lose(const std::string& display, const std::string& why) {
    if (IsNamedAsTrace(display) && !IsCapture(display, "")) {
      found_.failures.push_back(Error{ErrorKind::kUnreadable, why}.WithContext(display));
    } else {
      Skip(display, why);
    }
  }

  void SortTraces() {
    auto& traces = found_.traces;
    const auto key = [](const TraceSource& t) { return std::pair(t.Display(), t.member); };
    std::sort(traces.begin(), traces.end(),
              [&](const TraceSource& a, const TraceSource& b) { return key(a) < key(b); });
    traces.erase(
        std::unique(traces.begin(), traces.end(),
                    [&](const TraceSource& a, const TraceSource& b) { return key(a) == key(b); }),
        traces.end());
  }

  Discovery found_;
  // Found so far in the current folder or archive.
  std::vector<TraceSource> waiting_, exports_, captures_;
  std::string folder_;  // "" for an archive that was given itself
  FolderWalk walk_;
};

}  // namespace

std::pair<std::string, std::string> SplitPart(const std::string& path) {
  const size_t at = path.rfind("#pid=");
  if (at == std::string::npos || at == 0) return {path, ""};
  std::string_view part(path);
  part.remove_prefix(at + 1);
  const std::string whole(part);
  const bool is_part = TakeNumber(part, "pid=") && (part.empty() || TakeNumber(part, ",machine="));
  return is_part && part.empty() ? std::pair(path.substr(0, at), whole) : std::pair(path, "");
}

Result<Discovery> FindTraces(const std::vector<std::string>& paths) {
  TACHO_ASSIGN_OR_RETURN(Discovery found, LookForTraces(paths));
  if (found.traces.empty()) return tl::unexpected<Error>(NothingFound(found, paths));
  return found;
}

Result<Discovery> LookForTraces(const std::vector<std::string>& paths) {
  return Finder().Find(paths);
}

Error NothingFound(const Discovery& found, const std::vector<std::string>& paths) {
  constexpr size_t kReasons = 5;
  std::string message =
      "no trace found: name a trace (.json or .json.gz from torch.profiler, .sqlite from nsys "
      "export) or a folder or archive of traces";
  std::vector<std::string> reasons = found.skipped;
  reasons.insert(reasons.end(), found.beside.begin(), found.beside.end());
  for (const Error& failure : found.failures) reasons.push_back(failure.message);
  std::sort(reasons.begin(), reasons.end());
  for (size_t i = 0; i < std::min(reasons.size(), kReasons); ++i) {
    message += (i == 0 ? "; skipped: " : "; ") + reasons[i];
  }
  if (reasons.size() > kReasons) {
    message += fmt::format("; and {} more", reasons.size() - kReasons);
  }
  return Error{ErrorKind::kUnreadable, std::move(message)}.WithContext(
      paths.size() == 1 ? paths[0] : fmt::format("{} paths", paths.size()));
}

}  // namespace tacho
