#include "control/daemon/kineto_daemon.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "base/ancestors.h"
#include "base/file_descriptor.h"
#include "base/folder_for_test.h"
#include "control/live/port_owner.h"
#include "net/kineto_message.h"

namespace tacho {
namespace {

constexpr int64_t kYear2100Ms = 4'102'444'800'000;

// A process with PyTorch, as seen on the socket.
class Process {
 public:
  explicit Process(const std::string& folder) {
    static int number = 0;
    socket_ = FileDescriptor(socket(AF_UNIX, SOCK_DGRAM, 0));
    const KinetoAddress own = KinetoAddressOf(folder, "client" + std::to_string(++number));
    EXPECT_EQ(bind(socket_.get(), own.get(), own.size), 0);
    const KinetoAddress daemon = KinetoAddressOf(folder, kKinetoDaemonName);
    connected_ = connect(socket_.get(), daemon.get(), daemon.size) == 0;
  }
  bool connected() const { return connected_; }
  void Send(const std::string& bytes) const {
    ASSERT_EQ(send(socket_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  std::optional<KinetoMessage> Receive(int wait_ms) const {
    pollfd wait{socket_.get(), POLLIN, 0};
    if (poll(&wait, 1, wait_ms) != 1) return std::nullopt;
    char bytes[4096];
    ssize_t size = recv(socket_.get(), bytes, sizeof(bytes), 0);
    return ParseKinetoMessage({bytes, static_cast<size_t>(size)});
  }
  // Asks again if no answer comes: a busy machine may be late.
  std::optional<KinetoMessage> Exchange(const KinetoMessage& message) const {
    std::optional<KinetoMessage> answer;
    for (int tries = 0; tries < 10 && !answer; ++tries) {
      Send(PackKinetoMessage(message));
      answer = Receive(500);
    }
    return answer;
  }
  std::string Ask(const KinetoQuestion& question) const {
    std::optional<KinetoMessage> answer = Exchange({"req", PackKinetoQuestion(question)});
    EXPECT_TRUE(answer && answer->type == "req");
    return answer ? answer->payload : "no answer";
  }
  // Whether the daemon has nothing for this process to do, and so does not answer.
  bool AsksInVain(const KinetoQuestion& question) const {
    Send(PackKinetoMessage({"req", PackKinetoQuestion(question)}));
    // The daemon always answers this message, and answers in order.
    const auto next = Exchange({"ctxt", PackKinetoContext({0, question.pids.front(), 0})});
    return next && next->type == "ctxt";
  }

 private:
  FileDescriptor socket_;
  bool connected_;
};

TEST(KinetoMessage, GoesThereAndBack) {
  KinetoQuestion question{3, -7, {4711, 12, 1}};
  std::string bytes = PackKinetoMessage({"req", PackKinetoQuestion(question)});
  EXPECT_EQ(bytes.size(), 8u + 32 + 16 + 12);
  std::optional<KinetoMessage> message = ParseKinetoMessage(bytes);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, "req");
  std::optional<KinetoQuestion> back = ParseKinetoQuestion(message->payload);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->state, 3);
  EXPECT_EQ(back->job, -7);
  EXPECT_EQ(back->pids, (std::vector<int64_t>{4711, 12, 1}));
}

TEST(KinetoMessage, RefusesEveryCutAndEveryWrongCount) {
  std::string payload = PackKinetoQuestion({1, 0, {1, 2, 3}});
  std::string bytes = PackKinetoMessage({"req", payload});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ParseKinetoMessage(bytes.substr(0, size))) << size;
  EXPECT_FALSE(ParseKinetoMessage(bytes + "x"));
  for (size_t size = 0; size < payload.size(); ++size)
    EXPECT_FALSE(ParseKinetoQuestion(payload.substr(0, size))) << size;
  for (int32_t count : {0, -1, 4, 1 << 30}) {
    std::string wrong = payload;
    std::memcpy(wrong.data() + 4, &count, 4);
    EXPECT_FALSE(ParseKinetoQuestion(wrong)) << count;
  }
}

TEST(KinetoDaemon, KeepsNoMoreProcessesThanItsBound) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  const Process process(folder.path());
  for (int32_t pid = 1; pid <= 17'000; ++pid)
    process.Send(PackKinetoMessage({"req", PackKinetoQuestion({0, 0, {pid, 1}})}));
  // The daemon answers in order, so it has taken all questions before this message.
  EXPECT_TRUE(process.Exchange({"ctxt", PackKinetoContext({0, 1, 0})}));
  EXPECT_EQ((*daemon)->Processes().size(), 16'384u);
}

TEST(KinetoDaemon, AnswersEachProcessOnce) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  Process worker(folder.path()), other(folder.path());
  ASSERT_TRUE(worker.connected());
  EXPECT_TRUE(worker.AsksInVain({3, 5, {100, 50, 1}}));
  EXPECT_TRUE(other.AsksInVain({3, 5, {101, 50, 1}}));

  DaemonTrace trace{
      .folder = "/traces", .stem = "s1", .start_unix_ms = kYear2100Ms, .duration_ms = 2000};
  (*daemon)->Request({{100, trace}});
  EXPECT_TRUE(other.AsksInVain({3, 5, {101, 50, 1}}));
  std::string config = worker.Ask({3, 5, {100, 50, 1}});
  EXPECT_EQ(config, trace.ConfigText());
  EXPECT_NE(config.find("ACTIVITIES_LOG_FILE=/traces/s1.json\n"), std::string::npos);
  EXPECT_NE(config.find("PROFILE_START_TIME=4102444800000\n"), std::string::npos);
  EXPECT_NE(config.find("ACTIVITIES_DURATION_MSECS=2000\n"), std::string::npos);
  EXPECT_EQ(trace.FileOf(100), "/traces/s1_100.json");
  EXPECT_TRUE(worker.AsksInVain({1, 5, {100, 50, 1}}));

  std::vector<DaemonProcess> processes = (*daemon)->Processes();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].pid, 100);
  EXPECT_EQ(processes[0].ancestors, (std::vector<int64_t>{50, 1}));
  EXPECT_TRUE(processes[0].tracing);
  EXPECT_TRUE(processes[0].told);
  EXPECT_FALSE(processes[1].told);
}

