#include "control/router/worker_list.h"
#include "control/finding_for_test.h"

#include <gmock/gmock.h>

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Urls(const std::optional<std::vector<ListedWorker>>& listed) {
  std::vector<std::string> urls;
  for (const ListedWorker& worker : listed.value()) urls.push_back(worker.url);
  return urls;
}

TEST(WorkerList, TheShapesOfRealRouters) {
  auto vllm = ParseWorkerList(
      R"({"workers":[{"url":"http://127.0.0.1:8102","model_id":"unknown","worker_type":"regular",
      "is_healthy":true,"load":0,"connection_mode":"Http","priority":50,"cost":1.0},
      {"url":"http://127.0.0.1:8101","worker_type":"prefill","is_healthy":false}],
      "total":2,"stats":{"prefill_count":0}})");
  EXPECT_THAT(Urls(vllm), ElementsAre("http://127.0.0.1:8102", "http://127.0.0.1:8101"));
  EXPECT_EQ((*vllm)[1].role, WorkerRole::kPrefill);
  EXPECT_FALSE((*vllm)[1].healthy);
  auto old = ParseWorkerList(R"({"urls":["http://a:1","http://b:2"]})");
  EXPECT_THAT(Urls(old), ElementsAre("http://a:1", "http://b:2"));
  auto grpc = ParseWorkerList(R"({"workers":[{"url":"grpc://a:1"},
      {"url":"http://b:2","connection_mode":"GRPC"}]})");
  EXPECT_TRUE((*grpc)[0].grpc);
  EXPECT_TRUE((*grpc)[1].grpc);
  EXPECT_TRUE(ParseWorkerList(R"({"workers":[]})")->empty());
}

TEST(WorkerList, OtherJsonIsNotAList) {
  for (const char* body :
       {"", "[]", "{", "null", R"({"detail":"Not Found"})", R"({"workers":3})",
        R"({"workers":[3]})", R"({"workers":[{"id":"x"}]})", R"({"workers":[{"url":7}]})"})
    EXPECT_FALSE(ParseWorkerList(body)) << body;
}

TEST(WorkerList, OneThatNestsWithoutEndIsNoList) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += R"({"targets":[)";
  deep += R"("http://a:1")";
  for (int i = 0; i < 20'000; ++i) deep += "]}";
  EXPECT_FALSE(ParseWorkerList(R"({"workers":[)" + deep + "]}"));
  EXPECT_FALSE(ParseTargetList("[" + deep + "]"));
}

