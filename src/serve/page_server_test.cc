#include "serve/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "base/folder_for_test.h"
#include "net/net_for_test.h"
#include "net/sse.h"
#include "serve/assets.h"

namespace tacho {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const testing::Matcher<const std::string&> kSafe =
    AllOf(HasSubstr("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; "),
          HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"),
          HasSubstr("\r\nReferrer-Policy: no-referrer\r\n"),
          HasSubstr("\r\nCross-Origin-Resource-Policy: same-origin\r\n"),
          Not(HasSubstr("Access-Control-")));

class PageServerTest : public testing::Test {
 protected:
  void SetUp() override { Start({.port = 0}); }
  void Start(const PageServerOptions& options) {
    server_.reset();
    auto server = PageServer::Start(
        options,
        [this](std::string_view what, const ServerRequest& request) {
          if (what == "large") return HttpAnswer{.body = std::string(32u << 20, 'x')};
          if (what == "wait") gate_.get_future().wait();
          return HttpAnswer{.body = std::string(what) + " " + request.body};
        },
        events_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  std::string Request(const std::string& target, const std::string& more = "",
                      const std::string& method = "GET") const {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
           server_->access().token() + "\r\n" + more + "\r\n";
  }
  std::string Ask(const std::string& request) const {
    RawSocket socket = RawSocket::ConnectTo(server_->port());
    socket.Send(request);
    return socket.ReadMessage();
  }

  std::string path_;
  EventHub events_{[this](const std::vector<size_t>& ranks) {
    return std::vector<std::string>(ranks.size(), "{\n  \"path\": \"" + path_ + "\"\n}\n");
  }};
  std::promise<void> gate_;
  std::unique_ptr<PageServer> server_;
};

TEST_F(PageServerTest, ThePageIsEmbeddedAsGzip) {
  const std::string page = Ask(Request("/"));
  EXPECT_THAT(page, AllOf(StartsWith("HTTP/1.1 200 "), kSafe,
                          HasSubstr("\r\nContent-Type: text/html; charset=utf-8\r\n"),
                          HasSubstr("\r\nContent-Encoding: gzip\r\n"),
                          HasSubstr("\r\nCache-Control: no-cache\r\n"),
                          HasSubstr(std::string(FindAsset("/")->gzipped))));
  EXPECT_EQ(FindAsset("/")->gzipped.substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(FindAsset("/")->gzipped.substr(4, 4), std::string(4, '\0')) << "no time in it";
  for (const char* path : {"/app.js", "/app.css", "/favicon.svg", "/index.html"})
    EXPECT_THAT(Ask(Request(path)), StartsWith("HTTP/1.1 200 ")) << path;
  const std::string etag = FindAsset("/app.js")->etag;
  EXPECT_THAT(Ask(Request("/app.js", "If-None-Match: " + etag + "\r\n")),
              AllOf(StartsWith("HTTP/1.1 304 "), HasSubstr("ETag: " + etag), kSafe));
  EXPECT_THAT(Ask(Request("/app.js", "If-None-Match: \"old\"\r\n")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(PageServerTest, OnlyNamedPagesMayShowItInAFrame) {
  EXPECT_THAT(Ask(Request("/")), HasSubstr("; frame-ancestors 'none'\r\n"));
  Start({.port = 0, .allow_frames = {"self", "http://localhost:8888"}});
  EXPECT_THAT(Ask(Request("/")),
              AllOf(HasSubstr("; frame-ancestors 'self' http://localhost:8888\r\n"), kSafe));
  for (const char* origin : {"", "localhost:8888", "http://", "http://a b", "https://a;img-src *",
                             "http://a/path", "*", "http://a\r\nX: y"}) {
    const auto server = PageServer::Start({.port = 0, .allow_frames = {origin}}, {}, events_);
    ASSERT_FALSE(server) << origin;
    EXPECT_EQ(server.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(server.error().message, HasSubstr("is not an origin"));
  }
}

TEST_F(PageServerTest, NoPathReachesTheDisk) {
  const FolderForTest folder;
  folder.Write("secret.txt", "secret");
  folder.Write("page/app.js", "from disk");
  Start({.port = 0, .assets_folder = folder.At("page")});
  EXPECT_THAT(Ask(Request("/app.js")), AllOf(HasSubstr("\r\n\r\nfrom disk"), kSafe));
  EXPECT_THAT(Ask(Request("/app.css")), StartsWith("HTTP/1.1 404 ")) << "not in this folder";
  for (const char* path : {"/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt",
                           "//etc/passwd", "/app.js/../../secret.txt", "/./app.js", "/secret.txt",
                           "/app.js%00", "/api/v2/meta", "/app"})
    EXPECT_THAT(Ask(Request(path)),
                AllOf(StartsWith("HTTP/1.1 404 "), Not(HasSubstr("secret")), kSafe))
        << path;
}

TEST_F(PageServerTest, RefusalsHaveReasonsAndNoSecrets) {
  const std::string unknown = Ask("GET /api/v1/meta HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(unknown, AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr(R"({"error": "open the)"),
                             Not(HasSubstr(server_->access().token())), kSafe));
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 403 "), kSafe));
  EXPECT_THAT(Ask("nonsense\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 400 "), kSafe));
  EXPECT_THAT(Ask(Request("/", "X: " + std::string(20'000, 'x') + "\r\n")),
              AllOf(StartsWith("HTTP/1.1 431 "), kSafe));
  const std::string redirect =
      Ask("GET /?token=" + server_->access().token() + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(redirect, AllOf(StartsWith("HTTP/1.1 303 "), HasSubstr("\r\nLocation: ./"),
                              Not(HasSubstr(server_->access().token())), kSafe));
}

TEST_F(PageServerTest, BodiesAreForMarksAlone) {
  const std::string origin = "Origin: http://localhost\r\n";
  EXPECT_THAT(Ask(Request("/api/v1/marks", origin + "Content-Length: 5\r\n", "PUT") + "hello"),
              HasSubstr("\r\n\r\nmarks hello"));
  EXPECT_THAT(Ask(Request("/api/v1/marks", origin + "Content-Length: 1048577\r\n", "PUT")),
              AllOf(StartsWith("HTTP/1.1 413 "), kSafe));
  for (const auto& [host, key, sender] :
       {std::tuple("localhost", std::string(), "http://localhost"),
        std::tuple("evil.example", server_->access().token(), "http://localhost"),
        std::tuple("localhost", server_->access().token(), "http://evil.example")}) {
    const std::string head = std::string("PUT /api/v1/marks HTTP/1.1\r\nHost: ") + host +
                             "\r\nAuthorization: Bearer " + key + "\r\nOrigin: " + sender;
    EXPECT_THAT(Ask(head + "\r\nContent-Length: 5\r\n\r\nhello"), StartsWith("HTTP/1.1 40"));
    EXPECT_THAT(Ask(head + "\r\nContent-Length: 16385\r\n\r\n"), StartsWith("HTTP/1.1 413 "))
        << "not a byte more is read of who may not write";
  }
  EXPECT_THAT(Ask(Request("/api/v1/meta", "Content-Length: 1\r\n")), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask(Request("/app.js", origin, "PUT")), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask(Request("/app.js", "Origin: http://evil.example\r\n", "PUT")),
              StartsWith("HTTP/1.1 403 "));
}

TEST_F(PageServerTest, FourRequestsAreWorkedOnAndTheServersThreadIsFree) {
  std::vector<RawSocket> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(RawSocket::ConnectTo(server_->port()));
    waiting.back().Send(Request("/api/v1/meta"));
    EXPECT_THAT(waiting.back().ReadMessage(), HasSubstr("\r\n\r\nmeta "));
  }
  waiting.push_back(RawSocket::ConnectTo(server_->port()));
  waiting.back().Send(Request("/api/v1/wait"));
  EXPECT_THAT(Ask(Request("/api/v1/meta")), HasSubstr("\r\n\r\nmeta "));
  EXPECT_THAT(Ask(Request("/")), StartsWith("HTTP/1.1 200 "));
  gate_.set_value();
  EXPECT_THAT(waiting.back().ReadMessage(), HasSubstr("\r\n\r\nwait "));
}

TEST_F(PageServerTest, AThousandConnectionsDoNotTakeItAway) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 2500) GTEST_SKIP() << "too few descriptors: " << files.rlim_cur;
  RawSocket ours = RawSocket::ConnectTo(server_->port());
  ours.Send(Request("/api/v1/meta"));
  EXPECT_THAT(ours.ReadMessage(), StartsWith("HTTP/1.1 200 "));
  std::vector<RawSocket> many;
  for (int i = 0; i < 1000; ++i) many.push_back(RawSocket::ConnectTo(server_->port()));
  EXPECT_THAT(many.back().ReadAll(), AllOf(StartsWith("HTTP/1.1 503 "), kSafe));
  ours.Send(Request("/api/v1/meta"));
  EXPECT_THAT(ours.ReadMessage(), StartsWith("HTTP/1.1 200 ")) << "an open page goes on";
  many.clear();
  EXPECT_TRUE(
      Eventually([&] { return Ask(Request("/api/v1/meta")).starts_with("HTTP/1.1 200 "); }));
}

TEST_F(PageServerTest, AClientThatStopsReadingHoldsUpNobody) {
  std::vector<RawSocket> stopped;
  for (int i = 0; i < 8; ++i) {
    stopped.push_back(RawSocket::ConnectTo(server_->port()));
    stopped.back().Send(Request("/api/v1/large"));
  }
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(Ask(Request("/api/v1/meta")), HasSubstr("\r\n\r\nmeta "));
}

TEST_F(PageServerTest, EventsComeToAllAndToThoseWhoComeLater) {
  events_.SendProgress(R"({"read_bytes": 1})");
  events_.SendProgress(R"({"read_bytes": 2})");
  RawSocket first = RawSocket::ConnectTo(server_->port());
  first.Send(Request("/api/v1/events"));
  const std::string begin = first.ReadUntil("\"read_bytes\": 2}\n\n");
  EXPECT_THAT(begin, AllOf(HasSubstr("\r\nContent-Type: text/event-stream\r\n"), kSafe,
                           Not(HasSubstr("\"read_bytes\": 1"))));
  path_ = "a";
  events_.SendRanks({3});
  EXPECT_THAT(first.ReadUntil("}\n\n"),
              HasSubstr("event: rank\ndata: {\ndata:   \"path\": \"a\"\ndata: }\n\n"));
  events_.Send("done", "{}");
  path_ = "b";
  RawSocket later = RawSocket::ConnectTo(server_->port());
  later.Send(Request("/api/v1/events"));
  EXPECT_THAT(later.ReadUntil("event: done"), HasSubstr("\"path\": \"b\"")) << "as it is now";
  EXPECT_EQ(events_.listeners(), 2u);
  later.Close();
  EXPECT_TRUE(Eventually([&] { return events_.listeners() == 1; }));
}

TEST_F(PageServerTest, APortThatIsTakenIsAnErrorOnlyIfItWasAskedFor) {
  EventHub events;
  const auto api = [](std::string_view, const ServerRequest&) { return HttpAnswer{}; };
  const auto same = PageServer::Start({.port = server_->port()}, api, events);
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().kind, ErrorKind::kOutput);
  EXPECT_THAT(same.error().message, HasSubstr("take another port"));
  const auto one = PageServer::Start({}, api, events), two = PageServer::Start({}, api, events);
  ASSERT_TRUE(one && two);
  EXPECT_NE((*one)->port(), (*two)->port());
  EXPECT_EQ(PageServer::Start({.host = "not an address"}, api, events).error().kind,
            ErrorKind::kUsage);
}

}  // namespace
}  // namespace tacho
