#include "load/body_feed.h"

namespace tacho {
namespace {

constexpr size_t kMostBytes = 64u << 20, kMostBodies = 4096;

}  // namespace

BodyFeed::BodyFeed(std::vector<uint64_t> order, size_t requests,
                   std::function<std::string(uint64_t)> build)
    : build_(std::move(build)), order_(std::move(order)), taken_(requests) {
  thread_ = std::thread([this] { Run(); });
}

BodyFeed::~BodyFeed() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool BodyFeed::Full() const { return ready_bytes_ >= kMostBytes || ready_.size() >= kMostBodies; }

void BodyFeed::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    uint64_t index;
    if (!announced_.empty()) {
      index = announced_.front();
      announced_.pop_front();
    } else if (next_ < order_.size() && !Full()) {
      index = order_[next_++];
    } else {
      idle_ = true;
      changed_.notify_all();
      changed_.wait(lock);
      continue;
    }
    if (taken_[index]) continue;
    lock.unlock();
    std::string body = build_(index);
    lock.lock();
    if (taken_[index]) continue;  // it was needed meanwhile
    ready_bytes_ += body.size();
    ready_.emplace(index, std::move(body));
    changed_.notify_all();
  }
}

void BodyFeed::WaitForFirst(size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return idle_ || ready_.size() >= count; });
}

void BodyFeed::Announce(uint64_t index) {
  {
    const std::lock_guard lock(mutex_);
    announced_.push_back(index);
  }
  changed_.notify_all();
}

std::string BodyFeed::Take(uint64_t index) {
  {
    const std::lock_guard lock(mutex_);
    taken_[index] = true;
    if (const auto found = ready_.find(index); found != ready_.end()) {
      std::string body = std::move(found->second);
      ready_bytes_ -= body.size();
      ready_.erase(found);
      changed_.notify_all();
      return body;
    }
  }
  return build_(index);
}

}  // namespace tacho
