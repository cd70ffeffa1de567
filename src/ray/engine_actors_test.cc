#include "ray/engine_actors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<RayNode> kNodes = {
    {.id = "a", .name = "head", .ip = "10.0.0.1", .session = "/s", .free_disk = {}},
    {.id = "b", .name = "gpu1", .ip = "10.0.0.2", .session = "/s", .free_disk = {}},
    {.id = "c", .name = "gpu2", .ip = "fd00::3", .session = "/s", .free_disk = {}}};

TEST(EngineActors, AreTheClassesOfVimeAndSlime) {
  EXPECT_TRUE(StartsServers("RolloutManager"));
  EXPECT_TRUE(StartsServers("VLLMEngine"));
  EXPECT_TRUE(StartsServers("slime.backends.SGLangEngine"));
  EXPECT_FALSE(StartsServers("RayTrainGroup"));
  EXPECT_FALSE(StartsServers(""));
}

TEST(EngineActors, TheirLogsNameRoutersAndEngines) {
  const NamedServers vime = ServersIn(
      {{"10.0.0.1", "INFO Router launched at 10.0.0.1:3456, Prometheus port: 4567\nmore\n"},
       {"10.0.0.2",
        "Launch vLLM OpenAI api_server at: 10.0.0.2:15000 (rank=0 node_rank=0/2)\n"
        "INFO: Uvicorn running on http://0.0.0.0:15000 (Press CTRL+C to quit)\n"},
       {"fd00::3", "Launch vLLM OpenAI api_server at: [fd00::3]:15002 (rank=1 node_rank=1/2)\n"}},
      kNodes);
  EXPECT_THAT(vime.routers, ElementsAre("http://10.0.0.1:3456"));
  EXPECT_THAT(vime.engines, ElementsAre("http://10.0.0.2:15000"))
      << "its second node has no server; its child's own line names the same server";
  EXPECT_THAT(vime.elsewhere, IsEmpty());
  const NamedServers slime =
      ServersIn({{"10.0.0.2", "Launch HttpServerEngineAdapter at: 10.0.0.2:15000\n"},
                 {"fd00::3", "Launch HttpServerEngineAdapter at: [fd00::3]:15000\n"}},
                kNodes);
  EXPECT_THAT(slime.engines, ElementsAre("http://10.0.0.2:15000", "http://[fd00::3]:15000"));
}

// What an engine logs is not trusted: a key of the user must not go to any address.
TEST(EngineActors, AServerIsOnANodeOfTheCluster) {
  const NamedServers servers =
      ServersIn({{"10.0.0.2",
                  "Router launched at 192.0.2.7:3456, Prometheus port: 1\n"
                  "Router launched at 127.0.0.1:3457, Prometheus port: 1\n"
                  "Router launched at gpu1:3458, Prometheus port: 1\n"
                  "Router launched at :::::, \nRouter launched at 10.0.0.2:99999, x\n"}},
                kNodes);
  EXPECT_THAT(servers.routers, ElementsAre("http://10.0.0.2:3457", "http://gpu1:3458"));
  EXPECT_THAT(servers.elsewhere, ElementsAre("http://192.0.2.7:3456"));
}

}  // namespace
}  // namespace tacho
