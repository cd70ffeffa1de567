#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace tacho {

// Builds the bodies of a plan's requests ahead of their time, on a thread of its own: a prompt of
// 100,000 tokens takes a millisecond to print, which would hold up every other stream. At most 64
// MB and 4,096 bodies wait at once.
class BodyFeed {
 public:
  // `build` is called on both threads. `order` are the requests in the order of their sending;
  // others are built when they are announced.
  BodyFeed(std::vector<uint64_t> order, size_t requests,
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
  bool Full() const;

  const std::function<std::string(uint64_t)> build_;
  const std::vector<uint64_t> order_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;  // in order_
  std::deque<uint64_t> announced_;
  std::vector<bool> taken_;
  std::unordered_map<uint64_t, std::string> ready_;
  size_t ready_bytes_ = 0;
  bool stopping_ = false, idle_ = false;
  std::thread thread_;
};

}  // namespace tacho
