#include "cli/load/load_job_of_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/load/load_foreign.h"
#include "cli/load/load_progress.h"
#include "cli/load/load_result_files.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<LoadJob> Job(std::vector<std::string> arguments, bool with_url = true) {
  if (with_url) arguments.insert(arguments.begin(), "http://127.0.0.1:8000");
  LoadFlags flags;
  TACHO_RETURN_IF_ERROR(ParseLoadFlags(arguments, flags));
  return LoadJobOf(flags);
}

std::string Refused(const std::vector<std::string>& arguments) {
  const auto job = Job(arguments);
  EXPECT_FALSE(job);
  if (job) return "";
  EXPECT_EQ(job.error().kind, ErrorKind::kUsage);
  return job.error().message;
}

TEST(LoadJob, LengthsSpreadAndModelsAlternateAsVllmsClientHasIt) {
  const auto job =
      Job({"--random_range_ratio", R"({"input": 0.5, "output": 0})", "--random-input-len", "101",
           "--random-output-len", "7", "--requests", "400", "--lora-modules", "red", "blue",
           "--lora-assignment", "round-robin"});
  ASSERT_TRUE(job) << job.error().message;
  const auto plan = MakePlan(job->plan);
  ASSERT_TRUE(plan) << plan.error().message;
  int64_t least = INT64_MAX, most = 0;
  for (const PlannedRequest& request : plan->requests) {
    least = std::min(least, request.prompt_tokens);
    most = std::max(most, request.prompt_tokens);
    EXPECT_EQ(request.output_tokens, 7);
    EXPECT_EQ(request.model, request.index % 2 == 0 ? "red" : "blue");
  }
  EXPECT_GE(least, 50);  // floor(50.5)
  EXPECT_LT(least, 55);
  EXPECT_LE(most, 152);  // ceil(151.5)
  EXPECT_GT(most, 147);
}

TEST(LoadJob, WithoutOptionsEightUsersSendTheDefaultMixForHalfAMinute) {
  const auto job = Job({});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_TRUE(job->plan.mix.empty());
  EXPECT_EQ(job->plan.concurrency, 8u);
  EXPECT_EQ(job->plan.duration_ns, 30'000'000'000);
  EXPECT_FALSE(job->plan.requests);
  EXPECT_FALSE(job->plan.OpenLoop());
  EXPECT_EQ(job->target.api, "completions");
  EXPECT_TRUE(job->target.ignore_eos);
}

TEST(LoadJob, VllmsCommandLineMeansWhatItMeansThere) {
  const auto job = Job({"--backend",
                        "vllm",
                        "--base-url",
                        "http://a:1",
                        "--model",
                        "m",
                        "--dataset-name",
                        "random",
                        "--random-input-len",
                        "24",
                        "--random-output-len",
                        "16",
                        "--num-prompts",
                        "200",
                        "--request-rate",
                        "2.5",
                        "--burstiness",
                        "0.5",
                        "--max-concurrency",
                        "4",
                        "--goodput",
                        "ttft:200",
                        "tpot:50",
                        "--metadata",
                        "a=1",
                        "b=x,y",
                        "--header",
                        "K=V",
                        "--percentile-metrics",
                        "ttft,e2el",
                        "--metric-percentiles",
                        "50,99.9",
                        "--tokenizer",
                        "./model",
                        "--trust-remote-code",
                        "--temperature",
                        "0",
                        "--ignore-eos",
                        "--seed",
                        "7"},
                       false);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_THAT(job->urls, ElementsAre("http://a:1"));
  EXPECT_EQ(job->plan.prompt_tokens, 24);
  EXPECT_EQ(job->plan.output_tokens, 16);
  EXPECT_EQ(job->plan.requests, 200u);
  EXPECT_EQ(job->plan.rate, 2.5);
  EXPECT_EQ(job->plan.burstiness, 0.5);
  EXPECT_EQ(job->plan.concurrency, 4u);
  EXPECT_EQ(job->plan.seed, 7u);
  ASSERT_EQ(job->slos.size(), 2u);
  EXPECT_EQ(job->slos[1].most_ns, 50e6);
  EXPECT_EQ(job->identity.metadata[1].second, "x,y");
  EXPECT_EQ(job->identity.backend, "vllm");
  EXPECT_EQ(job->identity.tokenizer_id, "./model");
  EXPECT_EQ(job->http.headers[0].value, "V");
  EXPECT_EQ(job->target.sampling, "{\"temperature\":0}");
  EXPECT_THAT(job->metrics.names, ElementsAre("ttft", "e2el"));
  EXPECT_THAT(job->metrics.percents, ElementsAre(50, 99.9));
}

TEST(LoadJob, VllmsDefaultsHoldWithItsDatasets) {
  const auto job = Job({"--dataset-name", "random"});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->plan.requests, 1000u);
  EXPECT_EQ(job->plan.prompt_tokens, 1024);
  EXPECT_EQ(job->plan.output_tokens, 128);
  EXPECT_EQ(job->plan.concurrency, 0u);
  EXPECT_EQ(Job({"--num-prompts", "5"})->plan.concurrency, 0u);
  EXPECT_EQ(Job({"--requests", "5"})->plan.concurrency, 8u);
  EXPECT_EQ(Job({"--rate", "inf", "--requests", "5"})->plan.concurrency, 0u);
  const auto prefixes = Job({"--dataset-name", "prefix_repetition"});
  EXPECT_EQ(prefixes->plan.prefix_tokens, 256);
  EXPECT_EQ(prefixes->plan.prefixes, 10u);
}

