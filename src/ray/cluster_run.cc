#include "ray/cluster_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "base/pause.h"
#include "ray/node_job.h"
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

std::string ClusterRun::NameOf(const std::string& what, size_t node) const {
  return fmt::format("{}-{}-{}", name_, what, node);
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
  if (!state.known && !job.refused.empty())
    return tl::unexpected<Error>(ErrorOn(job.node, "no job can be started: " + job.refused));
  return tl::unexpected<Error>(
      ErrorOn(job.node, "Ray lost the job" + (state.message.empty() ? "" : ": " + state.message)));
}

std::string ClusterRun::WhyGivenUp(const Job& job, const Result<JobState>& state,
                                   const Result<std::string>& log) const {
  using std::chrono::seconds;
  const auto now = Clock::now();
  if (now - job.answered > patience_.silence) {
    return fmt::format("the {} of its job could not be read for {} s: {}", state ? "log" : "state",
                       patience_.silence / seconds(1),
                       !state ? state.error().message
                       : !log ? log.error().message
                              : "it is empty");
  }
  if (state && !state->started && now - job.submitted > patience_.to_start)
    return fmt::format("its job did not start within {} s", patience_.to_start / seconds(1));
  return "";
}

std::vector<ClusterRun::Job*> ClusterRun::Start(const std::string& what,
                                                const std::map<size_t, std::string>& commands) {
  std::vector<JobOrder> orders;
  std::vector<Job*> jobs;
  for (const auto& [node, command] : commands) {
    Job& job = *jobs_.emplace_back(std::make_unique<Job>());
    job.id = NameOf(what, node);
    job.node = node;
    job.submitted = Clock::now();
    jobs.push_back(&job);
    orders.push_back({job.id, nodes_[node].ip, command});
  }
  const auto answers = api_.Submit(orders, package_);
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i]->answered = Clock::now();
    if (!answers[i]) jobs[i]->refused = answers[i].error().message;
  }
  return jobs;
}

std::vector<Result<std::string>> ClusterRun::LogsOfRunning(
    const std::vector<std::string>& ids, const std::vector<Result<JobState>>& states,
    const std::stop_token& stop) const {
  std::vector<std::string> running;
  std::vector<size_t> places;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!states[i] || !states[i]->started || states[i]->ended) continue;
    running.push_back(ids[i]);
    places.push_back(i);
  }
  std::vector<Result<std::string>> logs(ids.size());
  auto read = api_.LogsOf(running, stop);
  for (size_t i = 0; i < places.size(); ++i) logs[places[i]] = std::move(read[i]);
  return logs;
}

void ClusterRun::Look(const std::vector<Job*>& jobs, const Ended& ended,
                      const std::stop_token& stop) {
  std::vector<Job*> open;
  std::vector<std::string> ids, given_up;
  for (Job* job : jobs) {
    if (job->ended) continue;
    open.push_back(job);
    ids.push_back(job->id);
  }
  const auto states = api_.StatesOf(ids, stop);
  const auto logs = LogsOfRunning(ids, states, stop);
  if (stop.stop_requested()) return;
  Ends ends;
  for (size_t i = 0; i < open.size(); ++i) {
    Job& job = *open[i];
    const bool runs = states[i] && states[i]->started && !states[i]->ended;
    // A job that runs has said that it begins.
    if (states[i] && (!runs || (logs[i] && !logs[i]->empty()))) job.answered = Clock::now();
    job.over = states[i] && states[i]->ended;
    if (const auto end = EndInLog(logs[i].value_or(""), job.id)) {
      ends.emplace(job.node, *end);
    } else if (job.over) {
      ends.emplace(job.node, EndOf(job, *states[i]));
    } else if (const std::string why = WhyGivenUp(job, states[i], logs[i]); !why.empty()) {
      given_up.push_back(job.id);
      ends.emplace(job.node, tl::unexpected<Error>(ErrorOn(job.node, why)));
    } else {
      continue;
    }
    job.ended = true;
    if (!ends.at(job.node)) lost_.insert(job.node);
    // Ray may call it alive for half a minute more.
    if (states[i] && states[i]->node_died) dead_.insert(job.node);
  }
  api_.Stop(given_up);
  if (ends.empty()) return;
  ended(ends);
  // It may have read large results meanwhile, and no other job was asked for its state.
  for (Job* job : open) job->answered = Clock::now();
}

Result<void> ClusterRun::Run(const std::string& what, const std::map<size_t, std::string>& commands,
                             const Ended& ended, const std::stop_token& stop) {
  std::map<size_t, std::string> staying;
  for (const auto& [node, command] : commands) {
    with_folder_.insert(node);
    staying[node] = CommandOfJob(NameOf(what, node), command, ClearCommand(node));
  }
  const std::vector<Job*> jobs = Start(what, staying);
  const auto is_open = [](const Job* job) { return !job->ended; };
  constexpr int kOften = 40, kSlower = 4;  // long jobs are asked less often
  for (int looks = 0; std::ranges::any_of(jobs, is_open); ++looks) {
    if (!Pause(stop, patience_.between * (looks < kOften ? 1 : kSlower))) break;
    Look(jobs, ended, stop);
  }
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  return {};
}

