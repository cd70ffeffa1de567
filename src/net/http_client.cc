#include "net/http_client.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "base/monotonic_clock.h"
#include "net/curl_dial.h"
#include "net/curl_exchange.h"
#include "net/curl_library.h"
#include "net/curl_multi.h"
#include "net/direct_connections.h"
#include "net/event_loop.h"
#include "net/gather.h"
#include "net/keys.h"

namespace tacho {
namespace {

class Client final : public HttpClient {
 public:
  explicit Client(const HttpClientOptions& options)
      : options_(options), keys_(options.headers, options.bearer_key, options.keys_to_all) {}
  ~Client() override;
  Result<void> Open();

  void NameServer(const Url& url) override { keys_.Name(url); }
  KeyUse KeyUseFor(const Url& url) const override { return keys_.UseFor(url); }
  std::string WithoutKeys(std::string text) const override { return keys_.Hidden(std::move(text)); }
  Result<HttpResponse> Fetch(const HttpRequest& request, std::stop_token stop) override;
  std::vector<Result<HttpResponse>> FetchAll(
      const std::vector<HttpRequest>& requests, std::stop_token stop,
      const std::function<void(size_t, const Result<HttpResponse>&)>& ended) override;
  uint64_t Start(HttpRequest request, std::shared_ptr<HttpSink> sink) override;
  void Cancel(uint64_t stream) override;
  void Post(std::function<void()> job) override { loop_->Post(std::move(job)); }
  void At(int64_t monotonic_ns, std::function<void()> job) override {
    loop_->At(monotonic_ns, std::move(job));
  }

 private:
  Result<std::unique_ptr<Exchange>> Prepare(uint64_t number, HttpRequest request,
                                            std::shared_ptr<HttpSink> sink);
  bool GoesDirect(const HttpRequest& request) const;
  std::unique_ptr<Dial> DialFor(Exchange& exchange, std::chrono::milliseconds patience,
                                Dialed dialed);
  void Add(std::unique_ptr<Exchange> exchange);
  void Ended(Exchange& exchange);
  void WatchTimeout(const Exchange& exchange);
  void WatchIdle(uint64_t number, int64_t at_ns);
  void CloseAll();