TEST(LoadJob, AMixThatDoesNotAddUpIsScaledAndSaidSo) {
  const auto job = Job({"--mix", "chat=60,rag=30,code=20"});
  ASSERT_TRUE(job);
  EXPECT_THAT(job->remarks, ElementsAre(HasSubstr("adds up to 110, not to 100")));
  EXPECT_THAT(Refused({"--mix", "chat=60,rga=40"}), HasSubstr("did you mean rag?"));
  EXPECT_THAT(Refused({"--scenario", "summarization"}), HasSubstr("did you mean summarisation?"));
}

TEST(LoadJob, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_THAT(Job({}, false).error().message, HasSubstr("no server given"));
  EXPECT_THAT(Refused({"--scenario", "chat", "--mix", "chat=1"}), HasSubstr("do not go together"));
  EXPECT_THAT(Refused({"--profile", "--sweep", "rate=1,2"}), HasSubstr("one load"));
  EXPECT_THAT(Refused({"--whole-load"}), HasSubstr("need --profile"));
  EXPECT_THAT(Refused({"--steps", "20"}), HasSubstr("need --profile"));
  EXPECT_THAT(Refused({"--trace-dir", "/tmp"}), HasSubstr("need --profile"));
  EXPECT_THAT(Refused({"--plot-timeline"}), HasSubstr("--records"));
  EXPECT_THAT(Refused({"--hf_split", "train"}), HasSubstr("--dataset FILE"));
  EXPECT_THAT(Refused({"--lora-assignment", "random"}), HasSubstr("--lora-modules"));
  EXPECT_THAT(Refused({"--random-range-ratio", R"({"input":0.5})"}), HasSubstr("output"));
  EXPECT_THAT(Refused({"--ramp-up-start-rps", "1"}), HasSubstr("need --ramp-up-strategy"));
  EXPECT_THAT(Refused({"--backend", "tgi"}), HasSubstr("no --backend 'tgi'"));
  EXPECT_THAT(Refused({"--dataset-name", "sharegpt"}), HasSubstr("needs --dataset-path"));
  EXPECT_THAT(Refused({"--dataset-name", "sonnet"}), HasSubstr("no --dataset-name 'sonnet'"));
  EXPECT_THAT(Refused({"--extra-body", "[1]"}), HasSubstr("a JSON object"));
  EXPECT_THAT(Refused({"--goodput", "itl:5"}), HasSubstr("names no time that a request has"));
  EXPECT_THAT(Refused({"--percentile-metrics", "ttfx"}), HasSubstr("no metric 'ttfx'"));
  EXPECT_THAT(Refused({"--rate", "fast"}), HasSubstr("--rate takes a number"));
  EXPECT_THAT(Refused({"--duration", "soon"}), HasSubstr("is not a duration"));
  EXPECT_THAT(Refused({"--requets", "5"}), HasSubstr("--requests"));
  EXPECT_THAT(Refused({"--dataset", "x", "--replay-speed", "2", "--rate", "5"}),
              HasSubstr("--replay and --rate do not go together"));
}

