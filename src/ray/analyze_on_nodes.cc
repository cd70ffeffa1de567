#include "ray/analyze_on_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/replace_file.h"
#include "io/zip_file.h"
#include "ray/analyze_command.h"
#include "ray/found_files.h"
#include "ray/node_job.h"
#include "ray/node_program.h"
#include "ray/python_driver.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr uint64_t kMostList = 64u << 20, kMostSaid = 1u << 20;

class NodesAnalysis {
 public:
  NodesAnalysis(const ClusterRequest& request, const std::string& folder,
                const std::stop_token& stop, const JobApi& api, std::vector<RayNode> nodes)
      : request_(request),
        folder_(folder),
        stop_(stop),
        nodes_(std::move(nodes)),
        run_(api, nodes_, request.access.program.hash, request.patience) {}

  Result<ClusterResults> Run() {
    auto worked = Work();
    if (worked) worked = Fetch();
    request_.say("removing tacho's files from the nodes");
    auto left = run_.Clear();
    if (worked && stop_.stop_requested()) worked = Fail(ErrorKind::kInterrupted, "interrupted");
    if (worked && out_.results.empty()) worked = Nothing();
    if (!worked) return tl::unexpected<Error>(WithLeft(std::move(worked).error(), left));
    std::ranges::move(left, std::back_inserter(out_.remarks));
    std::ranges::sort(out_.failures, {}, &Error::message);
    return std::move(out_);
  }

 private:
  Result<void> Work() {
    TACHO_ASSIGN_OR_RETURN(const auto files, ListFiles());
    TACHO_RETURN_IF_ERROR(Analyze(files));
    auto nowhere = AddProblems(files);
    for (const auto& [node, failure] : failures_) out_.failures.push_back(failure);
    std::ranges::move(nowhere, std::back_inserter(out_.failures));
    std::ranges::sort(out_.results, {}, &NodeResults::node);
    return {};
  }

  Result<void> Fetch() {
    if (!request_.to_fetch || out_.results.empty()) return {};
    TACHO_ASSIGN_OR_RETURN(const auto files, request_.to_fetch(out_));
    TACHO_ASSIGN_OR_RETURN(
        out_.fetched, FetchWithin(run_, nodes_, files, request_.fetch_to, request_.say, stop_));
    return {};
  }

  // The shell commands begin with the same words: old versions of Ray lose the permission to
  // execute.
  std::string Begin(size_t node) const {
    return fmt::format("d={} && mkdir -p \"$d\" && chmod +x ./tacho && ",
                       ShellWord(run_.FolderOn(node)));
  }

  void Lose(size_t node, const std::string& what, ErrorKind kind = ErrorKind::kRemote) {
    Error error = run_.ErrorOn(node, what);
    error.kind = kind;
    failures_.emplace(node, std::move(error));
  }

  // Where the results of a node lie here.
  std::string FileOf(size_t node) const { return fmt::format("{}/{}.json", folder_, node); }

