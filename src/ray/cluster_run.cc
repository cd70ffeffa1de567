#include "ray/cluster_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <sstream>
#include <utility>

#include "base/pause.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::string RandomName() {
  std::random_device random;
  return fmt::format("tacho-{:08x}{:08x}", random(), random());
}

}  // namespace

ClusterRun::ClusterRun(const JobApi& api, const std::vector<RayNode>& nodes, std::string package,
                       const ClusterPatience& patience)
    : api_(api),
      nodes_(nodes),
      package_(std::move(package)),
      name_(RandomName()),
      patience_(patience) {}

ClusterRun::~ClusterRun() { Clear(); }

std::string ClusterRun::FolderOn(size_t node) const {
  return nodes_[node].session + "/logs/" + name_;
}

// Ray keeps what a job printed in a file of its own, which DELETE leaves.
std::string ClusterRun::ClearCommand(size_t node) const {
  return fmt::format("cd {} && rm -rf {} job-driver-{}-*.log",
                     ShellWord(nodes_[node].session + "/logs"), name_, name_);
}

Error ClusterRun::ErrorOn(size_t node, const std::string& what) const {
  const RayNode& n = nodes_[node];
  const bool has_address = n.name.find(n.ip) != std::string::npos;
  std::string text = what;
  constexpr uint64_t kLittleDisk = 64u << 20;
  if (n.free_disk && *n.free_disk < kLittleDisk) {
    text += fmt::format("; the disk with {} has {} MB free", VisibleText(n.session),
                        *n.free_disk >> 20);
  }
  return Error{ErrorKind::kRemote, std::move(text)}.WithContext(
      has_address ? n.name : fmt::format("{} ({})", n.name, n.ip));
}

Result<int> ClusterRun::EndOf(const Job& job, const JobState& state) const {
  if (state.exit_status) return *state.exit_status;
  return tl::unexpected<Error>(
      ErrorOn(job.node, "Ray lost the job" + (state.message.empty() ? "" : ": " + state.message)));
}

std::vector<ClusterRun::Job*> ClusterRun::Start(const std::string& what,
                                                const std::map<size_t, std::string>& commands,
                                                const Ended& ended) {
  std::vector<JobOrder> orders;
  std::vector<Job*> jobs;
  for (const auto& [node, command] : commands) {
    jobs_.push_back(std::make_unique<Job>());
    *jobs_.back() = {fmt::format("{}-{}-{}", name_, what, node), node, Clock::now()};
    jobs.push_back(jobs_.back().get());
    orders.push_back({jobs.back()->id, nodes_[node].ip, command});
  }
  const auto answers = api_.Submit(orders, package_);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (answers[i]) continue;
    jobs[i]->ended = true;
    ended(jobs[i]->node,
          tl::unexpected<Error>(
              ErrorOn(jobs[i]->node, "no job can be started: " + answers[i].error().message)));
  }
  return jobs;
}

bool ClusterRun::Look(const std::vector<Job*>& jobs, const Ended& ended,
                      const std::stop_token& stop) {
  std::vector<Job*> open;
  std::vector<std::string> ids;
  for (Job* job : jobs) {
    if (job->ended) continue;
    open.push_back(job);
    ids.push_back(job->id);
  }
  bool answered = false;
  const auto states = api_.StatesOf(ids, stop);
  for (size_t i = 0; i < open.size(); ++i) {
    if (!states[i]) continue;
    answered = true;
    Job& job = *open[i];
    job.started = states[i]->started;
    job.ended = states[i]->ended;
    if (job.ended) {
      const Result<int> end = EndOf(job, *states[i]);
      if (!end) lost_.insert(job.node);
      ended(job.node, end);
    } else if (!job.started && Clock::now() - job.submitted > patience_.to_start) {
      api_.Stop({job.id});
      job.ended = true;
      lost_.insert(job.node);
      ended(job.node, tl::unexpected<Error>(ErrorOn(
                          job.node, fmt::format("its job did not start within {} s",
                                                patience_.to_start / std::chrono::seconds(1)))));
    }
  }
  return answered || open.empty();
}

