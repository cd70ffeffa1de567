#include "simulate/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho::simulate {
namespace {

HttpAdmission Admit(std::vector<HttpHeader> headers, std::string path = "/start_profile") {
  ServerRequest head;
  head.method = "POST";
  head.path = std::move(path);
  head.headers = std::move(headers);
  return AdmitRequest(head);
}

TEST(Gate, AdmitsWhoAsksByAnAddress) {
  for (const char* host : {"127.0.0.1:8000", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8000",
                           "10.0.0.7:80", "a.localhost:8000"}) {
    EXPECT_EQ(Admit({{"Host", host}}).refused, 0) << host;
  }
  EXPECT_EQ(Admit({}).refused, 0) << "HTTP/1.0";
}

TEST(Gate, RefusesAPageUnderItsOwnName) {
  for (const char* host : {"attacker.example:8000", "127.0.0.1.attacker.example",
                           "localhost.example", "[attacker]:8000", "", "0x7f.1", "2130706433"}) {
    const HttpAdmission admission = Admit({{"Host", host}});
    EXPECT_EQ(admission.refused, 403) << host;
    EXPECT_THAT(admission.why, testing::HasSubstr("by its address or as localhost"));
  }
  EXPECT_EQ(Admit({{"Host", "127.0.0.1"}, {"Host", "attacker.example"}}).refused, 403);
}

TEST(Gate, RefusesWhatABrowserSendsFromAPage) {
  for (const char* origin : {"https://attacker.example", "null", "http://127.0.0.1:8000", ""})
    EXPECT_EQ(Admit({{"Host", "127.0.0.1"}, {"origin", origin}}).refused, 403) << origin;
  for (const char* site : {"cross-site", "same-site", "anything"})
    EXPECT_EQ(Admit({{"Host", "127.0.0.1"}, {"Sec-Fetch-Site", site}}).refused, 403) << site;
  EXPECT_EQ(Admit({{"Host", "127.0.0.1"}, {"Sec-Fetch-Site", "none"}}).refused, 0)
      << "an address that somebody typed";
}

TEST(Gate, BoundsBodiesByTheirRoute) {
  EXPECT_EQ(Admit({}, "/v1/chat/completions").most_body, 64u << 20);
  EXPECT_EQ(Admit({}, "/generate").most_body, 64u << 20);
  EXPECT_EQ(Admit({}, "/start_profile").most_body, 1u << 20);
  EXPECT_EQ(Admit({}, "/no/such/route").most_body, 1u << 20);
}

}  // namespace
}  // namespace tacho::simulate
