// The client and the server against each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "net/http_client.h"
#include "net/http_server.h"

namespace tacho {
namespace {

TEST(Http, OneRequest) {
  auto server = HttpServer::Create();
  ASSERT_TRUE(server);
  const auto port = (*server)->Listen("127.0.0.1", 0, [](std::shared_ptr<HttpExchange> exchange) {
    exchange->Respond(200, exchange->request().method + " " + exchange->request().path,
                      "text/plain");
  });
  ASSERT_TRUE(port) << port.error().message;
  auto client = HttpClient::Create();
  ASSERT_TRUE(client);
  const auto answer =
      (*client)->Fetch({.url = "http://127.0.0.1:" + std::to_string(*port) + "/a%20b"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "GET /a b");
}

}  // namespace
}  // namespace tacho
