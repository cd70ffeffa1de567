#include "load/drive/served_model.h"

#include <gmock/gmock.h>

#include "load/drive/engine_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr std::chrono::seconds kPatience{5};

// A server that answers its two routes only by their exact names, as FastAPI does.
EngineForTest::Script Strictly(std::vector<std::string>& seen) {
  return [&seen](EngineForTest&, const EngineForTest::Exchange& exchange, const nlohmann::json&) {
    const std::string path = exchange->request().path;
    seen.push_back(path);
    if (path == "/tokenize")
      exchange->Respond(200, R"({"count":4,"tokens":[7,3,7,5]})", "application/json");
    else if (path == "/v1/models")
      exchange->Respond(200, R"({"data":[{"id":"m","max_model_len":64}]})", "application/json");
    else
      exchange->Respond(404, R"({"detail":"Not Found"})", "application/json");
    return true;
  };
}

TEST(ServedModel, IsAskedByRoutesThatEnginesHave) {
  std::vector<std::string> seen;
  EngineForTest engine({}, Strictly(seen));
  const auto client = HttpClient::Create().value();
  for (const std::string& url : {engine.url(), engine.url() + "/"}) {
    const auto model = AskModel(*client, url, kPatience);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->name, "m");
    EXPECT_EQ(model->max_model_len, 64);
    EXPECT_THAT(AskTokenIds(*client, url, "m", kPatience).value(), ElementsAre(3, 5, 7));
  }
  EXPECT_THAT(seen, ElementsAre("/v1/models", "/tokenize", "/v1/models", "/tokenize"));
}

TEST(ServedModel, WithoutATokenizerThereAreNoIds) {
  EngineForTest engine(
      {}, [](EngineForTest&, const EngineForTest::Exchange& exchange, const nlohmann::json&) {
        exchange->Respond(404, "", "text/plain");
        return true;
      });
  const auto client = HttpClient::Create().value();
  const auto ids = AskTokenIds(*client, engine.url(), "m", kPatience);
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().message, "the server has no tokenizer route");
  EXPECT_FALSE(AskModel(*client, engine.url(), kPatience));
}

TEST(ServedModel, ATokenizerThatHangsIsNotCalledMissing) {
  EngineForTest engine({}, [](EngineForTest&, const EngineForTest::Exchange&,
                              const nlohmann::json&) { return true; });
  const auto client = HttpClient::Create().value();
  const auto ids = AskTokenIds(*client, engine.url(), "m", std::chrono::milliseconds(200));
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(ids.error().message, testing::Not(testing::HasSubstr("no tokenizer route")));
}

TEST(ServedModel, TextsAreCountedByTheServerAndTooLongOnesLeftOut) {
  EngineForTest engine(
      {}, [](EngineForTest&, const EngineForTest::Exchange& exchange, const nlohmann::json& body) {
        const auto length = body["prompt"].get<std::string>().size();
        exchange->Respond(200, fmt::format(R"({{"count":{}}})", length), "application/json");
        return true;
      });
  const auto client = HttpClient::Create().value();
  Dataset dataset;
  dataset.kind = DatasetKind::kCustom;
  for (const char* text : {"abc", "0123456789", "abcdef"}) {
    dataset.rows.emplace_back().text = text;
    dataset.rows.back().output_tokens = 2;
  }
  CountOptions options;
  options.most_total_tokens = 10;
  const CountedTokens counted = CountTokens(*client, engine.url(), "m", options, dataset);
  EXPECT_EQ(counted.guessed, "");
  EXPECT_EQ(counted.too_long, 1u);
  ASSERT_EQ(dataset.rows.size(), 2u);
  EXPECT_EQ(dataset.rows[0].prompt_tokens, 3);
  EXPECT_EQ(dataset.rows[1].prompt_tokens, 6);
  EXPECT_EQ(dataset.rows[1].output_tokens, 2);
}

}  // namespace
}  // namespace tacho
