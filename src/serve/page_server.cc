#include "serve/page_server.h"

#include <chrono>
#include <fstream>
#include <future>
#include <new>
#include <utility>

#include "base/monotonic_clock.h"
#include "serve/assets.h"
#include "serve/entity_tags.h"

namespace tacho {
namespace {

constexpr size_t kThreads = 4, kMostWaiting = 64, kMostConnections = 64;
constexpr uint32_t kMostHead = 16u << 10;
// A body that will be refused is still read up to kMostRefused, so that the answer can say why.
constexpr uint64_t kMostMarks = 1u << 20, kMostRefused = 16u << 10, kMostBodies = 8u << 20;
constexpr uint16_t kFirstPort = 8137, kPortsTried = 100;
constexpr int64_t kBeatNs = 15'000'000'000;
constexpr size_t kMostAssetFile = 16u << 20;
constexpr std::string_view kApi = "/api/v1/";
constexpr std::string_view kHostAndPort =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";

// The sources of the policy's frame-ancestors.
Result<std::string> FrameAncestors(const std::vector<std::string>& origins) {
  if (origins.empty()) return "'none'";
  std::string sources;
  for (const std::string& origin : origins) {
    const bool is_self = origin == "self";
    const size_t host = origin.starts_with("http://")    ? 7
                        : origin.starts_with("https://") ? 8
                                                         : origin.size();
    if (!is_self && (host == origin.size() ||
                     origin.find_first_not_of(kHostAndPort, host) != std::string::npos)) {
      return Fail(ErrorKind::kUsage, '"' + origin +
                                         "\" is not an origin: give scheme, host and port, such as "
                                         "http://localhost:8888, or self");
    }
    sources += (sources.empty() ? "" : " ") + (is_self ? "'self'" : origin);
  }
  return sources;
}

HttpServerOptions ServerOptions(const std::string& frame_ancestors) {
  HttpServerOptions options;
  options.most_bodies = kMostBodies;
  options.most_head = kMostHead;
  options.most_connections = kMostConnections;
  options.request_timeout = std::chrono::seconds(10);
  options.keep_alive_timeout = std::chrono::seconds(30);
  options.stall_timeout = std::chrono::seconds(30);
  options.headers = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " +
           frame_ancestors},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"}};
  return options;
}

HttpAnswer AnswerOf(const Asset& asset, const ServerRequest& request) {
  HttpAnswer answer{.content_type = std::string(asset.content_type),
                    .headers = {{"ETag", asset.etag}, {"Cache-Control", "no-cache"}}};
  if (NamesTag(FindHeader(request.headers, "If-None-Match"), asset.etag)) {
    answer.status = 304;
    return answer;
  }
  answer.headers.push_back({"Content-Encoding", "gzip"});
  answer.body = asset.gzipped;
  return answer;
}

HttpAnswer AnswerFromFolder(const Asset& asset, const std::string& folder) {
  const std::string path = folder + "/" + std::string(asset.name);
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMostAssetFile, '\0');
  if (!file) return ErrorAnswer(404, "cannot read " + path);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return {.body = std::move(bytes), .content_type = std::string(asset.content_type)};
}

}  // namespace

PageServer::PageServer(ApiHandler api, EventHub& events, std::string assets_folder)
    : api_(std::move(api)),
      events_(events),
      assets_folder_(std::move(assets_folder)),
      last_request_ns_(MonotonicNs()),
      queue_(kThreads, kMostWaiting) {}

// server_ is the last member, so it is destroyed first, and with it the thread that uses the
// others.
PageServer::~PageServer() = default;

