#include "control/live/held_engines.h"

#include <gmock/gmock.h>

#include "base/folder_for_test.h"
#include "control/fake_engine_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ProbedWorker Engine(const std::string& url, const std::string& instance) {
  EngineFacts facts;
  facts.instance = ParseInstance(instance);
  Worker worker;
  worker.url = url;
  return {.worker = worker, .facts = facts};
}

ProbedWorker Dead(const std::string& url) {
  ProbedWorker dead = Engine(url, "");
  dead.facts = FailAt(ErrorKind::kRemote, url, "connection refused");
  return dead;
}

TEST(ChangesBetween, NamesWhatHappenedToEachEngine) {
  const auto a = Engine("http://a:1", "id:1 start:5");
  EXPECT_THAT(ChangesBetween({a}, {a}), IsEmpty());
  EXPECT_THAT(ChangesBetween({a}, {Engine("http://a:1", "id:1")}), IsEmpty()) << "metrics missing";
  EXPECT_THAT(ChangesBetween({a}, {Engine("http://a:1", "id:2 start:9")}),
              ElementsAre("http://a:1 was restarted: another process answers"));
  EXPECT_THAT(ChangesBetween({a}, {Engine("http://b:1", "id:1")}),
              ElementsAre("http://a:1 left: it is not listed any more", "http://b:1 joined"));
  EXPECT_THAT(ChangesBetween({a}, {Dead("http://a:1")}),
              ElementsAre("an engine does not answer any more: http://a:1: connection refused"));
  EXPECT_THAT(ChangesBetween({Dead("http://a:1")}, {Dead("http://a:1")}), IsEmpty());
  EXPECT_THAT(ChangesBetween({Dead("http://a:1")}, {a}), ElementsAre("http://a:1 answers again"));
  auto asleep = a;
  asleep.facts->asleep = true;
  EXPECT_THAT(ChangesBetween({a}, {asleep}), ElementsAre("http://a:1 sleeps"));
  EXPECT_THAT(ChangesBetween({asleep}, {a}), ElementsAre("http://a:1 is awake again"));
}

class HeldEnginesTest : public testing::Test {
 protected:
  std::string WaitsFor(const std::string& target, size_t least = 1) {
    HeldEngines held(*client_, {.targets = {target}, .least_workers = least});
    auto look = held.Look({});
    return look ? look->waits_for : "error: " + look.error().message;
  }
  RuntimeFolderForTest runtime_;
  FolderForTest folder_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
};

TEST_F(HeldEnginesTest, WhatIsWaitedForAndWhatIsAMistake) {
  EXPECT_THAT(WaitsFor(folder_.Write("job.log", "INFO starting\n")), HasSubstr("job.log names no"));
  EXPECT_THAT(WaitsFor(folder_.Write("old.log", "Router launched at 127.0.0.1:1, Prometheus\n")),
              HasSubstr("old.log:1: "));
  EXPECT_EQ(WaitsFor("no/such.log"),
            "no/such.log: there is no such file yet, and it is not an http:// address");
  EXPECT_EQ(WaitsFor("nowhere.log"),
            "nowhere.log: there is no such file yet, and it is not an http:// address");
  EXPECT_THAT(WaitsFor("nowhere"), HasSubstr("error: nowhere: there is no such file"));
  EXPECT_THAT(WaitsFor(folder_.path()), HasSubstr("is a folder"));
  FakeEngine starting({{"GET /workers", {200, R"({"workers":[]})"}}});
  EXPECT_THAT(WaitsFor(starting.url()), HasSubstr("a router without workers"));
  FakeEngine engine({{"GET /v1/models", {200, R"({"data":[{"id":"m","owned_by":"sglang"}]})"}},
                     {"GET /model_info", {200, "{}"}}});
  EXPECT_EQ(WaitsFor(engine.url()), "") << "an older SGLang has no /ready";
  EXPECT_EQ(WaitsFor(engine.url(), 2), "1 of 2 engines ready");
  for (const std::string& request : engine.seen())
    EXPECT_THAT(request, testing::Not(testing::StartsWith("GET /health")));
  FakeEngine paused({{"GET /v1/models", {200, R"({"data":[{"id":"m","owned_by":"sglang"}]})"}},
                     {"GET /ready", {503, ""}}});
  EXPECT_THAT(WaitsFor(paused.url()), HasSubstr("its /ready answers 503"));
  FakeEngine router({{"GET /workers", {200, R"({"workers":[{"url":")" + engine.url() + R"("}]})"}},
                     {"GET /readiness", {503, ""}}});
  EXPECT_THAT(WaitsFor(router.url()), HasSubstr("its /readiness answers 503"));
}

}  // namespace
}  // namespace tacho
