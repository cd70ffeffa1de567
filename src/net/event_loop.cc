#include "net/event_loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/prefetch.h"

namespace tacho {
namespace {

constexpr size_t kTouched = 64;  // bytes at the start of a watcher that OnReady needs first

// The data of an epoll event: the descriptor and the generation of its slot.
uint64_t Ticket(int fd, uint32_t generation) {
  return uint64_t{generation} << 32 | static_cast<uint32_t>(fd);
}

// Each stream needs a descriptor, and a shell usually allows only 1024.
void AllowManyDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void Drain(int fd) {
  uint64_t count = 0;
  while (read(fd, &count, sizeof(count)) > 0) {
  }
}

}  // namespace

bool EventLoop::Later(const Timed& a, const Timed& b) {
  return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
}

Result<std::unique_ptr<EventLoop>> EventLoop::Create() {
  static std::once_flag allowed;
  std::call_once(allowed, AllowManyDescriptors);
  std::unique_ptr<EventLoop> loop(new EventLoop());
  loop->epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  loop->wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  loop->timer_ = FileDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!loop->epoll_ || !loop->wake_ || !loop->timer_) {
    return Fail(ErrorKind::kOutput, std::string("cannot set up an event loop: ") +
                                        std::strerror(errno) +
                                        " (is the limit of open files, ulimit -n, too low?)");
  }
  loop->Watch(loop->wake_.get(), EPOLLIN, nullptr);
  loop->Watch(loop->timer_.get(), EPOLLIN, nullptr);
  return loop;
}

void EventLoop::Start(const char* name, Job between) {
  between_ = std::move(between);
  // The thread inherits this thread's signal mask, which blocks all signals for the moment.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), name);
}

EventLoop::~EventLoop() { Stop(); }

void EventLoop::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  Wake();
  thread_.join();
}

void EventLoop::Post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(job));
    if (has_posted_.exchange(true)) return;  // the loop knows already
  }
  if (!OnThread()) Wake();
}

void EventLoop::At(int64_t monotonic_ns, Job job) {
  if (OnThread()) return AddTimed(monotonic_ns, std::move(job));
  Post([this, monotonic_ns, job = std::move(job)]() mutable {
    AddTimed(monotonic_ns, std::move(job));
  });
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  // The write fails only if the counter is full, and then the loop wakes up anyway.
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void EventLoop::Watch(int fd, uint32_t events, FdWatcher* watcher) {
  const auto index = static_cast<size_t>(fd);
  if (index >= slots_.size()) slots_.resize(index + 1);
  Slot& slot = slots_[index];
  const bool known = slot.watcher != nullptr;
  if (!known) ++slot.generation;
  slot.watcher = watcher;
  epoll_event event{};
  event.events = events;
  event.data.u64 = Ticket(fd, slot.generation);
  if (epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0) return;
  // The kernel cannot watch one more descriptor, and no event would ever come: tell its owner.
  Post([this, fd, generation = slot.generation] {
    const Slot& of = slots_[static_cast<size_t>(fd)];
    if (of.watcher != nullptr && of.generation == generation) of.watcher->OnReady(fd, EPOLLERR);
  });
}

void EventLoop::Unwatch(int fd) {
  const auto index = static_cast<size_t>(fd);
  if (index >= slots_.size() || slots_[index].watcher == nullptr) return;
  slots_[index].watcher = nullptr;
  ++slots_[index].generation;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::Run() {
  for (;;) {
    RunDue();
    const bool busy = RunJobs();
    between_();
    // A chain of jobs, each posted by the one before, must not keep the descriptors waiting.
    const bool more = busy || has_posted_;
    if (stopping_ && !more) return;
    Arm();
    ServeReady(more ? 0 : -1);
  }
}

void EventLoop::ServeReady(int most_ms) {
  std::array<epoll_event, kRound> events;
  const int count = epoll_wait(epoll_.get(), events.data(), kRound, most_ms);
  const int64_t ready_ns = MonotonicNs();
  ++look_;
  since_last_look_ns_ = ready_ns - std::exchange(looked_ns_, ready_ns);
  for (int i = 1; i < count; ++i) {
    const auto fd = static_cast<uint32_t>(events[static_cast<size_t>(i)].data.u64);
    Prefetch(slots_[fd].watcher, kTouched);
  }
  for (int i = 0; i < count; ++i) {
    if (i % kBatch == kBatch - 1) {
      RunDue();
      RunJobs();
      between_();
    }
    ready_ns_ = ready_ns;
    const uint64_t ticket = events[static_cast<size_t>(i)].data.u64;
    const int fd = static_cast<int>(static_cast<uint32_t>(ticket));
    if (fd == wake_.get()) {
      Drain(fd);
    } else if (fd == timer_.get()) {
      Drain(fd);
      armed_ns_ = INT64_MAX;
    } else {
      const Slot& slot = slots_[static_cast<size_t>(fd)];
      if (slot.watcher == nullptr || slot.generation != ticket >> 32) continue;
      slot.watcher->OnReady(fd, events[static_cast<size_t>(i)].events);
    }
  }
}

bool EventLoop::RunJobs() {
  if (!has_posted_) return false;
  {
    const std::lock_guard lock(mutex_);
    running_.swap(posted_);
    has_posted_ = false;
  }
  for (Job& job : running_) {
    job();
    job = nullptr;  // destroys the job's captures before the next job begins
  }
  running_.clear();
  return true;
}

void EventLoop::AddTimed(int64_t at_ns, Job job) {
  timed_.push_back({at_ns, timed_count_++, std::move(job)});
  std::push_heap(timed_.begin(), timed_.end(), Later);
}

void EventLoop::RunDue() {
  if (timed_.empty()) return;
  const int64_t now = MonotonicNs();
  const uint64_t known =
      timed_count_;  // jobs that these jobs add wait for the next round, so that this one ends
  while (!timed_.empty() && timed_.front().at_ns <= now && timed_.front().order < known) {
    std::pop_heap(timed_.begin(), timed_.end(), Later);
    const Job job = std::move(timed_.back().job);
    timed_.pop_back();
    job();
  }
}

void EventLoop::Arm() {
  const int64_t wanted = timed_.empty() ? INT64_MAX : timed_.front().at_ns;
  // A timer that fires too early does no harm: it only wakes the loop once.
  if (wanted >= armed_ns_) return;
  armed_ns_ = wanted;
  const int64_t at = std::max<int64_t>(wanted, 1);  // 0 would switch the timer off
  itimerspec spec{};
  spec.it_value.tv_sec = at / 1'000'000'000;
  spec.it_value.tv_nsec = at % 1'000'000'000;
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace tacho