TEST(LoadProgress, TheLineShowsWhatIsUnderWay) {
  const LoadLook before{.at_s = 10, .done = 80, .output_tokens = 1000};
  LoadLook now{.at_s = 12, .running = 64, .done = 1234, .output_tokens = 41'000};
  EXPECT_EQ(LoadLine("load", {}, now, before),
            "load 12 s  1,234 done, 64 running  now 577 req/s, 20,000 tok/s");
  EXPECT_EQ(LoadLine("load", {.requests = 2000, .seconds = 30}, now, before),
            "load 12 s of 30 s  1,234 of 2,000 done, 64 running  now 577 req/s, 20,000 tok/s");
  EXPECT_EQ(
      LoadLine("load", {.requests = {}, .seconds = 11}, now, before),
      "load 12 s, waiting for the last answers  1,234 done, 64 running  now 577 req/s, 20,000 "
      "tok/s");
  now.waiting = 3;
  now.failed = 2;
  EXPECT_EQ(LoadLine("load", {}, now, before),
            "load 12 s  1,234 done, 2 failed, 64 running, 3 waiting  now 577 req/s, 20,000 tok/s");
}

TEST(ResultFiles, AreNamedAsVllmNamesThem) {
  BenchIdentity identity;
  identity.date = "20261121-115335";
  identity.model_id = "meta/llama";
  EXPECT_EQ(ResultFileName(identity), "openai-infqps-llama-20261121-115335.json");
  identity.request_rate = 2.5;
  identity.max_concurrency = 4;
  identity.label = "base";
  EXPECT_EQ(ResultFileName(identity), "base-2.5qps-concurrency4-llama-20261121-115335.json");
}

TEST(LoadJob, VllmsFlagsMayBeCut) {
  const auto job = Job({"--random-input=33", "--random_output", "5", "--num-p", "12"});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->plan.prompt_tokens, 33);
  EXPECT_EQ(job->plan.output_tokens, 5);
  EXPECT_EQ(job->plan.requests, 12u);
  EXPECT_THAT(Refused({"--random-p", "1", "--request", "4"}),
              HasSubstr("--request could be --requests, or of vllm bench serve's "
                        "--request-id-prefix, --request-rate"));
  EXPECT_THAT(Refused({"--sharegpt", "4", "--hf", "4"}),
              HasSubstr("--hf could be any of vllm bench serve's --hf-name, "));
  EXPECT_THAT(Refused({"--plot-t"}), HasSubstr("--plot-timeline of vllm bench serve: "));
  // tacho's own flags are not vLLM's.
  EXPECT_THAT(Refused({"--concurr", "3"}), HasSubstr("unknown option"));
  EXPECT_EQ(Job({"--requests", "4"})->plan.requests, 4u);
}

TEST(LoadJob, LengthsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Refused({"--input-len", "5", "--random-input-len", "7"}),
              HasSubstr("--input-len 5 and --random-input-len 7 ask for different lengths"));
  EXPECT_THAT(Refused({"--output-len", "5", "--sharegpt-output-len", "7"}),
              HasSubstr("--sharegpt-output-len 7"));
  EXPECT_TRUE(Job({"--input-len", "5", "--random-input-len", "5"}));
}

}  // namespace
}  // namespace tacho