  const HttpClientOptions options_;
  Keys keys_;
  std::atomic<uint64_t> last_number_ = 0;
  // The members below belong to the loop's thread.
  std::unique_ptr<CurlMulti> curl_;
  const std::function<void(Exchange&)> on_ended_ = [this](Exchange& exchange) { Ended(exchange); };
  std::unordered_map<uint64_t, std::unique_ptr<Exchange>> exchanges_;
  std::unique_ptr<DirectConnections> connections_;
  bool closing_ = false;
  std::unique_ptr<EventLoop> loop_;  // declared last: its jobs use the members above
};

Result<void> Client::Open() {
  TACHO_RETURN_IF_ERROR(Curl());
  TACHO_RETURN_IF_ERROR(keys_.Check());
  TACHO_ASSIGN_OR_RETURN(loop_, EventLoop::Create());
  curl_ = std::make_unique<CurlMulti>(*loop_);
  TACHO_RETURN_IF_ERROR(curl_->Open(options_.most_idle_connections));
  connections_ = std::make_unique<DirectConnections>(
      *loop_, options_.most_idle_connections,
      [this](Exchange& exchange, std::chrono::milliseconds patience, Dialed dialed) {
        return DialFor(exchange, patience, std::move(dialed));
      },
      on_ended_);
  loop_->Start("tacho-http", [this] { curl_->BetweenEvents(); });
  return {};
}

Client::~Client() {
  if (loop_) {
    loop_->Post([this] { CloseAll(); });
    loop_->Stop();
    loop_.reset();
  }
}

Result<HttpResponse> Client::Fetch(const HttpRequest& request, std::stop_token stop) {
  return std::move(FetchAll({request}, std::move(stop), {}).front());
}

std::vector<Result<HttpResponse>> Client::FetchAll(
    const std::vector<HttpRequest>& requests, std::stop_token stop,
    const std::function<void(size_t, const Result<HttpResponse>&)>& ended) {
  if (loop_->OnThread()) {
    const Error error{ErrorKind::kBug, "a blocking fetch on the client's own thread"};
    return {requests.size(), tl::unexpected<Error>(error)};
  }
  Gather gather(requests.size(), ended);
  if (stop.stop_requested()) {
    for (size_t i = 0; i < requests.size(); ++i) {
      gather.End(i, Fail(ErrorKind::kInterrupted, "interrupted"));
    }
    return gather.Take();
  }
  // Prepare all requests first, so that they go out back to back.
  const auto ready = std::make_shared<std::vector<std::unique_ptr<Exchange>>>();
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto url = ParseUrl(requests[i].url);
    auto exchange = Prepare(++last_number_, requests[i],
                            gather.SinkOf(i, keys_, url ? KeyUseFor(*url) : KeyUse::kNone));
    if (!exchange) {
      gather.End(i, tl::unexpected<Error>(exchange.error()));
      continue;
    }
    numbers.push_back((*exchange)->number());
    ready->push_back(std::move(*exchange));
  }
  loop_->Post([this, ready] {
    for (auto& exchange : *ready) Add(std::move(exchange));
  });
  const std::stop_callback on_stop(stop, [this, &numbers] {
    for (const uint64_t number : numbers) Cancel(number);
  });
  gather.Wait();
  return gather.Take();
}

uint64_t Client::Start(HttpRequest request, std::shared_ptr<HttpSink> sink) {
  const uint64_t number = ++last_number_;
  // The job is a std::function and so must be copyable: it shares the exchange.
  auto held = std::make_shared<Result<std::unique_ptr<Exchange>>>(
      Prepare(number, std::move(request), sink));
  loop_->Post([this, held, sink = std::move(sink)] {
    if (!held->has_value()) {
      sink->OnEnd(tl::unexpected<Error>(held->error()));
    } else {
      Add(std::move(**held));
    }
  });
  return number;
}

Result<std::unique_ptr<Exchange>> Client::Prepare(uint64_t number, HttpRequest request,
                                                  std::shared_ptr<HttpSink> sink) {
  std::unique_ptr<Exchange> exchange;
  CurlExchange* by_libcurl = nullptr;
  if (GoesDirect(request)) {
    exchange = std::make_unique<DirectExchange>(number, std::move(request), std::move(sink),
                                                *connections_);
  } else {
    auto whole = std::make_unique<CurlExchange>(number, std::move(request), std::move(sink), *curl_,
                                                on_ended_);
    by_libcurl = whole.get();
    exchange = std::move(whole);
  }
  TACHO_RETURN_IF_ERROR(exchange->Check(keys_));
  if (by_libcurl != nullptr) TACHO_RETURN_IF_ERROR(by_libcurl->SetUp(options_));
  return exchange;
}

// False for TLS and proxies, which libcurl handles.
bool Client::GoesDirect(const HttpRequest& request) const {
  const auto url = ParseUrl(request.url);
  return url && url->scheme == "http" && !options_.all_by_libcurl &&
         (url->IsLoopback() || !EnvironmentNamesProxy());
}

std::unique_ptr<Dial> Client::DialFor(Exchange& exchange, std::chrono::milliseconds patience,
                                      Dialed dialed) {
  auto dial = std::make_unique<CurlDial>(exchange, std::move(dialed));
  if (const auto begun = dial->Start(curl_->handle(), options_, patience); !begun) {
    exchange.GiveUp(begun.error());
    return nullptr;
  }
  return dial;
}

void Client::Cancel(uint64_t stream) {
  if (loop_->OnThread()) {
    if (const auto found = exchanges_.find(stream); found != exchanges_.end()) {
      found->second->Mute();
    }
  }
  // Post it even on the loop's thread: libcurl may be the caller.
  loop_->Post([this, stream] {
    const auto found = exchanges_.find(stream);
    if (found == exchanges_.end()) return;  // the exchange has ended
    found->second->Mute();
    Ended(*found->second);
  });
}

void Client::Add(std::unique_ptr<Exchange> exchange) {
  Exchange& known = *exchange;
  exchanges_.emplace(known.number(), std::move(exchange));
  if (closing_) {
    known.Mute();
    return Ended(known);
  }
  const auto& request = known.request();
  if (request.timeout.count() > 0) WatchTimeout(known);
  if (request.idle_timeout.count() > 0) {
    WatchIdle(known.number(),
              MonotonicNs() + std::chrono::nanoseconds(request.idle_timeout).count());
  }
  known.Begin();
}

void Client::Ended(Exchange& exchange) {
  const auto found = exchanges_.find(exchange.number());
  const std::unique_ptr<Exchange> over = std::move(found->second);
  exchanges_.erase(found);
  over->Leave();
  over->End();
}

void Client::WatchTimeout(const Exchange& exchange) {
  const int64_t most = std::chrono::nanoseconds(exchange.request().timeout).count();
  loop_->At(exchange.times().started_ns + most, [this, number = exchange.number()] {
    const auto found = exchanges_.find(number);
    if (found == exchanges_.end()) return;
    found->second->GiveUp(Breakdown::kTimedOut);
    Ended(*found->second);
  });
}

void Client::WatchIdle(uint64_t number, int64_t at_ns) {
  loop_->At(at_ns, [this, number] {
    const auto found = exchanges_.find(number);
    if (found == exchanges_.end()) return;
    Exchange& exchange = *found->second;
    const auto idle = exchange.request().idle_timeout;
    const int64_t since = std::max(exchange.times().started_ns, exchange.last_bytes_ns());
    const int64_t deadline = since + std::chrono::nanoseconds(idle).count();
    if (deadline > MonotonicNs()) return WatchIdle(number, deadline);
    exchange.GiveUpIdle();
    Ended(exchange);
  });
}

void Client::CloseAll() {
  closing_ = true;
  while (!exchanges_.empty()) {
    Exchange& exchange = *exchanges_.begin()->second;
    exchange.Mute();
    Ended(exchange);
  }
  connections_->CloseAll();
  curl_->Close();  // must happen while the loop, which watches the sockets, still lives
}

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::Create(const HttpClientOptions& options) {
  auto client = std::make_unique<Client>(options);
  TACHO_RETURN_IF_ERROR(client->Open());
  return client;
}

}  // namespace tacho
