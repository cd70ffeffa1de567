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

// Builds the bodies of a plan's requests in advance, on its own thread: printing a prompt of
// 100,000 tokens takes a millisecond, which would delay every other stream. Holds at most 64 MB and
// 4,096 bodies; announced requests may fill it to twice that.
class BodyFeed {
 public:
  // `next` yields the index of the next request to build, in the order of sending, and nullopt
  // after the last. Announced requests are built first. `next` is called on the feed's thread,
  // `build` on that thread and on the caller's.
  BodyFeed(std::function<std::optional<uint64_t>()> next,
           std::function<std::string(uint64_t index)> build);
  ~BodyFeed();
  BodyFeed(const BodyFeed&) = delete;
  BodyFeed& operator=(const BodyFeed&) = delete;

  // Waits until `count` bodies are ready, or nothing is left to build.
  void WaitForFirst(size_t count);
  void Announce(uint64_t index);
  // Returns the body of a request; call it once per request. If the body is not ready, builds it on
  // this thread.
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
  std::vector<bool> taken_;  // by request index; requests past its end are not taken
  std::unordered_map<uint64_t, std::string> ready_;
  size_t ready_bytes_ = 0;
  bool stopping_ = false, idle_ = false;
  std::thread thread_;
};

}  // namespace tacho
