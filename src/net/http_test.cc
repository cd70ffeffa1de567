// The client and the server against each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <string>

#include "base/monotonic_clock.h"
#include "net/net_for_test.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Answers with what the request asked.
void Echo(const std::shared_ptr<HttpExchange>& exchange) {
  const ServerRequest& request = exchange->request();
  std::string text = request.method + " " + request.path + "?" + request.query + "\n";
  for (const HttpHeader& header : request.headers) text += header.name + "=" + header.value + "\n";
  exchange->Respond(200, text + request.body, "text/plain", {{"X-Echo", "yes"}});
}

class HttpTest : public testing::Test {
 protected:
  Result<HttpResponse> Fetch(HttpRequest request) {
    request.url = LoopbackUrl(port_, request.url);
    return client_->Fetch(request);
  }

  std::unique_ptr<HttpServer> server_ = MakeServer();
  uint16_t port_ = ListenOn(*server_, Echo);
  std::unique_ptr<HttpClient> client_ = MakeClient({.bearer_key = "sk-1"});
  void SetUp() override { client_->NameServer(*ParseUrl(LoopbackUrl(port_))); }
};

TEST_F(HttpTest, GetSaysNoMoreThanItMust) {
  const auto answer = Fetch({.url = "/a%20b%2fc?x=1&y=%20"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "GET /a b/c?x=1&y=%20\nHost=127.0.0.1:" + std::to_string(port_) +
                              "\nUser-Agent=tacho\nAccept=*/*\nAuthorization=Bearer sk-1\n");
  EXPECT_EQ(FindHeader(answer->headers, "x-echo"), "yes");
  EXPECT_EQ(FindHeader(answer->headers, "CONTENT-TYPE"), "text/plain");
  EXPECT_EQ(FindHeader(answer->headers, "absent"), "");
}

TEST_F(HttpTest, PostSendsTheBodyAsItIs) {
  std::string body = "{\"a\":1}";
  body += '\0';
  const auto answer = Fetch({.method = "POST",
                             .url = "/v1",
                             .headers = {{"Content-Type", "application/json"}, {"X-Empty", ""}},
                             .body = body});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->body, HasSubstr("POST /v1?\n"));
  EXPECT_THAT(answer->body, HasSubstr("Content-Type=application/json\n"));
  EXPECT_THAT(answer->body, HasSubstr("X-Empty=\n"));
  EXPECT_THAT(answer->body, testing::Not(HasSubstr("Expect")));
  EXPECT_TRUE(answer->body.ends_with(body));
}