TEST(KinetoDaemon, KnowsTheStatesOfBothProtocols) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  const Process process(folder.path());
  for (const auto& [state, tracing] :
       {std::pair{3, false}, std::pair{1, true}, std::pair{2, false}, std::pair{0, true}}) {
    EXPECT_TRUE(process.AsksInVain({state, 5, {100}}));
    EXPECT_EQ((*daemon)->Processes()[0].tracing, tracing) << state;
  }
}

// Kineto compares the name that an answer comes from with its own variable as text, and aborts if
// they differ.
TEST(KinetoDaemon, AnswersNobodyWhoWritesTheFolderOtherwise) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  (*daemon)->Request({{100, {.folder = "/t", .stem = "s", .start_unix_ms = kYear2100Ms}}});
  const Process otherwise(folder.path() + "/."), same(folder.path());
  ASSERT_TRUE(otherwise.connected());
  otherwise.Send(PackKinetoMessage({"req", PackKinetoQuestion({3, 5, {100}})}));
  otherwise.Send(PackKinetoMessage({"ctxt", PackKinetoContext({0, 100, 0})}));
  EXPECT_TRUE(same.AsksInVain({3, 5, {101}}));  // after the others
  EXPECT_FALSE(otherwise.Receive(0));
  EXPECT_EQ((*daemon)->Processes().size(), 1u);
}

TEST(KinetoDaemon, TellsEachProcessItsOwnFolder) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  const Process first(folder.path()), second(folder.path());
  const DaemonTrace one{.folder = "/a", .stem = "s", .start_unix_ms = kYear2100Ms};
  const DaemonTrace two{.folder = "/b", .stem = "s", .start_unix_ms = kYear2100Ms};
  (*daemon)->Request({{100, one}, {101, two}});
  EXPECT_EQ(second.Ask({3, 5, {101}}), two.ConfigText());
  EXPECT_EQ(first.Ask({3, 5, {100}}), one.ConfigText());
}

TEST(KinetoDaemon, TakesARequestBackFromProcessesThatDidNotAsk) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  Process worker(folder.path()), other(folder.path());
  EXPECT_TRUE(worker.AsksInVain({3, 5, {100, 50, 1}}));
  EXPECT_TRUE(other.AsksInVain({3, 5, {101, 50, 1}}));
  DaemonTrace trace{
      .folder = "/traces", .stem = "s", .start_unix_ms = kYear2100Ms, .duration_ms = 2};
  (*daemon)->Request({{100, trace}, {101, trace}});
  EXPECT_NE(worker.Ask({3, 5, {100, 50, 1}}), "");
  EXPECT_EQ((*daemon)->Withdraw(), std::vector<int64_t>{100});
  EXPECT_TRUE(other.AsksInVain({3, 5, {101, 50, 1}}));
}

