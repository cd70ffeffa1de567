#include "control/live/discover.h"

#include <gmock/gmock.h>

#include "base/folder_for_test.h"
#include "control/fake_engine_for_test.h"
#include "control/finding_for_test.h"
#include "net/url.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DiscoverTest : public testing::Test {
 protected:
  std::string File(const std::string& text) {
    return folder_.Write("file" + std::to_string(++files_), text);
  }
  Result<Deployment> Find(const std::vector<std::string>& targets) {
    return Discover(*client_, targets);
  }
  static std::vector<std::string> Urls(const Deployment& deployment) {
    std::vector<std::string> urls;
    for (const Worker& worker : deployment.workers) urls.push_back(worker.url);
    return urls;
  }
  FolderForTest folder_;
  int files_ = 0;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
};

TEST_F(DiscoverTest, ARouterIsDistinguishedFromAWorker) {
  FakeEngine worker({{"GET /version", {200, "{}"}}});
  FakeEngine vllm({{"GET /workers", {200, R"({"workers":[{"url":"http://10.0.0.2:1@1"},
                                            {"url":"http://10.0.0.2:1@0"}]})"}},
                   {"GET /list_workers", {200, R"({"urls":["http://10.0.0.2:1"]})"}}});
  FakeEngine sglang({{"GET /workers", {200, R"({"workers":[{"id":"u","url":"http://a:1"}]})"}}});
  FakeEngine old({{"GET /list_workers", {200, R"({"urls":["http://a:1","http://b:1"]})"}}});

  auto alone = Find({worker.url()});
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->router_kind, RouterKind::kNone);
  EXPECT_THAT(Urls(*alone), ElementsAre(worker.url()));

  auto ranked = Find({vllm.url() + "/"});
  ASSERT_TRUE(ranked);
  EXPECT_EQ(ranked->router_kind, RouterKind::kVllmRouter);
  EXPECT_EQ(ranked->router_url, vllm.url());
  EXPECT_THAT(Urls(*ranked), ElementsAre("http://10.0.0.2:1"));
  EXPECT_THAT(ranked->workers[0].dp_ranks, ElementsAre(0, 1));

  EXPECT_EQ(Find({sglang.url()})->router_kind, RouterKind::kSglangRouter);
  EXPECT_THAT(Urls(*Find({old.url()})), ElementsAre("http://a:1", "http://b:1"));
  for (const std::string& request : vllm.seen())
    EXPECT_THAT(request, testing::AnyOf("GET /workers", "GET /list_workers"));
}

// Behind SMG, engines that speak no HTTP are profiled through it.
TEST_F(DiscoverTest, ARouterInPlaceOfItsWorkers) {
  const auto list = [](const char* workers) {
    return FakeEngine::Answer{200, std::string(R"({"workers":[)") + workers + "]}"};
  };
  const char* two = R"({"id":"u","url":"grpc://127.0.0.1:50051","connection_mode":"grpc",
      "runtime_type":"sglang","model_id":"tiny","labels":{"tp_size":"2"}},
      {"id":"v","url":"grpc://127.0.0.1:50052","connection_mode":"grpc","runtime_type":"sglang",
       "model_id":"tiny","labels":{"tp_size":"2"}})";
  const FakeEngine smg({{"GET /workers", list(two)}, {"GET /start_profile", {405, ""}}});
  const auto found = Find({smg.url()});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->router_kind, RouterKind::kSmg);
  EXPECT_THAT(Urls(*found), ElementsAre(smg.url()));
  ASSERT_TRUE(found->workers[0].in_place_of);
  EXPECT_EQ(found->workers[0].in_place_of->model, "tiny");
  EXPECT_EQ(found->workers[0].in_place_of->engines, 2);
  EXPECT_EQ(found->workers[0].in_place_of->tensor_parallel, 2);
  EXPECT_TRUE(found->workers[0].in_place_of->on_this_host);
  // A router without the route, and a router whose workers speak HTTP.
  const FakeEngine old({{"GET /workers", list(two)}});
  EXPECT_EQ(Find({old.url()}).error().kind, ErrorKind::kRemote);
  EXPECT_THAT(Find({old.url()}).error().message, HasSubstr("speaks gRPC"));
  const FakeEngine http(
      {{"GET /workers", list(R"({"id":"u","url":"http://a:1","runtime_type":"vllm"})")},
       {"GET /start_profile", {405, ""}}});
  EXPECT_THAT(Urls(*Find({http.url()})), ElementsAre("http://a:1"));
  EXPECT_THAT(http.seen(), testing::UnorderedElementsAre("GET /workers", "GET /list_workers"))
      << "a GET would start the profiler of an SGLang";
  // Only the daemon or nsys can record a worker that speaks ZMQ, and a finding says so.
  const FakeEngine mixed(
      {{"GET /workers", list(R"({"id":"u","url":"ipc:///tmp/a","runtime_type":"vllm"},
                                   {"id":"v","url":"http://a:1","runtime_type":"vllm"})")}});
  const auto both = Find({mixed.url()});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_THAT(Urls(*both), ElementsAre("http://a:1"));
  EXPECT_THAT(IdsOf(both->findings), ElementsAre("zmq-worker"));
}

TEST_F(DiscoverTest, RoutersThatCannotHelpSayWhy) {
  FakeEngine empty({{"GET /workers", {200, R"({"workers":[],"total":0})"}}});
  FakeEngine locked({{"GET /workers", {401, "no"}}});
  FakeEngine moved({{"GET /workers", {302, "", {{"Location", "http://else/"}}}}});
  EXPECT_THAT(Find({empty.url()}).error().message, HasSubstr("without workers"));
  EXPECT_THAT(Find({locked.url()}).error().message, HasSubstr("--api-key"));
  EXPECT_THAT(Find({moved.url()}).error().message, HasSubstr("http://else/"));
  EXPECT_EQ(Find({"http://127.0.0.1:1"}).error().kind, ErrorKind::kRemote);
  EXPECT_EQ(Find({}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Find({"no such thing"}).error().kind, ErrorKind::kUsage);
}

TEST_F(DiscoverTest, FilesAreListsOrLogs) {
  EXPECT_THAT(Urls(*Find({File("http://b:1\nhttp://a:1\nhttp://b:1\n")})),
              ElementsAre("http://b:1", "http://a:1"));
  EXPECT_THAT(Urls(*Find({File("x: Starting vLLM server on http://0.0.0.0:8101\n")})),
              ElementsAre("http://0.0.0.0:8101"));
  FakeEngine router({{"GET /workers", {200, R"({"workers":[{"url":"http://a:1"}]})"}}});
  std::string log = File(
      "Router launched at 127.0.0.1:1, Prometheus port: 2\n"
      "Router launched at " +
      router.url().substr(7) + ", Prometheus port: 3\n");
  auto found = Find({log});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(Urls(*found), ElementsAre("http://a:1"));
  EXPECT_THAT(TextsOf(found->findings, false), ElementsAre(HasSubstr("passed over")));
  EXPECT_THAT(IdsOf(found->findings), ElementsAre("several-routers"));
  EXPECT_THAT(Find({File("nothing: here\n")}).error().message, HasSubstr("neither a list"));
  EXPECT_EQ(Find({File("Router launched at 127.0.0.1:1, x\n")}).error().kind, ErrorKind::kRemote);
}

TEST_F(DiscoverTest, AKeyGoesToServersThatTheUserNamed) {
  client_ = HttpClient::Create({.bearer_key = "sesame"}).value();
  FakeEngine worker({});
  FakeEngine router(
      {{"GET /workers",
        {200, R"({"workers":[{"url":")" + worker.url() + R"("},{"url":"http://10.0.0.9:1"}]})"}}});
  const auto use = [&](const std::string& url) { return client_->KeyUseFor(*ParseUrl(url)); };
  auto found = Find({router.url() + "/v1"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(use(router.url()), KeyUse::kSent);
  EXPECT_EQ(use(worker.url()), KeyUse::kWithheld);
  EXPECT_THAT(TextsOf(found->findings, false), ElementsAre());
  ASSERT_TRUE(Find({worker.url()}));
  EXPECT_EQ(use(worker.url()), KeyUse::kSent);
  ASSERT_TRUE(Find({File("http://10.0.0.1:1\n")}));
  EXPECT_EQ(use("http://10.0.0.1:1"), KeyUse::kSent);
  ASSERT_TRUE(Find({File("x: Starting vLLM server on http://10.0.0.2:8101\n")}));
  EXPECT_EQ(use("http://10.0.0.2:8101"), KeyUse::kSent);
  EXPECT_EQ(use("https://10.0.0.2:8101"), KeyUse::kWithheld);
  EXPECT_EQ(use("http://10.0.0.9:1"), KeyUse::kWithheld);

  client_ = HttpClient::Create({.bearer_key = "sesame", .keys_to_all = true}).value();
  found = Find({router.url()});
  ASSERT_TRUE(found);
  EXPECT_EQ(use(worker.url()), KeyUse::kSent);
  EXPECT_THAT(TextsOf(found->findings, false), ElementsAre(HasSubstr(worker.url())));
  EXPECT_THAT(IdsOf(found->findings), ElementsAre("key-sent-to-workers"));
}

TEST_F(DiscoverTest, AnInvalidAddressGetsNoRequest) {
  EXPECT_THAT(Find({folder_.path()}).error().message, HasSubstr("is a folder"));
  const auto word = Find({"extra"});
  EXPECT_EQ(word.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(word.error().message, HasSubstr("there is no such file"));
  for (const char* target : {"http://me:sesame@h:1", "me:sesame@h/v1", "me:sesame@h"}) {
    const auto refused = Find({target});
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(refused.error().message, Not(HasSubstr("sesame")));
  }
}

TEST_F(DiscoverTest, TheSameWorkerTwiceIsOne) {
  FakeEngine worker({});
  auto found = Find({worker.url(), worker.url()});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->workers.size(), 1u);
  EXPECT_THAT(TextsOf(found->findings, false), ElementsAre(HasSubstr("named twice")));
  EXPECT_THAT(IdsOf(found->findings), ElementsAre("listed-twice"));
}

}  // namespace
}  // namespace tacho
