#include "ray/cluster_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "net/http_server.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<RayNode> kTwoNodes = {
    {.id = "a", .name = "gpu0", .ip = "10.0.0.1", .session = "/s", .free_disk = {}},
    {.id = "b", .name = "gpu1", .ip = "10.0.0.2", .session = "/s", .free_disk = {}}};

// A cluster where every job succeeds at once, but for those whose ids end with these, and where
// folders are gone once jobs were stopped, but for that of the node with this id.
class Cluster {
 public:
  std::string unreadable = "-", hanging = "-", keeping = "-";
  std::string log_of_hanging = "it runs";  // "HTTP 500": it cannot be read

  Cluster() {
    server_ = HttpServer::Create().value();
    const uint16_t port = server_
                              ->Listen("127.0.0.1", 0,
                                       [this](const std::shared_ptr<HttpExchange>& exchange) {
                                         const std::scoped_lock lock(mutex_);
                                         Answer(*exchange);
                                       })
                              .value();
    url_ = ParseUrl(fmt::format("http://127.0.0.1:{}", port)).value();
  }

  JobApi Api() const { return JobApi::Connect(url_, "", {}).value(); }
  bool Stopped(const std::string& end_of_id) {
    const std::scoped_lock lock(mutex_);
    return std::ranges::any_of(stopped_,
                               [&](const std::string& id) { return id.ends_with(end_of_id); });
  }

 private:
  void Answer(HttpExchange& exchange) {
    const ServerRequest& asked = exchange.request();
    const std::string jobs = "/api/jobs/";
    if (asked.path == "/api/version")
      return exchange.Respond(200, R"({"ray_version": "2.60.0"})", "application/json");
    if (asked.path == "/nodes") {
      return exchange.Respond(
          200, R"({"data": {"summary": [{"raylet": {"nodeId": "b", "nodeManagerAddress": "10.0.0.2",
                   "sessionDir": "/s", "state": "ALIVE"}}]}})",
          "application/json");
    }
    if (asked.path == "/api/v0/logs") {
      return exchange.Respond(200,
                              asked.query.starts_with("node_id=" + keeping + "&")
                                  ? R"({"data": {"result": {"internal": ["tacho-1/"]}}})"
                                  : R"({"data": {"result": {}}})",
                              "application/json");
    }
    std::string id = asked.path.substr(std::min(jobs.size(), asked.path.size()));
    if (asked.method == "POST" && id.ends_with("/stop")) {
      stopped_.insert(id.substr(0, id.rfind('/')));
    } else if (asked.method == "DELETE") {
      forgotten_.insert(id);
    } else if (asked.method == "GET") {
      if (id.ends_with("/logs")) {
        return exchange.Respond(log_of_hanging == "HTTP 500" ? 500 : 200,
                                fmt::format(R"({{"logs": "{}"}})", log_of_hanging),
                                "application/json");
      }
      if (id.ends_with(unreadable)) return exchange.Respond(500, "no state", "text/plain");
      if (forgotten_.contains(id)) return exchange.Respond(404, "no job", "text/plain");
      const bool hangs = id.ends_with(hanging) && !stopped_.contains(id);
      return exchange.Respond(
          200,
          hangs ? R"({"status": "RUNNING"})" : R"({"status": "SUCCEEDED", "driver_exit_code": 0})",
          "application/json");
    }
    exchange.Respond(200, "{}", "application/json");
  }

  std::mutex mutex_;
  std::set<std::string> stopped_, forgotten_;
  Url url_;
  std::unique_ptr<HttpServer> server_;
};