TEST(TargetList, LinesArraysAndKubernetes) {
  EXPECT_THAT(Urls(ParseTargetList("# engines\nhttp://a:1\n  10.0.0.2:8000  # second\n\n")),
              ElementsAre("http://a:1", "10.0.0.2:8000"));
  EXPECT_THAT(Urls(ParseTargetList(R"(["http://a:1",{"url":"http://b:2"}])")),
              ElementsAre("http://a:1", "http://b:2"));
  EXPECT_THAT(Urls(ParseTargetList(R"([{"targets":["a:1","b:2"],"labels":{}}])")),
              ElementsAre("a:1", "b:2"));
  EXPECT_THAT(Urls(ParseTargetList(R"({"kind":"EndpointSlice","ports":[{"port":8000}],"endpoints":[
      {"addresses":["10.0.0.1"],"conditions":{"ready":true}},
      {"addresses":["10.0.0.2"],"conditions":{"ready":false}},
      {"addresses":["fd00::3"]}]})")),
              ElementsAre("http://10.0.0.1:8000", "http://[fd00::3]:8000"));
  EXPECT_THAT(Urls(ParseTargetList(R"({"kind":"List","items":[{"kind":"Endpoints","subsets":[
      {"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}]})")),
              ElementsAre("http://10.0.0.1:80"));
  EXPECT_FALSE(ParseTargetList("a log line: with words\n"));
  EXPECT_FALSE(ParseTargetList("garbage\n"));
  EXPECT_THAT(Urls(ParseTargetList("localhost\n10.0.0.2\n")), ElementsAre("localhost", "10.0.0.2"));
  EXPECT_FALSE(ParseTargetList("{}"));
}

TEST(TargetList, WhatKubectlPrintsAsYaml) {
  EXPECT_THAT(Urls(ParseTargetList(R"(apiVersion: v1
items:
- addressType: IPv4
  apiVersion: discovery.k8s.io/v1
  endpoints:
  - addresses:
    - 10.244.1.17
    conditions:
      ready: true
  - addresses:
    - 10.244.1.18
    conditions:
      ready: false
  kind: EndpointSlice
  ports:
  - name: http
    port: 8000
    protocol: TCP
- apiVersion: v1
  kind: Pod
  spec:
    containers:
    - name: vllm
      ports:
      - containerPort: 8001
        protocol: TCP
  status:
    conditions:
    - status: "True"
      type: Ready
    podIP: 10.244.2.5
kind: List
metadata:
  resourceVersion: ""
)")),
              ElementsAre("http://10.244.1.17:8000", "http://10.244.2.5:8001"));
  EXPECT_THAT(Urls(ParseTargetList(R"(apiVersion: v1
kind: Endpoints
subsets:
- addresses:
  - ip: 10.0.0.1
    targetRef: {kind: Pod, name: "a"}
  notReadyAddresses:
  - ip: 10.0.0.9
  ports:
  - port: 80
)")),
              ElementsAre("http://10.0.0.1:80"));
  EXPECT_FALSE(ParseTargetList("apiVersion: v1\nkind: List\nitems: []\n"));
  EXPECT_FALSE(ParseTargetList("apiVersion: v1\n  items: [\n"));
}

TEST(SplitRank, OnlyANumberAfterTheAtIsARank) {
  EXPECT_EQ(SplitRank("http://h:1@3").server, "http://h:1");
  EXPECT_EQ(SplitRank("http://h:1@3").rank, 3);
  EXPECT_EQ(SplitRank("http://h:1/").server, "http://h:1");
  EXPECT_FALSE(SplitRank("http://user@h:1").rank);
  EXPECT_FALSE(SplitRank("http://h:1@-1").rank);
  EXPECT_FALSE(SplitRank("http://h:1@").rank);
}

TEST(UnifyWorkers, RanksOfOneServerAreOneWorker) {
  std::vector<Finding> findings;
  auto workers = UnifyWorkers({{"http://h:2@1", WorkerRole::kRegular, true, false},
                               {"http://h:2@0", WorkerRole::kRegular, false, false},
                               {"http://h:1", WorkerRole::kDecode, true, false},
                               {"http://h:1/", WorkerRole::kDecode, true, false},
                               {"http://h:3", WorkerRole::kRegular, false, false},
                               {"grpc://h:4", WorkerRole::kRegular, true, true},
                               {"ftp://h:5", WorkerRole::kRegular, true, false}},
                              "router", findings);
  ASSERT_EQ(workers.size(), 3u);
  EXPECT_EQ(workers[0].url, "http://h:2");  // in the order of the list
  EXPECT_THAT(workers[0].dp_ranks, ElementsAre(0, 1));
  EXPECT_TRUE(workers[0].healthy_by_router);
  EXPECT_EQ(workers[1].url, "http://h:1");
  EXPECT_EQ(workers[1].role, WorkerRole::kDecode);
  EXPECT_TRUE(workers[1].dp_ranks.empty());
  EXPECT_FALSE(workers[2].healthy_by_router);
  EXPECT_THAT(TextsOf(findings, false),
              ElementsAre(HasSubstr("gRPC"), HasSubstr("ftp://h:5"), HasSubstr("listed 2 times"),
                          HasSubstr("unhealthy")));
  EXPECT_THAT(IdsOf(findings),
              ElementsAre("grpc-worker", "invalid-address", "listed-twice", "unhealthy-by-router"));
}

}  // namespace
}  // namespace tacho