Result<std::unique_ptr<PageServer>> PageServer::Start(const PageServerOptions& options,
                                                      ApiHandler api, EventHub& events) {
  std::unique_ptr<PageServer> page(new PageServer(std::move(api), events, options.assets_folder));
  TACHO_ASSIGN_OR_RETURN(const std::string frame_ancestors, FrameAncestors(options.allow_frames));
  HttpServerOptions http = ServerOptions(frame_ancestors);
  http.gate = [page = page.get()](const ServerRequest& head) {
    return HttpAdmission{.most_body = page->MostBody(head)};
  };
  TACHO_ASSIGN_OR_RETURN(page->server_, HttpServer::Create(http));
  // Open runs on the server's thread, so that no connection is accepted before access_ exists.
  std::promise<Result<void>> opened;
  page->server_->Post([&] { opened.set_value(page->Open(options)); });
  TACHO_RETURN_IF_ERROR(opened.get_future().get());
  return page;
}

Result<void> PageServer::Open(const PageServerOptions& options) {
  const auto listen = [&](uint16_t port) {
    return server_->Listen(options.host, port, [this](std::shared_ptr<HttpExchange> exchange) {
      Handle(std::move(exchange));
    });
  };
  Result<uint16_t> taken = listen(options.port.value_or(kFirstPort));
  for (uint16_t i = 1; !taken && !options.port && i <= kPortsTried; ++i) {
    if (taken.error().kind != ErrorKind::kOutput) break;
    taken = listen(i < kPortsTried ? static_cast<uint16_t>(kFirstPort + i) : uint16_t{0});
  }
  if (!taken) return tl::unexpected<Error>(taken.error());
  port_ = *taken;
  TACHO_ASSIGN_OR_RETURN(access_, Access::Create(port_, options.allow_hosts));
  Beat();
  return {};
}

uint64_t PageServer::MostBody(const ServerRequest& head) const {
  if (access_->PathOf(head) != "/api/v1/marks") return 0;
  return access_->MayWrite(head) ? kMostMarks : kMostRefused;
}

void PageServer::Beat() {
  events_.Beat();
  server_->At(MonotonicNs() + kBeatNs, [this] { Beat(); });
}

void PageServer::Queue(const std::shared_ptr<HttpExchange>& exchange,
                       std::function<HttpAnswer()> answer) {
  const bool queued = queue_.Add([exchange, answer = std::move(answer)] {
    if (!exchange->connected()) return;
    try {
      SendAnswer(*exchange, answer());
    } catch (const std::bad_alloc&) {
      SendAnswer(*exchange, ErrorAnswer(503, "needs more memory than there is"));
    } catch (const std::exception& failure) {  // e.g. no more threads can be started
      SendAnswer(*exchange, ErrorAnswer(503, failure.what()));
    }
  });
  if (!queued) SendAnswer(*exchange, ErrorAnswer(503, "too many requests wait: ask again later"));
}

void PageServer::Handle(std::shared_ptr<HttpExchange> exchange) {
  const ServerRequest& request = exchange->request();
  const AccessVerdict verdict = access_->Check(request);
  if (verdict.status != 0) {
    HttpAnswer answer = verdict.status == 303 ? HttpAnswer{.status = 303, .content_type = ""}
                                              : ErrorAnswer(verdict.status, verdict.why);
    answer.headers = verdict.headers;
    return SendAnswer(*exchange, std::move(answer));
  }
  last_request_ns_ = MonotonicNs();
  const std::string_view path = access_->PathOf(request);
  if (path.starts_with(kApi)) {
    if (path == "/api/v1/events") return events_.Listen(std::move(exchange));
    const auto answer = [this, path, request = &request] {
      return api_(path.substr(kApi.size()), *request);
    };
    return Queue(exchange, answer);
  }
  const Asset* const asset = FindAsset(path);
  if (asset == nullptr)
    return SendAnswer(*exchange, ErrorAnswer(404, "there is no such page here"));
  if (request.method == "PUT")
    return SendAnswer(*exchange, ErrorAnswer(405, "the page can be read, not written"));
  if (assets_folder_.empty()) return SendAnswer(*exchange, AnswerOf(*asset, request));
  Queue(exchange, [this, asset] { return AnswerFromFolder(*asset, assets_folder_); });
}

}  // namespace tacho
