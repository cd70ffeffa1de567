#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>

namespace tacho::simulate {

// The clock and the one thread that all simulated processes share. ServerLoop takes both from an
// HTTP server, in real time; tests use VirtualLoop.
class Loop {
 public:
  virtual ~Loop() = default;
  virtual int64_t NowNs() const = 0;                       // monotonic
  virtual int64_t UnixNs(int64_t monotonic_ns) const = 0;  // the same moment as Unix time
  // Call `job` on the loop's thread: soon, or at a monotonic time. From any thread.
  virtual void Post(std::function<void()> job) = 0;
  virtual void At(int64_t monotonic_ns, std::function<void()> job) = 0;
  // Runs `work`, which may block, on another thread, and afterwards `done` on the loop's thread.
  virtual void Away(std::function<void(std::stop_token)> work, std::function<void()> done) = 0;
};

// A loop whose time jumps from one job to the next. Away runs its work at once. For one thread.
class VirtualLoop : public Loop {
 public:
  static constexpr int64_t kUnixStartNs = 1'795'261'781'000'000'000;

  int64_t NowNs() const override { return now_ns_; }
  int64_t UnixNs(int64_t monotonic_ns) const override { return kUnixStartNs + monotonic_ns; }
  void Post(std::function<void()> job) override { At(now_ns_, std::move(job)); }
  void At(int64_t monotonic_ns, std::function<void()> job) override {
    jobs_.emplace(monotonic_ns < now_ns_ ? now_ns_ : monotonic_ns, std::move(job));
  }
  void Away(std::function<void(std::stop_token)> work, std::function<void()> done) override {
    work({});
    Post(std::move(done));
  }

  // Runs all jobs due until `until_ns`, and advances the time to it.
  void RunUntil(int64_t until_ns) {
    while (!jobs_.empty() && jobs_.begin()->first <= until_ns) {
      now_ns_ = jobs_.begin()->first;
      const auto job = std::move(jobs_.begin()->second);
      jobs_.erase(jobs_.begin());
      job();
    }
    now_ns_ = until_ns;
  }

 private:
  int64_t now_ns_ = 1'000'000;
  std::multimap<int64_t, std::function<void()>> jobs_;  // jobs with equal times keep their order
};

}  // namespace tacho::simulate