  Result<std::vector<NodeFiles>> ListFiles() {
    std::map<size_t, std::string> commands;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].alive) {
        out_.remarks.push_back(run_.ErrorOn(i, "a dead node, whose files are not seen").message);
        continue;
      }
      commands[i] = Begin(i) + fmt::format("./tacho {} files{} >\"$d/files\"", kNodeWord,
                                           ShellWords(request_.paths));
      if (!request_.wanted) {
        const NodeOptions options = OptionsOf(i);
        commands[i] += fmt::format(
            " && {{ ./tacho {} own \"$d/files\" {}{} >\"$d/own\" && . \"$d/own\"; :; }}", kNodeWord,
            options.threads, ShellWords(options.analysis));
      }
      if (commands[i].size() > kMostCommand) {
        return Fail(ErrorKind::kUsage,
                    "the paths are longer than a job of Ray can be: name their folders");
      }
    }
    if (commands.empty()) return Fail(ErrorKind::kRemote, "no node of the cluster is alive");
    std::vector<NodeFiles> files(nodes_.size());
    size_t done = 0;
    const auto say = [&] {
      request_.say(fmt::format("listing files{}: {} of {} done",
                               request_.wanted ? "" : " and analysing", done,
                               FormatCounted(commands.size(), "node")));
    };
    say();
    TACHO_RETURN_IF_ERROR(run_.Run(
        "files", commands,
        [&](const ClusterRun::Ends& ends) {
          TakeLists(ends, files);
          done += ends.size();
          say();
        },
        stop_));
    return files;
  }

  void TakeLists(const ClusterRun::Ends& ends, std::vector<NodeFiles>& files) {
    std::vector<size_t> listed;
    for (const auto& [node, end] : ends) {
      if (!end)
        out_.failures.push_back(end.error());
      else if (*end != 0)
        Lose(node, fmt::format("its files cannot be listed: {}", WordsOf(node, *end)));
      else
        listed.push_back(node);
    }
    run_.ReadEach(listed, "files", kMostList, stop_,
                  [&](size_t node, const auto& text) { TakeList(node, text, files[node]); });
    if (request_.wanted) return;
    std::erase_if(listed, [&](size_t node) { return !AreOwnFiles(files[node]); });
    TakeResults(listed, false);
  }

  void TakeList(size_t node, const Result<std::string>& text, NodeFiles& files) {
    auto list = text.and_then([](const std::string& json) { return ParseFiles(json); });
    if (!list) return Lose(node, list.error().message);
    files = *std::move(list);
    if (!request_.wanted) return;
    for (FoundPath& path : files.paths) {
      const size_t all = path.files.size();
      std::erase_if(path.files,
                    [&](const FoundFile& file) { return !request_.wanted(nodes_[node], file); });
      path.only_files = path.files.size() < all;
      std::erase_if(path.damaged,
                    [&](const FoundFile& file) { return !request_.wanted(nodes_[node], file); });
    }
  }

  // The last words of a job, which ended with this status.
  std::string WordsOf(size_t node, int status) const {
    const std::string words = run_.LastWords(node);
    return words.empty() ? fmt::format("the job ended with status {}", status) : words;
  }

  NodeOptions OptionsOf(size_t node) const {
    return {request_.threads.value_or(static_cast<int64_t>(nodes_[node].cores)), request_.options};
  }

  Result<std::string> CommandFor(size_t node, const NodeMemory& memory,
                                 const std::vector<std::string>& paths) const {
    const auto analyze = AnalyzeCommand(memory, OptionsOf(node), paths);
    if (!analyze) return tl::unexpected<Error>(run_.ErrorOn(node, analyze.error().message));
    std::string command = Begin(node) + *analyze;
    if (command.size() <= kMostCommand) return command;
    return tl::unexpected<Error>(
        run_.ErrorOn(node, fmt::format("{} are too many to name, beside those that other nodes "
                                       "analyse: name their folders",
                                       FormatCounted(paths.size(), "file"))));
  }

  Result<void> Analyze(const std::vector<NodeFiles>& files) {
    const auto parts = DivideFiles(files);
    std::map<size_t, std::string> commands;
    std::vector<size_t> idle;
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool is_done = answered_.contains(i) && parts[i] == DivideFiles({files[i]}).front();
      if (!is_done) Drop(i);
      if (!parts[i].empty() && !is_done) {
        auto command = CommandFor(i, files[i].memory, parts[i]);
        if (command) {
          commands[i] = *std::move(command);
          continue;
        }
        out_.failures.push_back(command.error());
      }
      idle.push_back(i);
    }
    if (!request_.to_fetch) run_.BeginToClear(idle);
    if (commands.empty()) return {};
    size_t done = 0;
    const auto say = [&] {
      request_.say(
          fmt::format("analysing: {} of {} done", done, FormatCounted(commands.size(), "node")));
    };
    say();
    return run_.Run(
        "analyze", commands,
        [&](const ClusterRun::Ends& ends) {
          TakeEnds(ends);
          done += ends.size();
          say();
        },
        stop_);
  }

  void TakeEnds(const ClusterRun::Ends& ends) {
    std::vector<size_t> ended;
    for (const auto& [node, end] : ends) {
      if (end)
        ended.push_back(node);
      else
        out_.failures.push_back(end.error());
    }
    TakeResults(ended, true);
    if (!request_.to_fetch) run_.BeginToClear(ended);
  }

  // Forgets what came of a node that analysed files of another node's part.
  void Drop(size_t node) {
    if (answered_.erase(node) == 0) return;
    std::erase_if(out_.results, [&](const NodeResults& of) { return of.file == FileOf(node); });
    failures_.erase(node);
  }

  // `must`: a node without results is lost. Else another node may have begun with its files.
  void TakeResults(const std::vector<size_t>& ended, bool must) {
    std::vector<size_t> with_results;
    std::map<size_t, ResultsSum> sums;
    run_.ReadEach(ended, "sum", kMostSaid, stop_, [&](size_t node, const auto& text) {
      const auto sum = text.and_then([](const std::string& words) { return ParseSum(words); });
      if (!sum && !must) return;
      answered_.insert(node);
      if (!sum) {
        const std::string words = run_.LastWords(node);
        return Lose(node, words.empty() ? sum.error().message : words);
      }
      // 4: incomplete. The results say what is missing in them.
      if (sum->status != 0 && sum->status != 4)
        return Lose(node, WhyNot(node, sum->status), ErrorKind::kUnreadable);
      sums[node] = *sum;
      with_results.push_back(node);
    });
    run_.ReadEach(with_results, "out.json", kMostResults, stop_,
                  [&](size_t node, const auto& text) { Keep(node, sums[node], text); });
  }

  void Keep(size_t node, const ResultsSum& sum, const Result<std::string>& results) {
    if (!results) return Lose(node, "its results cannot be fetched: " + results.error().message);
    if (const ResultsSum got = SumOf(sum.status, *results); got.digest != sum.digest) {
      Lose(node, fmt::format("its results came damaged: {} of {} bytes, with another SHA-256",
                             got.bytes, sum.bytes));
      return;
    }
    if (const auto written = ReplaceFile(FileOf(node), *results); !written)
      out_.failures.push_back(written.error());
    else
      out_.results.push_back({nodes_[node].name, FileOf(node)});
  }

  // The program's own words for a failure: its last line.
  std::string WhyNot(size_t node, int status) const {
    std::string words = run_.Read(node, "err", kMostSaid, stop_).value_or("");
    while (words.ends_with('\n')) words.pop_back();
    words.erase(0, words.rfind('\n') + 1);
    constexpr std::string_view kOurs = "tacho: ";
    if (words.starts_with(kOurs)) return VisibleText(words.substr(kOurs.size()));
    return fmt::format("tacho ended there with status {}{}{}", status, words.empty() ? "" : ": ",
                       VisibleText(words));
  }

  // What is wrong with paths; nodes without any of them are remarked. Returns a failure for each
  // path that no node can read.
  std::vector<Error> AddProblems(const std::vector<NodeFiles>& files) {
    std::vector<Error> nowhere;
    for (size_t p = 0; p < request_.paths.size(); ++p) {
      size_t nodes = 0;
      std::vector<size_t> absent, bare, broken;
      for (size_t i = 0; i < files.size(); ++i) {
        if (files[i].paths.size() != request_.paths.size()) continue;
        ++nodes;
        const FoundPath& path = files[i].paths[p];
        if (path.absent)
          absent.push_back(i);
        else if (path.HasNothing())
          bare.push_back(i);
        else if (!path.problem.empty())
          broken.push_back(i);
      }
      // A disk that all nodes see is named once.
      if (broken.size() < nodes || !AllSay(files, p)) {
        for (const size_t i : broken) Lose(i, files[i].paths[p].problem, ErrorKind::kUnreadable);
        broken.clear();
      }
      // A node that has the folder says more than one that lacks it.
      const auto& lacking = !broken.empty() ? broken : !bare.empty() ? bare : absent;
      if (lacking.empty() || absent.size() + bare.size() + broken.size() < nodes) continue;
      const std::string& problem = files[lacking.front()].paths[p].problem;
      nowhere.push_back(Error{ErrorKind::kUnreadable, VisibleText(problem)}.WithContext(
          lacking.size() == nodes ? "on every node" : "on " + NamesOf(lacking)));
    }
    std::vector<size_t> without;
    for (size_t i = 0; i < files.size(); ++i)
      if (!files[i].paths.empty() && std::ranges::all_of(files[i].paths, &FoundPath::HasNothing))
        without.push_back(i);
    if (!without.empty() && !request_.wanted) {
      out_.remarks.push_back(fmt::format(
          "no trace of {} on {}", VisibleText(fmt::format("{}", fmt::join(request_.paths, ", "))),
          NamesOf(without)));
    }
    return nowhere;
  }

  // Whether all nodes have the same problem with this path.
  bool AllSay(const std::vector<NodeFiles>& files, size_t path) const {
    std::set<std::string> problems;
    for (const NodeFiles& of_node : files)
      if (of_node.paths.size() == request_.paths.size())
        problems.insert(of_node.paths[path].problem);
    return problems.size() == 1;
  }

  std::string NamesOf(const std::vector<size_t>& nodes) const {
    std::string names;
    for (const size_t node : nodes) names += (names.empty() ? "" : ", ") + nodes_[node].name;
    return names;
  }

  tl::unexpected<Error> Nothing() const {
    if (out_.failures.empty()) return Fail(ErrorKind::kUnreadable, "no node has traces there");
    Error error = out_.failures.front();
    if (out_.failures.size() > 1) {
      error.message +=
          fmt::format(" (and {} more)", FormatCounted(out_.failures.size() - 1, "failure"));
    }
    return tl::unexpected<Error>(std::move(error));
  }

  const ClusterRequest& request_;
  const std::string& folder_;
  const std::stop_token& stop_;
  const std::vector<RayNode> nodes_;
  ClusterRun run_;
  std::set<size_t> answered_;              // nodes that analysed files, well or not
  std::multimap<size_t, Error> failures_;  // by node: what went wrong there
  ClusterResults out_;
};

}  // namespace

Result<ClusterResults> AnalyzeOnNodes(const ClusterRequest& request, const std::string& folder,
                                      const std::stop_token& stop) {
  request.say("asking Ray for its nodes");
  TACHO_ASSIGN_OR_RETURN(const auto cluster,
                         ClusterConnection::Open(request.access, request.say, stop));
  TACHO_ASSIGN_OR_RETURN(auto nodes, cluster.api().Nodes(stop));
  TACHO_RETURN_IF_ERROR(SendProgram(cluster.api(), request.access.program, request.say, stop));
  return NodesAnalysis(request, folder, stop, cluster.api(), std::move(nodes)).Run();
}

}  // namespace tacho