TEST_F(HttpTest, PostWithoutABodySaysSo) {
  const auto answer = Fetch({.method = "POST", .url = "/start_profile"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->body, HasSubstr("Content-Length=0\n"));
  EXPECT_THAT(answer->body, testing::Not(HasSubstr("Content-Type")));
}

TEST_F(HttpTest, OtherMethods) {
  for (const char* method : {"PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const auto answer = Fetch({.method = method, .url = "/"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_THAT(answer->body, testing::StartsWith(std::string(method) + " /?\n"));
  }
  const auto put = Fetch({.method = "PUT", .url = "/", .body = "new"});
  ASSERT_TRUE(put);
  EXPECT_TRUE(put->body.ends_with("\nnew"));
}

TEST_F(HttpTest, HeadHasLengthAndNoBody) {
  const auto answer = Fetch({.method = "HEAD", .url = "/"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "");
  EXPECT_NE(FindHeader(answer->headers, "Content-Length"), "0");
  EXPECT_TRUE(Fetch({.url = "/"})) << "the connection is still in order";
}

TEST_F(HttpTest, LargeBodiesBothWays) {
  std::string body(5'000'000, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  const auto answer = Fetch({.method = "POST", .url = "/", .body = body});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->body.ends_with(body));
}

TEST_F(HttpTest, AnyStatusIsAnAnswer) {
  for (const int status : {200, 204, 302, 304, 404, 500, 503}) {
    const uint16_t port = ListenOn(*server_, [status](const auto& exchange) {
      exchange->Respond(status, "why", "text/plain", {{"Location", "http://127.0.0.1:1/"}});
    });
    const auto answer = client_->Fetch({.url = LoopbackUrl(port)});
    ASSERT_TRUE(answer) << status << ": " << answer.error().message;
    EXPECT_EQ(answer->status, status);
    EXPECT_EQ(answer->body, status == 204 || status == 304 ? "" : "why");
  }
}

TEST_F(HttpTest, TimesAreInOrder) {
  const int64_t before = MonotonicNs();
  const auto answer = Fetch({.url = "/"});
  const int64_t after = MonotonicNs();
  ASSERT_TRUE(answer);
  const HttpTimes& times = answer->times;
  EXPECT_LE(before, times.started_ns);
  EXPECT_LE(times.started_ns, times.sent_ns);
  EXPECT_LE(times.sent_ns, times.first_byte_ns);
  EXPECT_LE(times.first_byte_ns, times.ended_ns);
  EXPECT_LE(times.ended_ns, after);
}

TEST_F(HttpTest, TooLongABodyIsAnError) {
  const auto fits = Fetch({.method = "POST", .url = "/", .body = std::string(1000, 'x')});
  ASSERT_TRUE(fits);
  const uint64_t size = fits->body.size();
  HttpRequest request{.method = "POST", .url = "/", .body = std::string(1000, 'x')};
  request.most_body = size;
  EXPECT_TRUE(Fetch(request));
  request.most_body = size - 1;
  const auto answer = Fetch(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(answer.error().message,
              HasSubstr("answer longer than " + std::to_string(size - 1) + " bytes"));
}

TEST_F(HttpTest, RequestThatIsTooLongGets413) {
  const auto small = MakeServer({.most_body = 1000});
  const uint16_t port = ListenOn(*small, Echo);
  HttpRequest request{.method = "POST", .url = LoopbackUrl(port), .body = std::string(1001, 'x')};
  const auto answer = client_->Fetch(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
  request.body.pop_back();
  const auto fits = client_->Fetch(request);
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_EQ(fits->status, 200);
}

TEST_F(HttpTest, MistakesOfTheUser) {
  const auto bad_url = client_->Fetch({.url = "ftp://x"});
  ASSERT_FALSE(bad_url);
  EXPECT_EQ(bad_url.error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(Fetch({.method = "G T", .url = "/"}));
}

TEST_F(HttpTest, AHeaderThatBreaksTheRequestIsRefusedWithoutItsValue) {
  for (const char* line_break : {"\r", "\n", "\r\nY: ", "\0"}) {
    std::string value = std::string("sesame") + line_break;
    if (*line_break == '\0') value += '\0';
    for (const HttpHeader& header : {HttpHeader{"X-Key", value}, HttpHeader{value, "x"}}) {
      const auto sent = Fetch({.url = "/", .headers = {header}});
      ASSERT_FALSE(sent);
      EXPECT_EQ(sent.error().kind, ErrorKind::kUsage);
      EXPECT_THAT(sent.error().message, testing::Not(HasSubstr("sesame")));
      EXPECT_FALSE(HttpClient::Create({.headers = {header}}));
    }
    EXPECT_FALSE(HttpClient::Create({.bearer_key = value}));
  }
}

TEST_F(HttpTest, KeysGoToServersThatWereNamedAlone) {
  const uint16_t stranger = ListenOn(*server_, [](const auto& exchange) {
    exchange->Respond(FindHeader(exchange->request().headers, "X-Key").empty() ? 401 : 200, "",
                      kTextType);
  });
  const HttpClientOptions options{.headers = {{"X-Key", "sesame"}, {"Accept", "a/b"}},
                                  .bearer_key = "sk-1"};
  const auto careful = MakeClient(options);
  careful->NameServer(*ParseUrl(LoopbackUrl(port_)));
  const auto known = careful->Fetch({.url = LoopbackUrl(port_, "/")});
  ASSERT_TRUE(known);
  EXPECT_THAT(known->body, HasSubstr("X-Key=sesame\nAccept=a/b\nAuthorization=Bearer sk-1\n"));
  EXPECT_EQ(known->key, KeyUse::kSent);
  const auto unknown = careful->Fetch({.url = LoopbackUrl(stranger, "/")});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->status, 401);
  EXPECT_EQ(unknown->key, KeyUse::kWithheld);
  EXPECT_THAT(KeyRemedy(*unknown), HasSubstr("--send-key-to-workers"));

  HttpClientOptions open = options;
  open.keys_to_all = true;
  EXPECT_EQ(MakeClient(open)->Fetch({.url = LoopbackUrl(stranger, "/")})->status, 200);
  const auto none = MakeClient()->Fetch({.url = LoopbackUrl(stranger, "/")});
  EXPECT_EQ(none->key, KeyUse::kNone);
  EXPECT_THAT(KeyRemedy(*none), HasSubstr("--api-key-file"));
}

TEST_F(HttpTest, ARefusalRepeatsNoKey) {
  const auto client = MakeClient(
      {.headers = {{"X-Key", "sesame"}, {"Accept", "text/plain"}}, .bearer_key = "sk-1234"});
  const uint16_t port = ListenOn(*server_, [](const auto& exchange) {
    exchange->Respond(403, "not text/plain: Bearer sk-1234, sesame or sesame", kTextType,
                      {{"Location", "/?key=sesame"}});
  });
  client->NameServer(*ParseUrl(LoopbackUrl(port)));
  const auto answer = client->Fetch({.url = LoopbackUrl(port, "/")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "not text/plain: Bearer ***, *** or ***");
  EXPECT_EQ(FindHeader(answer->headers, "Location"), "/?key=***");
}

TEST_F(HttpTest, ARedirectTakesNoKeyAlong) {
  std::atomic<int> came = 0;
  const uint16_t stranger = ListenOn(*server_, [&](const auto& exchange) {
    ++came;
    exchange->Respond(200, "", kTextType);
  });
  const uint16_t mover = ListenOn(*server_, [&](const auto& exchange) {
    exchange->Respond(302, "", kTextType, {{"Location", LoopbackUrl(stranger, "/")}});
  });
  client_->NameServer(*ParseUrl(LoopbackUrl(mover)));
  EXPECT_EQ(client_->Fetch({.url = LoopbackUrl(mover, "/")})->status, 302);
  EXPECT_EQ(came, 0);
}

TEST_F(HttpTest, AServersHeaderThatBreaksItsAnswerIsNotSent) {
  for (const HttpHeader& header : {HttpHeader{"X-A", "a\r\nSet-Cookie: b"}, {"X\nY", "a"}}) {
    const uint16_t port = ListenOn(*server_, [&](const auto& exchange) {
      const bool whole = exchange->request().path == "/whole";
      if (whole) return exchange->Respond(200, "body", kTextType, {header});
      exchange->Begin(200, kTextType, {header});
      exchange->Write("body");
      exchange->End();
    });
    for (const char* path : {"/whole", "/pieces"}) {
      const auto answer = client_->Fetch({.url = LoopbackUrl(port, path)});
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_EQ(answer->status, 500);
      EXPECT_EQ(FindHeader(answer->headers, "Set-Cookie"), "");
    }
    server_->Close(port);
  }
}

TEST_F(HttpTest, OwnAuthorizationWins) {
  const auto answer = Fetch({.url = "/", .headers = {{"authorization", "Basic x"}}});
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->body, HasSubstr("authorization=Basic x\n"));
  EXPECT_THAT(answer->body, testing::Not(HasSubstr("Bearer")));
}

TEST_F(HttpTest, ProxyOfTheEnvironmentIsNotForLoopback) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto answer = Fetch({.url = "/"});
  unsetenv("http_proxy");
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST_F(HttpTest, ConnectionIsKeptAndUsedAgain) {
  std::vector<std::string> requests;
  RawServer server([&](RawSocket& socket) {
    for (;;) {
      const std::string request = socket.ReadMessage();
      if (request.empty()) return;
      socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(client_->Fetch({.url = server.Url()}));
  EXPECT_EQ(server.accepted(), 1);
}

TEST_F(HttpTest, KeptConnectionThatTheServerClosesIsReplaced) {
  // One answer per connection, without "Connection: close".
  RawServer server([&](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  for (int i = 0; i < 20; ++i) {
    const auto answer = client_->Fetch({.method = "POST", .url = server.Url(), .body = "x"});
    EXPECT_TRUE(answer) << answer.error().message;
  }
  EXPECT_EQ(server.accepted(), 20);
}

TEST_F(HttpTest, RequestOnAStaleConnectionIsSentAgain) {
  // The second request of a connection is read and not answered, as if the server closed the
  // connection just when the request came.
  std::atomic<int> read = 0;
  RawServer server([&](RawSocket& socket) {
    socket.ReadMessage();
    ++read;
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (!socket.ReadMessage().empty()) ++read;
  });
  ASSERT_TRUE(client_->Fetch({.url = server.Url()}));
  const auto answer = client_->Fetch({.method = "POST", .url = server.Url(), .body = "x"});
  EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(read, 3);
}

TEST_F(HttpTest, RequestOnANewConnectionIsNotSentAgain) {
  std::atomic<int> read = 0;
  RawServer server([&](RawSocket& socket) {
    if (!socket.ReadMessage().empty()) ++read;
  });
  const auto answer = client_->Fetch({.url = server.Url()});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("connection closed without an answer"));
  EXPECT_EQ(read, 1);
}

TEST_F(HttpTest, FetchFromTheClientsThreadIsRefused) {
  std::promise<ErrorKind> kind;
  client_->Post([&] { kind.set_value(client_->Fetch({.url = "http://h"}).error().kind); });
  EXPECT_EQ(Await(kind.get_future(), "kind"), ErrorKind::kBug);
}

TEST_F(HttpTest, AllAtOnceFromManyServers) {
  std::vector<HttpRequest> requests;
  std::vector<uint16_t> ports;
  for (int i = 0; i < 64; ++i) {
    const uint16_t port = ListenOn(*server_, [i](const auto& exchange) {
      exchange->Respond(200, std::to_string(i), "text/plain");
    });
    requests.push_back({.url = LoopbackUrl(port)});
  }
  requests.push_back({.url = "nonsense url"});
  std::vector<int> ended(requests.size());
  const auto answers = client_->FetchAll(requests, {}, [&](size_t i, const auto& answer) {
    ++ended[i];
    EXPECT_EQ(answer.has_value(), i < 64);
  });
  ASSERT_EQ(answers.size(), 65u);
  int64_t first = INT64_MAX;
  int64_t last = 0;
  for (size_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(answers[i]) << answers[i].error().message;
    EXPECT_EQ(answers[i]->body, std::to_string(i));
    first = std::min(first, answers[i]->times.sent_ns);
    last = std::max(last, answers[i]->times.sent_ns);
  }
  EXPECT_EQ(answers[64].error().kind, ErrorKind::kUsage);
  EXPECT_THAT(ended, testing::Each(1));
  EXPECT_LT(last - first, 100'000'000);
}

TEST_F(HttpTest, NothingToFetch) { EXPECT_TRUE(client_->FetchAll({}).empty()); }

}  // namespace
}  // namespace tacho
