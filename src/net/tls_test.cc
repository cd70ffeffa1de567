// The client against a TLS server (openssl s_server) with an untrusted certificate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/folder_for_test.h"
#include "base/subprocess.h"
#include "net/net_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string key = folder_.At("key.pem");
    const std::string certificate = folder_.At("certificate.pem");
    auto request = Subprocess::Start(
        {.arguments = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                       "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                       "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                       "-out", certificate},
         .patience = kPatienceForTest});
    while (request && !ReadLine(*request).empty()) {
    }
    if (!request || !request->Finish())
      GTEST_SKIP() << "TLS IS NOT TESTED: no openssl program here";
    auto server = Subprocess::Start({.arguments = {"openssl", "s_server", "-accept", "127.0.0.1:0",
                                                   "-key", key, "-cert", certificate, "-www"},
                                     .patience = kPatienceForTest});
    ASSERT_TRUE(server);
    server_.emplace(std::move(*server));
    // It prints "ACCEPT 127.0.0.1:PORT".
    for (std::string line = ReadLine(*server_); !line.empty(); line = ReadLine(*server_)) {
      if (!line.starts_with("ACCEPT")) continue;
      url_ = "https://127.0.0.1:" + line.substr(line.rfind(':') + 1);
      break;
    }
    if (url_.empty()) GTEST_SKIP() << "TLS IS NOT TESTED: openssl s_server does not start";
  }

  static std::string ReadLine(Subprocess& process) {
    std::string line;
    char c = 0;
    while (process.Read(&c, 1) == 1 && c != '\n') line += c;
    return line;
  }

  FolderForTest folder_;
  std::optional<Subprocess> server_;
  std::string url_;
};

TEST_F(TlsTest, UnknownCertificateIsRefused) {
  const auto answer = MakeClient()->Fetch({.url = url_});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(answer.error().message,
              testing::AllOf(testing::StartsWith(
                                 url_ + ": certificate not trusted (SSL certificate problem: self"),
                             HasSubstr("--insecure")));
}

TEST_F(TlsTest, UnlessTheCheckIsOff) {
  const auto client = MakeClient({.verify_tls = false});
  for (int i = 0; i < 2; ++i) {
    const auto answer = client->Fetch({.url = url_});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_THAT(answer->body, HasSubstr("s_server"));
    EXPECT_GT(answer->times.sent_ns, answer->times.started_ns);
  }
}

TEST_F(TlsTest, OrItsAuthorityIsNamed) {
  const auto client = MakeClient({.ca_file = folder_.At("certificate.pem")});
  const auto answer = client->Fetch({.url = url_});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  const auto nowhere = MakeClient({.ca_file = folder_.At("none.pem")})->Fetch({.url = url_});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message,
              testing::AllOf(HasSubstr("none.pem"), HasSubstr("check --cacert")));
}

TEST_F(TlsTest, PlainServerIsNoTlsServer) {
  const auto server = MakeServer();
  const uint16_t port =
      ListenOn(*server, [](const auto& exchange) { exchange->Respond(200, "", "text/plain"); });
  const auto answer = MakeClient()->Fetch({.url = "https://127.0.0.1:" + std::to_string(port)});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("does it speak http:// instead?"));
}

TEST_F(TlsTest, TlsServerIsNoPlainServer) {
  const auto answer = MakeClient()->Fetch({.url = "http" + url_.substr(5)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kRemote);
}

}  // namespace
}  // namespace tacho
