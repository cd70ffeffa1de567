#include "load/token_ids.h"

#include <gmock/gmock.h>

#include "load/engine_for_test.h"

namespace tacho {
namespace {

Result<std::vector<int64_t>> FetchFrom(const std::string& body, int status = 200) {
  auto server = HttpServer::Create().value();
  uint16_t port =
      server
          ->Listen("127.0.0.1", 0,
                   [&](std::shared_ptr<HttpExchange> exchange) {
                     EXPECT_EQ(exchange->request().path, "/tokenize");
                     EXPECT_NE(exchange->request().body.find("\"model\":\"m\""), std::string::npos);
                     exchange->Respond(status, body, "application/json");
                   })
          .value();
  auto client = HttpClient::Create().value();
  return FetchTokenIds(*client, fmt::format("http://127.0.0.1:{}", port), "m");
}

TEST(FetchTokenIds, SortedAndDistinct) {
  auto ids = FetchFrom(R"({"count":9,"max_model_len":9,"tokens":[9,8,7,6,5,4,3,2,9,"x"]})");
  ASSERT_TRUE(ids);
  EXPECT_THAT(*ids, testing::ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(FetchTokenIds, OtherAnswersAreErrors) {
  for (const char* body : {"", "[]", "{}", R"({"tokens":3})", R"({"tokens":[1,2]})"})
    EXPECT_EQ(FetchFrom(body).error().kind, ErrorKind::kRemote) << body;
  EXPECT_FALSE(FetchFrom(R"({"tokens":[1,2,3,4,5,6,7,8,9]})", 404));
}

}  // namespace
}  // namespace tacho
