#include "load/served_model.h"

#include <gmock/gmock.h>

#include "load/engine_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr std::chrono::seconds kPatience{5};

// A server that answers its two routes by their exact names only, as FastAPI does.
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
    EXPECT_THAT(AskTokenIds(*client, url, "m", kPatience), ElementsAre(3, 5, 7));
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
  EXPECT_TRUE(AskTokenIds(*client, engine.url(), "m", kPatience).empty());
  EXPECT_FALSE(AskModel(*client, engine.url(), kPatience));
}

}  // namespace
}  // namespace tacho
