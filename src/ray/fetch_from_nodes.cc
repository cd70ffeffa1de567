#include "ray/fetch_from_nodes.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "base/file_descriptor.h"
#include "base/replace_file.h"
#include "ray/file_sum.h"
#include "ray/node_job.h"
#include "ray/node_program.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostSums = 64u << 20;

uint64_t SizeOf(const std::string& path) {
  std::error_code failed;
  const uintmax_t bytes = fs::file_size(path, failed);
  return failed ? 0 : bytes;
}

class NodesFetch {
 public:
  NodesFetch(ClusterRun& run, const std::vector<RayNode>& nodes, const std::string& folder,
             const SayNow& say, const std::stop_token& stop)
      : run_(run), nodes_(nodes), folder_(folder), say_(say), stop_(stop) {}

  Result<FetchedFiles> Run(const std::vector<NodeFile>& files) {
    TACHO_RETURN_IF_ERROR(Work(files));
    if (stop_.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
    for (const Wanted& file : wanted_)
      if (file.whole) out_.files.push_back(file.place);
    // Nodes end in any order.
    std::ranges::sort(out_.failures, {}, &Error::message);
    return std::move(out_);
  }

 private:
  struct Wanted {
    std::string path, place;  // on its node, and here
    std::string name;         // in the folder of the run
    uint64_t bytes = 0;       // as the request says; 0: unknown
    uint64_t begun = 0;       // bytes of an earlier transfer
    std::optional<FileSum> sum;
    bool whole = false;
  };

  Result<void> Work(const std::vector<NodeFile>& files) {
    TACHO_RETURN_IF_ERROR(Place(files));
    std::map<size_t, std::string> commands;
    for (const auto& [node, wanted] : of_node_) {
      commands[node] = OfferCommand(node, wanted);
      if (commands[node].size() <= kMostCommand) continue;
      out_.failures.push_back(
          run_.ErrorOn(node, fmt::format("{} are too many to name: fetch them rank by rank",
                                         FormatCounted(wanted.size(), "file"))));
      commands.erase(node);
    }
    say_("adding up the files");
    TACHO_RETURN_IF_ERROR(run_.Run(
        "fetch", commands, [&](const ClusterRun::Ends& ends) { TakeAllSums(ends); }, stop_));
    for (const auto& [node, wanted] : of_node_) {
      for (Wanted* file : wanted)
        if (file->sum) Fetch(node, *file);
      run_.BeginToClear({node});
      if (stop_.stop_requested()) break;
    }
    return {};
  }

  Result<void> Place(const std::vector<NodeFile>& files) {
    wanted_.reserve(files.size());
    for (const NodeFile& file : files) {
      const auto node = std::ranges::find_if(
          nodes_, [&](const RayNode& n) { return n.alive && n.name == file.node; });
      if (node == nodes_.end()) {
        out_.failures.push_back(
            Error{ErrorKind::kRemote, "no living node has this name"}.WithContext(
                VisibleText(file.node)));
        continue;
      }
      Wanted& wanted = wanted_.emplace_back();
      wanted.path = file.path;
      wanted.bytes = file.bytes;
      TACHO_ASSIGN_OR_RETURN(wanted.place, PlaceOfFetched(folder_, file));
      wanted.name = fmt::format("f{}", wanted_.size());
      wanted.begun = SizeOf(wanted.place + ".part");
      of_node_[static_cast<size_t>(node - nodes_.begin())].push_back(&wanted);
    }
    return {};
  }

  // Makes the files readable through the log route, which follows links: a link to the file, or
  // what is missing of it.
  std::string OfferCommand(size_t node, const std::vector<Wanted*>& files) const {
    std::string command =
        fmt::format("d={} && mkdir -p \"$d\" && chmod +x ./tacho", ShellWord(run_.FolderOn(node)));
    std::string paths;
    for (const Wanted* file : files) {
      const std::string path = ShellWord(file->path);
      command += file->begun == 0 ? fmt::format(" && ln -s {} \"$d/{}\"", path, file->name)
                                  : fmt::format(" && {{ tail -c +{} {} >\"$d/{}\" || :; }}",
                                                file->begun + 1, path, file->name);
      paths += " " + path;
    }
    return command + fmt::format(" && exec ./tacho {} sums{} >\"$d/sums\"", kNodeWord, paths);
  }

  void TakeAllSums(const ClusterRun::Ends& ends) {
    std::vector<size_t> offered;
    for (const auto& [node, end] : ends) {
      if (!end)
        out_.failures.push_back(end.error());
      else if (*end != 0)
        out_.failures.push_back(
            run_.ErrorOn(node, "its files cannot be offered: " + run_.LastWords(node)));
      else
        offered.push_back(node);
    }
    run_.ReadEach(offered, "sums", kMostSums, stop_,
                  [&](size_t node, const auto& text) { TakeSums(node, text); });
  }

  void TakeSums(size_t node, const Result<std::string>& text) {
    const auto& files = of_node_.at(node);
    const auto sums =
        text.and_then([&](const std::string& t) { return ParseFileSums(t, files.size()); });
    if (!sums) return out_.failures.push_back(run_.ErrorOn(node, sums.error().message));
    for (size_t i = 0; i < files.size(); ++i) {
      const Result<FileSum>& sum = (*sums)[i];
      const uint64_t expected = files[i]->bytes;
      if (sum && expected > 0 && sum->bytes > expected)
        out_.failures.push_back(
            run_.ErrorOn(node, fmt::format("{} grew from {} to {} bytes since it was analysed",
                                           VisibleText(files[i]->path), expected, sum->bytes)));
      else if (sum)
        files[i]->sum = *sum;
      else
        out_.failures.push_back(run_.ErrorOn(node, VisibleText(sum.error().message)));
    }
  }

  void Fetch(size_t node, Wanted& file) {
    if (SizeOf(file.place) == file.sum->bytes) {
      if (const auto there = SumOfFile(file.place); there && *there == *file.sum) {
        file.whole = true;
        ++out_.there_already;
        return;
      }
    }
    const auto came = Transfer(node, file);
    if (came) {
      file.whole = true;
    } else if (!stop_.stop_requested()) {
      out_.failures.push_back(run_.ErrorOn(node, came.error().message));
    }
  }

  Result<void> Transfer(size_t node, const Wanted& file) {
    const std::string part = file.place + ".part";
    std::error_code failed;
    fs::create_directories(fs::path(part).parent_path(), failed);
    const FileDescriptor to(
        open(part.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!to) return CannotWrite(part, errno);
    uint64_t have = file.begun;
    int error = 0;
    const auto came = run_.Stream(
        node, file.name,
        [&](std::string_view piece) {
          // More than the sum tells is not taken.
          piece = piece.substr(0, file.sum->bytes - std::min(file.sum->bytes, have));
          error = WriteAll(to.get(), piece);
          have += piece.size();
          say_(fmt::format("fetching {}: {} of {} MB", VisibleText(file.path), have >> 20,
                           file.sum->bytes >> 20));
          return error == 0 && have < file.sum->bytes;
        },
        stop_);
    out_.brought += have - file.begun;
    if (error != 0) return CannotWrite(part, error);
    if (have < file.sum->bytes) {
      const std::string why = came ? "" : ": " + came.error().message;
      return Fail(ErrorKind::kRemote,
                  fmt::format("of {} came {} of {} bytes{}", VisibleText(file.path), have,
                              file.sum->bytes, why));
    }
    TACHO_ASSIGN_OR_RETURN(const FileSum got, SumOfFile(part));
    if (got != *file.sum) {
      fs::remove(part, failed);
      return Fail(ErrorKind::kRemote, VisibleText(file.path) + " came damaged");
    }
    fs::rename(part, file.place, failed);
    if (failed) return CannotWrite(file.place, failed.value());
    return {};
  }

  ClusterRun& run_;
  const std::vector<RayNode>& nodes_;
  const std::string& folder_;
  const SayNow& say_;
  const std::stop_token& stop_;
  std::vector<Wanted> wanted_;
  std::map<size_t, std::vector<Wanted*>> of_node_;
  FetchedFiles out_;
};

}  // namespace

Result<std::string> PlaceOfFetched(const std::string& folder, const NodeFile& file) {
  const fs::path path(file.path), node(file.node);
  const bool leads_out =
      std::ranges::any_of(path, [](const fs::path& part) { return part == ".." || part == "."; });
  if (!path.is_absolute() || leads_out || node.has_parent_path() || node == "." || node == ".." ||
      node.empty()) {
    return Fail(ErrorKind::kUsage, fmt::format("{}:{} is no absolute path of a node",
                                               VisibleText(file.node), VisibleText(file.path)));
  }
  return (fs::path(folder) / node / path.relative_path()).string();
}

uint64_t BytesToCome(const std::vector<NodeFile>& files, const std::string& folder) {
  uint64_t bytes = 0;
  for (const NodeFile& file : files) {
    const std::string place = PlaceOfFetched(folder, file).value_or("");
    if (SizeOf(place) != file.bytes)
      bytes += file.bytes - std::min(file.bytes, SizeOf(place + ".part"));
  }
  return bytes;
}

Result<FetchedFiles> FetchWithin(ClusterRun& run, const std::vector<RayNode>& nodes,
                                 const std::vector<NodeFile>& files, const std::string& folder,
                                 const SayNow& say, const std::stop_token& stop) {
  return NodesFetch(run, nodes, folder, say, stop).Run(files);
}

Result<FetchedFiles> FetchFromNodes(const FetchRequest& request, const std::string& folder,
                                    const std::stop_token& stop) {
  TACHO_ASSIGN_OR_RETURN(const auto cluster,
                         ClusterConnection::Open(request.access, request.say, stop));
  TACHO_ASSIGN_OR_RETURN(const auto nodes, cluster.api().Nodes(stop));
  TACHO_RETURN_IF_ERROR(SendProgram(cluster.api(), request.access.program, request.say, stop));
  ClusterRun run(cluster.api(), nodes, request.access.program.hash, request.patience);
  auto fetched = FetchWithin(run, nodes, request.files, folder, request.say, stop);
  auto left = run.Clear();
  if (fetched && stop.stop_requested()) fetched = Fail(ErrorKind::kInterrupted, "interrupted");
  if (!fetched) return tl::unexpected<Error>(WithLeft(std::move(fetched).error(), left));
  fetched->remarks = std::move(left);
  return fetched;
}

}  // namespace tacho
