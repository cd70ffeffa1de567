#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace tacho {

// Builds the bodies of a plan's requests ahead of their time, on a thread of its own: a prompt of
// 100,000 tokens takes a millisecond to print, which would hold up every other stream. At most 64
// MB and 4,096 bodies of those that come next wait at once, and as much again of announced ones.
class BodyFeed {
 public:
  // `next` tells the requests in the order of their sending, until there are no more; others are
  // built when they are announced. It is called on the own thread, `build` on both.
  BodyFeed(std::function<std::optional<uint64_t>()> next,
           std::function<std::string(uint64_t index)> build);
  ~BodyFeed();
  BodyFeed(const BodyFeed&) = delete;
  BodyFeed& operator=(const BodyFeed&) = delete;

  // Waits until the first ones are there.
  void WaitForFirst(size_t count);
  void Announce(uint64_t index);
  // The body of a request, once. Built here when it is not ready.
  std::string Take(uint64_t index);

 private:
  void Run();
  bool Full(size_t times) const;
  bool IsTaken(uint64_t index) const { return index < taken_.size() && taken_[index]; }

  const std::function<std::optional<uint64_t>()> next_;
  const std::function<std::string(uint64_t)> build_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<uint64_t> announced_;
  std::vector<bool> taken_;  // by index; those beyond its end are not
  std::unordered_map<uint64_t, std::string> ready_;
  size_t ready_bytes_ = 0;
  bool stopping_ = false, idle_ = false;
  std::thread thread_;
};

}  // namespace tacho
