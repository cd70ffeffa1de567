// The client against a TLS server (openssl s_server) with a certificate that nobody vouches for.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/folder_for_test.h"
#include "net/net_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;

// A running child; what it says goes to `output`.
class Child {
 public:
  explicit Child(std::vector<std::string> words) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    output_ = FileDescriptor(ends[0]);
    FileDescriptor far(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, far.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, far.get(), 2);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
      pid_ = -1;
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    Wait();
  }
  // The exit status; -1 when it did not run.
  int Wait() {
    int status = 0;
    if (pid_ <= 0) return -1;
    const pid_t pid = std::exchange(pid_, -1);
    if (!Eventually([&] { return waitpid(pid, &status, WNOHANG) != 0; })) {
      ADD_FAILURE() << "waited 60 s for a child to end";
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string ReadLine() {
    std::string line;
    char c = 0;
    pollfd waiting{output_.get(), POLLIN, 0};
    const int patience_ms = static_cast<int>(kPatienceForTest.count()) * 1000;
    while (poll(&waiting, 1, patience_ms) == 1 && read(output_.get(), &c, 1) == 1 && c != '\n')
      line += c;
    return line;
  }

 private:
  pid_t pid_ = -1;
  FileDescriptor output_;
};

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string key = folder_.At("key.pem");
    const std::string certificate = folder_.At("certificate.pem");
    Child request({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                   "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                   "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate});
    if (request.Wait() != 0) GTEST_SKIP() << "TLS IS NOT TESTED: no openssl program here";
    server_ = std::make_unique<Child>(std::vector<std::string>{"openssl", "s_server", "-accept",
                                                               "127.0.0.1:0", "-key", key, "-cert",
                                                               certificate, "-www"});
    // It says "ACCEPT 127.0.0.1:PORT".
    for (std::string line = server_->ReadLine(); !line.empty(); line = server_->ReadLine()) {
      if (!line.starts_with("ACCEPT")) continue;
      url_ = "https://127.0.0.1:" + line.substr(line.rfind(':') + 1);
      break;
    }
    if (url_.empty()) GTEST_SKIP() << "TLS IS NOT TESTED: openssl s_server does not start";
  }

  FolderForTest folder_;
  std::unique_ptr<Child> server_;
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