void ClusterRun::BeginToClear(const std::vector<size_t>& nodes) {
  std::vector<std::string> ids;
  for (const auto& job : jobs_) {
    const bool is_there = std::ranges::find(nodes, job->node) != nodes.end();
    if (is_there && !job->over && !lost_.contains(job->node)) ids.push_back(job->id);
  }
  api_.Stop(ids);
}

bool ClusterRun::IsPatient(const Job& job, Clock::time_point since) const {
  const auto most = lost_.contains(job.node) ? patience_.to_clear_lost : patience_.to_clear;
  return Clock::now() - since < most;
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

void ClusterRun::StopJobs(std::vector<std::string>& left) {
  std::vector<Job*> running;
  std::vector<std::string> ids;
  for (const auto& job : jobs_) {
    if (job->over) continue;
    running.push_back(job.get());
    ids.push_back(job->id);
  }
  api_.Stop(ids);
  const auto began = Clock::now();
  const auto is_open = [&](const Job* job) { return !job->over && IsPatient(*job, began); };
  while (std::ranges::any_of(running, is_open)) {
    const auto states = api_.StatesOf(ids, {});
    for (size_t i = 0; i < running.size(); ++i) running[i]->over = states[i] && states[i]->ended;
    if (std::ranges::any_of(running, is_open)) Pause({}, patience_.between);
  }
  FindDead();
  for (const Job* job : running) {
    if (!job->over && !dead_.contains(job->node))
      left.push_back(ErrorOn(job->node, "the job " + job->id + " has not ended").message);
  }
}

// A node that Ray lost may be there again, or live on although its job was lost.
void ClusterRun::FindDead() {
  if (lost_.empty()) return;
  const auto now = api_.Nodes({});
  for (const size_t lost : lost_) {
    if (now && std::ranges::none_of(*now, [&](const RayNode& node) {
          return node.alive && node.id == nodes_[lost].id;
        }))
      dead_.insert(lost);
  }
}

// Forgets the nodes where the jobs removed the folder when they were stopped, and those that died.
void ClusterRun::FindFolders() {
  std::erase_if(with_folder_, [&](size_t node) { return dead_.contains(node); });
  const std::vector<size_t> nodes(with_folder_.begin(), with_folder_.end());
  std::vector<std::string> ids;
  for (const size_t node : nodes) ids.push_back(nodes_[node].id);
  const auto have = api_.HaveLog(ids, name_);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (have[i] && !*have[i]) with_folder_.erase(nodes[i]);
}

std::vector<std::string> ClusterRun::Clear() {
  std::vector<std::string> left, open;
  StopJobs(left);
  FindFolders();

  std::map<size_t, std::string> commands, why;
  for (const size_t node : with_folder_) commands[node] = ClearCommand(node);
  const std::vector<Job*> jobs = Start("clear", commands);
  const auto take = [&](const Ends& ends) {
    for (const auto& [node, end] : ends) {
      if (end && *end == 0)
        with_folder_.erase(node);
      else
        why[node] = end ? ErrorOn(node, LastWords(node)).message : end.error().message;
    }
  };
  const auto began = Clock::now();
  const auto is_open = [&](const Job* job) { return !job->ended && IsPatient(*job, began); };
  while (std::ranges::any_of(jobs, is_open)) {
    Look(jobs, take, {});
    Pause({}, patience_.between);
  }
  for (const Job* job : jobs) {
    if (!job->over) open.push_back(job->id);
    if (!with_folder_.contains(job->node)) continue;
    std::string& words = why[job->node];
    if (words.empty()) words = ErrorOn(job->node, "the job for it has not ended").message;
    left.push_back(fmt::format("{}; {} is not removed", words, FolderOn(job->node)));
  }
  api_.Stop(open);
  Forget();
  jobs_.clear();
  with_folder_.clear();
  return left;
}

void ClusterRun::ReadEach(const std::vector<size_t>& nodes, const std::string& name, uint64_t most,
                          const std::stop_token& stop, const TakeText& take) const {
  constexpr size_t kAtOnce = 8;
  for (size_t begin = 0; begin < nodes.size(); begin += kAtOnce) {
    const size_t count = std::min(kAtOnce, nodes.size() - begin);
    std::vector<std::string> ids;
    for (size_t i = 0; i < count; ++i) ids.push_back(nodes_[nodes[begin + i]].id);
    const auto texts = api_.ReadLogs(ids, name_ + "/" + name, most, stop);
    for (size_t i = 0; i < count; ++i) take(nodes[begin + i], texts[i]);
  }
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
  return LastWordsInLog(api_.LogsOf({(*job)->id}, {}).front().value_or(""), (*job)->id);
}

Error WithLeft(Error error, const std::vector<std::string>& left) {
  for (const std::string& sentence : left) error.message += "; " + sentence;
  return error;
}

}  // namespace tacho
