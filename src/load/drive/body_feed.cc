#include "load/drive/body_feed.h"

namespace tacho {
namespace {

constexpr size_t kMostBytes = 64u << 20, kMostBodies = 4096;

}  // namespace

BodyFeed::BodyFeed(std::function<std::optional<uint64_t>()> next,
                   std::function<std::string(uint64_t)> build)
    : next_(std::move(next)), build_(std::move(build)) {
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

bool BodyFeed::Full(size_t times) const {
  return ready_bytes_ >= times * kMostBytes || ready_.size() >= times * kMostBodies;
}

void BodyFeed::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::optional<uint64_t> wanted;
    if (!announced_.empty() && !Full(2)) {
      wanted = announced_.front();
      announced_.pop_front();
    } else if (!Full(1)) {
      wanted = next_();
    }
    if (!wanted) {
      idle_ = true;
      changed_.notify_all();
      changed_.wait(lock);
      continue;
    }
    const uint64_t index = *wanted;
    if (IsTaken(index) || ready_.contains(index)) continue;
    lock.unlock();
    std::string body = build_(index);
    lock.lock();
    if (IsTaken(index)) continue;  // taken while it was being built
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
    if (index >= taken_.size()) taken_.resize(2 * index + 64);
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
