#include "load_server.h"

#include <fmt/format.h>
#include <time.h>

#include <charconv>

#include "base/monotonic_clock.h"

namespace tacho {
namespace {

constexpr int64_t kTickNs = 1'000'000;
constexpr int kWritesAJob = 4;

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t FieldOf(const std::string& body, const std::string& key) {
  const size_t at = body.find("\"" + key + "\":");
  int64_t value = 1;
  if (at != std::string::npos) {
    // Python's clients write a blank behind the colon.
    const size_t digits = body.find_first_not_of(' ', at + key.size() + 3);
    std::from_chars(body.data() + digits, body.data() + body.size(), value);
  }
  return value;
}

std::string Chunk(int64_t total, bool last) {
  return fmt::format(
      "data: "
      "{{\"id\":\"cmpl-tacho-00000000-0\",\"object\":\"text_completion\",\"created\":1763725935,"
      "\"model\":\"tiny\",\"choices\":[{{\"index\":0,\"text\":\" word\",\"logprobs\":null,\"finish_"
      "reason\":{},\"stop_reason\":null,\"prompt_token_ids\":null,\"token_ids\":null}}],\"usage\":{"
      "{"
      "\"prompt_tokens\":32,\"total_tokens\":{},\"completion_tokens\":{}}}}}\n\n{}",
      last ? "\"length\"" : "null", 32 + total, total, last ? "data: [DONE]\n\n" : "");
}

}  // namespace

LoadServer::LoadServer(int64_t first_ns, int64_t gap_ns) : first_ns_(first_ns), gap_ns_(gap_ns) {
  auto server = HttpServer::Create();
  server_ = std::move(*server);
  port_ = *server_->Listen("127.0.0.1", 0, [this](const auto& exchange) { Take(exchange); });
  server_->Post([this] { Tick(MonotonicNs() + kTickNs); });
}

LoadServer::~LoadServer() = default;

std::string LoadServer::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

std::unordered_map<std::string, LoadServer::Truth> LoadServer::TakeTruth() {
  const std::lock_guard lock(mutex_);
  return std::move(truth_);
}

void LoadServer::Take(const std::shared_ptr<HttpExchange>& exchange) {
  Stream stream;
  stream.exchange = exchange;
  stream.id = FindHeader(exchange->request().headers, "X-Request-Id");
  stream.tokens = FieldOf(exchange->request().body, "max_tokens");
  const int64_t now = MonotonicNs();
  if (began_ns_ == 0) {
    began_ns_ = now;
    cpu_began_ns_ = ThreadCpuNs();
  }
  stream.next_ns = now + first_ns_;
  {
    const std::lock_guard lock(mutex_);
    truth_[stream.id].arrived_ns = exchange->request().came_ns;
    truth_[stream.id].read_ns = now;
  }
  exchange->Begin(200, "text/event-stream; charset=utf-8");
  streams_.push_back(std::move(stream));
}

void LoadServer::Tick(int64_t at_ns) {
  server_->At(at_ns, [this, at_ns] { WriteDue(0, at_ns, MonotonicNs()); });
}

// The server gives what was written to the kernel after each job. With few writes a job, the times
// that are remembered are those of the sends, some 40 us early at most.
void LoadServer::WriteDue(size_t from, int64_t at_ns, int64_t now) {
  int writes = 0;
  for (size_t i = from; i < streams_.size();) {
    if (writes == kWritesAJob) {
      return server_->Post([this, i, at_ns, now] { WriteDue(i, at_ns, now); });
    }
    Stream& stream = streams_[i];
    if (stream.next_ns > now) {
      ++i;
      continue;
    }
    ++writes;
    stream.next_ns += gap_ns_;
    const bool first = stream.written == 0, last = ++stream.written == stream.tokens;
    stream.exchange->Write(Chunk(stream.written, last));
    if (last) stream.exchange->End();
    if (first || last) {
      const std::lock_guard lock(mutex_);
      Truth& truth = truth_[stream.id];
      if (first) truth.first_ns = MonotonicNs();
      if (last) truth.last_ns = MonotonicNs();
    }
    if (!last) {
      ++i;
      continue;
    }
    std::swap(stream, streams_.back());
    streams_.pop_back();
  }
  if (!streams_.empty()) {
    cpu_share_ = static_cast<double>(ThreadCpuNs() - cpu_began_ns_) /
                 static_cast<double>(MonotonicNs() - began_ns_);
  }
  Tick(std::max(at_ns + kTickNs, now));
}

}  // namespace tacho