TEST(KinetoDaemon, DoesNotAnnounceAStartThatIsTooLate) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  Process worker(folder.path());
  EXPECT_TRUE(worker.AsksInVain({3, 5, {100}}));
  DaemonTrace trace{.folder = "/traces", .stem = "s", .start_unix_ms = 0, .duration_ms = 2};
  trace.start_unix_ms = (*daemon)->AllToldByUnixMs({}) + KinetoDaemon::kReadyMs - 100;
  (*daemon)->Request({{100, trace}});
  EXPECT_TRUE(worker.AsksInVain({3, 5, {100}}));
  EXPECT_FALSE((*daemon)->Processes()[0].told);
  trace.start_unix_ms += 10'000;
  (*daemon)->Request({{100, trace}});
  EXPECT_EQ(worker.Ask({3, 5, {100}}), trace.ConfigText());
}

TEST(KinetoDaemon, IgnoresInvalidMessages) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  Process worker(folder.path());
  worker.Send("nonsense");
  worker.Send(PackKinetoMessage({"ctxt", "short"}));
  worker.Send(PackKinetoMessage({"req", "short"}));
  EXPECT_TRUE(worker.AsksInVain({3, 0, {7}}));
  EXPECT_FALSE(worker.Receive(0));
  EXPECT_EQ((*daemon)->Processes().size(), 1u);
}

TEST(KinetoDaemon, CountsTheUsersOfAGpu) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon) << daemon.error().message;
  Process first(folder.path()), second(folder.path());
  const auto users = [](const Process& process, const KinetoContext& context) {
    std::optional<KinetoMessage> answer = process.Exchange({"ctxt", PackKinetoContext(context)});
    int32_t count = -1;
    if (answer && answer->type == "ctxt" && answer->payload.size() == 4)
      std::memcpy(&count, answer->payload.data(), 4);
    return count;
  };
  EXPECT_EQ(users(first, {0, 100, 0}), 1);
  EXPECT_EQ(users(second, {1, 101, 0}), 1);
  EXPECT_EQ(users(second, {0, 101, 0}), 2);
  EXPECT_EQ(users(first, {0, 100, 0}), 2);
  EXPECT_TRUE((*daemon)->Processes().empty());  // they asked for nothing yet
}

TEST(KinetoDaemon, OnlyOneListensAndADeadOnesSocketIsTakenOver) {
  FolderForTest folder;
  {
    auto first = KinetoDaemon::Listen(folder.path());
    ASSERT_TRUE(first);
    auto second = KinetoDaemon::Listen(folder.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kRemote);
    EXPECT_NE(second.error().message.find("is taken"), std::string::npos);
    Process worker(folder.path());
    EXPECT_TRUE(worker.AsksInVain({3, 0, {7}}));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.At("dynolog")));
  // A socket file as a killed daemon leaves it.
  FileDescriptor left(socket(AF_UNIX, SOCK_DGRAM, 0));
  sockaddr_un name{AF_UNIX, {}};
  std::string path = folder.At("dynolog");
  std::memcpy(name.sun_path, path.data(), path.size());
  ASSERT_EQ(bind(left.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  left.Close();
  EXPECT_TRUE(KinetoDaemon::Listen(folder.path()));
}

TEST(KinetoDaemon, AFolderThatCannotBeUsedIsNamed) {
  auto missing = KinetoDaemon::Listen("/no/such/folder");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kOutput);
  auto longer = KinetoDaemon::Listen(std::string(200, 'x'));
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().kind, ErrorKind::kUsage);
}

TEST(KinetoDaemon, PredictsWhenAllWillHaveAsked) {
  FolderForTest folder;
  auto daemon = KinetoDaemon::Listen(folder.path());
  ASSERT_TRUE(daemon);
  Process worker(folder.path());
  EXPECT_TRUE(worker.AsksInVain({3, 0, {7}}));
  int64_t now_ms = std::time(nullptr) * 1000;
  int64_t by = (*daemon)->AllToldByUnixMs({7});
  EXPECT_GE(by, now_ms + 3000);
  EXPECT_LE(by, now_ms + 7000);
}

TEST(PortOwner, FindsThisProcessAndItsParents) {
  FileDescriptor listener(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(listen(listener.get(), 1), 0);
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
  uint16_t port = 0;
  std::memcpy(&port, reinterpret_cast<char*>(&name) + 2, 2);
  port = static_cast<uint16_t>((port >> 8) | (port << 8));
  EXPECT_EQ(PidsListeningOn(port), std::vector<int64_t>{getpid()});
  listener.Close();
  EXPECT_TRUE(PidsListeningOn(port).empty());
  std::vector<int64_t> ancestors = AncestorsOf(getpid());
  ASSERT_FALSE(ancestors.empty());
  EXPECT_EQ(ancestors.front(), getppid());
  EXPECT_TRUE(AncestorsOf(-1).empty());
}

}  // namespace
}  // namespace tacho