constexpr ClusterPatience kShort = {.between = milliseconds(10),
                                    .to_start = milliseconds(60'000),
                                    .silence = milliseconds(1000),
                                    .to_clear = milliseconds(1000),
                                    .to_clear_lost = milliseconds(300),
                                    .to_look = milliseconds(10)};

TEST(ClusterRun, AJobWhoseStateCannotBeReadIsLostAlone) {
  Cluster cluster;
  cluster.unreadable = "-work-1";
  const JobApi api = cluster.Api();
  ClusterRun run(api, kTwoNodes, "hash", kShort);
  ClusterRun::Ends all;
  const auto ran =
      run.Run("work", {{0, "true"}, {1, "true"}},
              [&](const ClusterRun::Ends& ends) { all.insert(ends.begin(), ends.end()); }, {});
  ASSERT_TRUE(ran);
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all.at(0), 0);
  ASSERT_FALSE(all.at(1));
  EXPECT_THAT(all.at(1).error().message,
              AllOf(HasSubstr("gpu1 (10.0.0.2): the state of its job could not be read for 1 s: "),
                    HasSubstr("HTTP 500: no state")));
  EXPECT_TRUE(cluster.Stopped("-work-1"));
  EXPECT_THAT(run.Clear(), ElementsAre(AllOf(HasSubstr("gpu1 (10.0.0.2): the job tacho-"),
                                             HasSubstr("-work-1 has not ended"))))
      << "its node lives, and the folder is removed";
}

TEST(ClusterRun, AFolderWhoseRemovalHangsIsNamed) {
  Cluster cluster;
  cluster.hanging = "-clear-1";
  cluster.keeping = "b";
  const JobApi api = cluster.Api();
  ClusterRun run(api, kTwoNodes, "hash", kShort);
  ASSERT_TRUE(run.Run("work", {{0, "true"}, {1, "true"}}, [](const ClusterRun::Ends&) {}, {}));
  run.BeginToClear({0, 1});
  EXPECT_THAT(run.Clear(), ElementsAre("gpu1 (10.0.0.2): the job for it has not ended; " +
                                       run.FolderOn(1) + " is not removed"));
  EXPECT_TRUE(cluster.Stopped("-clear-1"));
  EXPECT_THAT(run.Clear(), IsEmpty()) << "said once";
}

TEST(ClusterRun, ANodeThatHangsIsWaitedForByItsOwnPatience) {
  Cluster cluster;
  cluster.unreadable = "-work-1";
  cluster.hanging = "-clear-1";
  cluster.keeping = "b";
  const JobApi api = cluster.Api();
  ClusterPatience patience = kShort;
  patience.to_clear = std::chrono::hours(1);
  ClusterRun run(api, kTwoNodes, "hash", patience);
  ASSERT_TRUE(run.Run("work", {{0, "true"}, {1, "true"}}, [](const ClusterRun::Ends&) {}, {}));
  EXPECT_THAT(run.Clear(), ElementsAre(HasSubstr("-work-1 has not ended"),
                                       "gpu1 (10.0.0.2): the job for it has not ended; " +
                                           run.FolderOn(1) + " is not removed"));
}

TEST(ClusterRun, AJobWhoseLogCannotBeReadIsLost) {
  for (const std::string log : {"", "HTTP 500"}) {
    Cluster cluster;
    cluster.hanging = "-work-1";
    cluster.log_of_hanging = log;
    const JobApi api = cluster.Api();
    ClusterRun run(api, kTwoNodes, "hash", kShort);
    ClusterRun::Ends all;
    ASSERT_TRUE(run.Run("work", {{0, "true"}, {1, "true"}},
                        [&](const ClusterRun::Ends& ends) { all.insert(ends.begin(), ends.end()); },
                        {}));
    ASSERT_FALSE(all.at(1));
    EXPECT_THAT(all.at(1).error().message,
                AllOf(HasSubstr("the log of its job could not be read for 1 s: "),
                      HasSubstr(log.empty() ? "it is empty" : "HTTP 500")));
    EXPECT_THAT(run.Clear(), IsEmpty()) << "it ends when it is stopped";
  }
}

TEST(ClusterRun, AJobThatDoesNotEndIsNamed) {
  Cluster cluster;
  cluster.unreadable = "-work-0";
  const JobApi api = cluster.Api();
  ClusterRun run(api, kTwoNodes, "hash", kShort);
  std::stop_source stop;
  stop.request_stop();
  const auto ran = run.Run(
      "work", {{0, "true"}}, [](const ClusterRun::Ends&) {}, stop.get_token());
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kInterrupted);
  const auto left = run.Clear();
  ASSERT_EQ(left.size(), 1);
  EXPECT_THAT(WithLeft(ran.error(), left).message,
              AllOf(HasSubstr("interrupted; gpu0 (10.0.0.1): the job tacho-"),
                    HasSubstr("-work-0 has not ended")));
}

}  // namespace
}  // namespace tacho