Result<void> ClusterRun::Run(const std::string& what, const std::map<size_t, std::string>& commands,
                             const Ended& ended, const std::stop_token& stop) {
  for (const auto& [node, command] : commands) with_folder_.insert(node);
  const std::vector<Job*> jobs = Start(what, commands, ended);
  const auto is_open = [](const Job* job) { return !job->ended; };
  auto answered = Clock::now();
  while (std::ranges::any_of(jobs, is_open)) {
    if (!Pause(stop, patience_.between)) return Fail(ErrorKind::kInterrupted, "interrupted");
    if (Look(jobs, ended, stop)) {
      answered = Clock::now();
    } else if (Clock::now() - answered > patience_.silence) {
      return Fail(ErrorKind::kRemote, fmt::format("the dashboard of Ray has not answered for {} s",
                                                  patience_.silence / std::chrono::seconds(1)));
    }
  }
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  return {};
}

void ClusterRun::BeginToClear(size_t node) {
  if (with_folder_.erase(node) == 0 || lost_.contains(node)) return;
  const auto ignore = [](size_t, const Result<int>&) {};
  for (Job* job : Start("clear", {{node, ClearCommand(node)}}, ignore)) clearing_.push_back(job);
}

void ClusterRun::WaitFor(const std::vector<Job*>& jobs, milliseconds most, const Ended& ended) {
  const auto until = Clock::now() + most;
  while (std::ranges::any_of(jobs, [](const Job* job) { return !job->ended; }) &&
         Clock::now() < until) {
    Look(jobs, ended, {});
    Pause({}, patience_.between);
  }
}

// Ray looks every second whether a job has ended. A job that was deleted before this look comes
// back as a failed one.
void ClusterRun::Forget() {
  constexpr int kMostRounds = 5;
  std::vector<std::string> ids;
  for (const auto& job : jobs_) ids.push_back(job->id);
  for (int round = 0; round < kMostRounds && !ids.empty(); ++round) {
    Pause({}, patience_.to_look);
    api_.Delete(ids);
    Pause({}, patience_.to_look / 4);
    const auto states = api_.StatesOf(ids, {});
    std::vector<std::string> left;
    for (size_t i = 0; i < ids.size(); ++i)
      if (states[i] && states[i]->known) left.push_back(ids[i]);
    ids = std::move(left);
  }
}

std::vector<std::string> ClusterRun::Clear() {
  std::vector<Job*> running;
  std::vector<std::string> ids;
  for (const auto& job : jobs_) {
    if (job->ended || std::ranges::find(clearing_, job.get()) != clearing_.end()) continue;
    running.push_back(job.get());
    ids.push_back(job->id);
  }
  const auto ignore = [](size_t, const Result<int>&) {};
  api_.Stop(ids);
  WaitFor(running, patience_.to_clear, ignore);

  // A node that Ray lost may be there again, or live on although its job was lost.
  std::map<size_t, std::string> commands;
  for (const size_t node : with_folder_) commands[node] = ClearCommand(node);
  with_folder_.clear();
  if (std::ranges::any_of(commands, [&](const auto& c) { return lost_.contains(c.first); })) {
    const auto now = api_.Nodes({});
    std::erase_if(commands, [&](const auto& command) {
      return lost_.contains(command.first) && now &&
             std::ranges::none_of(*now, [&](const RayNode& node) {
               return node.alive && node.id == nodes_[command.first].id;
             });
    });
  }
  std::ranges::copy(Start("clear", commands, ignore), std::back_inserter(clearing_));
  std::vector<std::string> left;
  WaitFor(clearing_, patience_.to_clear, [&](size_t node, const Result<int>& end) {
    if (!end || *end != 0)
      left.push_back(ErrorOn(node, FolderOn(node) + " is not removed").message);
  });
  Forget();
  jobs_.clear();
  clearing_.clear();
  return left;
}

Result<std::string> ClusterRun::Read(size_t node, const std::string& name, uint64_t most,
                                     const std::stop_token& stop) const {
  return api_.ReadLog(nodes_[node], name_ + "/" + name, most, stop);
}

Result<void> ClusterRun::Stream(size_t node, const std::string& name, const JobApi::Take& take,
                                const std::stop_token& stop) const {
  return api_.StreamLog(nodes_[node], name_ + "/" + name, take, stop);
}

std::string ClusterRun::LastWords(size_t node) const {
  const auto job = std::find_if(jobs_.rbegin(), jobs_.rend(),
                                [&](const auto& one) { return one->node == node; });
  if (job == jobs_.rend()) return "";
  // Ray's own line, "Running entrypoint for job ...", may stand before or after those of the job.
  std::istringstream lines(api_.LogOf((*job)->id));
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with("Running entrypoint")) last = line;
  return VisibleText(last);
}

}  // namespace tacho
