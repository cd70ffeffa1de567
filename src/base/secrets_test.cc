#include "base/secrets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace tacho {
namespace {

std::string Text(std::string text) {
  const size_t size = text.size();
  BlankSecrets(text);
  EXPECT_EQ(text.size(), size);
  return text;
}
std::string Json(std::string json) {
  const size_t size = json.size();
  BlankSecretsInJson(json);
  EXPECT_EQ(json.size(), size);
  return json;
}

TEST(BlankSecrets, ThoseOfAKnownForm) {
  const std::string hf = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz";
  EXPECT_EQ(Text("run " + hf + " now"), "run hf_************************** now");
  EXPECT_EQ(Text("sk-proj-abc123def456ghi789jkl"), "sk-**************************");
  EXPECT_EQ(Text("ghp_0123456789abcdefghijABCDEFGHIJ012345"), "ghp_" + std::string(36, '*'));
  EXPECT_EQ(Text("github_pat_11ABCDEFG0abcdefgh_ijklmnop"), "github_pat_" + std::string(27, '*'));
  EXPECT_EQ(Text("id=AKIAIOSFODNN7EXAMPLE;"), "id=AKIA****************;");
  EXPECT_EQ(Text("Bearer abc.def-123 x"), "Bearer *********** x");
  EXPECT_EQ(Text("a eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM b"), "a " + std::string(36, '*') + " b");
}

TEST(BlankSecrets, ThoseThatANameIsGiven) {
  EXPECT_EQ(Text("env HF_TOKEN=abcd HOME=/root"), "env HF_TOKEN=**** HOME=/root");
  EXPECT_EQ(Text("vllm serve m --api-key s3cret --port 1"),
            "vllm serve m --api-key ****** --port 1");
  EXPECT_EQ(Text("--api-key=s3cret"), "--api-key=******");
  EXPECT_EQ(Text("{'HF_TOKEN': 'abcd', 'n': 5}"), "{'HF_TOKEN': '****', 'n': 5}");
  EXPECT_EQ(Text(R"({\"API_KEY\": \"abcd\"})"), R"({\"API_KEY\": \"****\"})");
  EXPECT_EQ(Text("Authorization: Basic dXNlcjpwYXNz"), "Authorization: Basic ************");
}

TEST(BlankSecrets, LeavesWhatIsNone) {
  for (const char* text :
       {"void at::native::token::key<int>(key=value_of_a_tensor)", "execute_context_0(0)",
        "hf_attention_forward_kernel_for_decode", "task-with-a-long-name-of-many-words",
        "sk-learn-like-name-without-any-number", "num_tokens=4096 token_count=12345678",
        "--tokenizer meta-llama/Llama-3.1-8B", "TOKENIZERS_PARALLELISM=false",
        "sort_key: layer_number", "Namespace(api_key=None, hf_token=False)",
        "--api-key --port 8000", "AKIA", "eyJ.a.b", "SecretStorage==3.3.3", "tiktoken=0.9.0.1",
        "Bearer of news", "hf_********************", "HF_TOKEN=********"}) {
    std::string same = text;
    EXPECT_EQ(BlankSecrets(same), 0u) << text;
    EXPECT_EQ(same, text);
  }
}

TEST(BlankSecretsInJson, ValuesOfKeysThatNameOne) {
  EXPECT_EQ(Json(R"({"env": {"HF_TOKEN": "abcd", "HOME": "/root"}, "key": "short"})"),
            R"({"env": {"HF_TOKEN": "****", "HOME": "/root"}, "key": "short"})");
  EXPECT_EQ(Json(R"({"secrets": {"a": "first", "b": ["second", 3]}, "after": "third"})"),
            R"({"secrets": {"a": "*****", "b": ["******", 3]}, "after": "third"})");
  EXPECT_EQ(Json(R"({"token": "a123456789", "num_tokens": "4096 4096", "api_key": 12345678})"),
            R"({"token": "**********", "num_tokens": "4096 4096", "api_key": 12345678})");
  EXPECT_EQ(Json(R"({"password": "a\"b\\cd", "x": "y"})"), R"({"password": "********", "x": "y"})");
  EXPECT_EQ(Json(R"({"h": {"Authorization": "Bearer abcd"}})"),
            R"({"h": {"Authorization": "Bearer ****"}})");
  EXPECT_EQ(Json(R"({"api_key": "None", "x": ["[hf_AbCdEfGhIjKlMnOpQrStUvWxYz]"]})"),
            R"({"api_key": "None", "x": ["[hf_**************************]"]})");
  EXPECT_EQ(Json("[hf_AbCdEfGhIjKlMnOpQrStUvWxYz] is a name"),
            "[hf_**************************] is a name");
  EXPECT_EQ(Json(R"({"cmd": ["--hf-token=abcdef", "HF_TOKEN=abcdef"]})"),
            R"({"cmd": ["--hf-token=******", "HF_TOKEN=******"]})");
}

// Parts of JSON, such as a shape of arguments, which lacks the values that vary, and damaged text.
TEST(BlankSecretsInJson, TakesAnyText) {
  EXPECT_EQ(Json(R"({"api_key": , "x": "abcd"})"), R"({"api_key": , "x": "abcd"})");
  EXPECT_EQ(Json(R"({"api_key": "abcd)"), R"({"api_key": "****)");
  const std::string whole = R"({"a": [{"token": "01234567\"", "b": {"password": "x\\yz"}}], "c"})";
  for (size_t size = 0; size <= whole.size(); ++size) Json(whole.substr(0, size));
  Json("}}]],,::\"\\");
}

TEST(BlankSecretValue, OfAKeyOfItsOwn) {
  std::string value = R"("abcdefgh")";
  EXPECT_EQ(BlankSecretValue("HF_TOKEN", value), 1u);
  EXPECT_EQ(value, R"("********")");
  EXPECT_EQ(BlankSecretValue("HF_TOKEN", value), 0u);
  value = R"("abcdefgh")";
  EXPECT_EQ(BlankSecretValue("token_count", value), 0u);
}

// A value ends where its quotes or its word do, whatever stands in it.
TEST(BlankSecrets, BlanksTheWholeValue) {
  EXPECT_EQ(Text("PASSWORD='correct horse battery staple'"),
            "PASSWORD='****************************'");
  EXPECT_EQ(Text("DB_PASSWORD=ab,cdSECRETREST"), "DB_PASSWORD=***************");
  EXPECT_EQ(Text("API_KEY=a&bcdefgh123 next"), "API_KEY=************ next");
  EXPECT_EQ(Text("HF_TOKEN=-abcd1234efgh"), "HF_TOKEN=*************");
  EXPECT_EQ(Text("HF_TOKEN = abcdefgh1234"), "HF_TOKEN = ************");
  EXPECT_EQ(Text("['--api-key', 'plainkey1234', '--tokenizer', 'abcd']"),
            "['--api-key', '************', '--tokenizer', 'abcd']");
  EXPECT_EQ(Text("postgres://user:pw12345@host/db"), "postgres://user:*******@host/db");
  EXPECT_EQ(Text("see http://host:8000/a@b"), "see http://host:8000/a@b");
  EXPECT_EQ(Json(R"({"argv":["m","--api-key","plainkey1234","--port","8000"]})"),
            R"({"argv":["m","--api-key","************","--port","8000"]})");
  EXPECT_EQ(Json(R"({"argv":["--api-key","--port","8000"]})"),
            R"({"argv":["--api-key","--port","8000"]})");
}

TEST(BlankSecrets, LeavesCountsAndWordsOfAModel) {
  for (const char* text : {"Prefill batch. #new-seq: 1, #new-token: 2048, #cached-token: 0",
                           "total_token=4096", "shape_key=(128,64)", "dispatch_key: AutogradCUDA",
                           "hash_key=0x12345678", "accept_token=128000"}) {
    EXPECT_EQ(Text(text), text);
  }
  EXPECT_EQ(Json(R"({"my_token":"4096"})"), R"({"my_token":"4096"})");
}

// What an engine says of itself in its log, on its command line, and in its requests.
TEST(BlankSecrets, FormsOfEnginesOwn) {
  const std::pair<const char*, const char*> texts[] = {
      // A text that begins as JSON does is looked at as a whole.
      {"[TP0] server_args: api_key='s3cret'", "[TP0] server_args: api_key='******'"},
      {"[2026-11-27 INFO] HF_TOKEN=s3cret", "[2026-11-27 INFO] HF_TOKEN=******"},
      {"{step} --api-key s3cret", "{step} --api-key ******"},
      {"[db] postgres://u:s3cret@h", "[db] postgres://u:******@h"},
      {R"("a" --api-key s3cret)", R"("a" --api-key ******)"},
      // vLLM takes several keys.
      {"vllm serve m --api-key s3cret second --port 1",
       "vllm serve m --api-key ****** ****** --port 1"},
      {"vllm serve m --api-key s3cret s4cret", "vllm serve m --api-key ****** ******"},
      {"it took --api-key s3cret and failed", "it took --api-key ****** and failed"},
      {"['m', '--api-key', 's3cret', 'second', '--port', '8000']",
       "['m', '--api-key', '******', '******', '--port', '8000']"},
      {"['--hf-token', 's3cret', 'model']", "['--hf-token', '******', 'model']"},
      {"args: {'api_key': ['s3cret', 'second'], 'port': 8000}",
       "args: {'api_key': ['******', '******'], 'port': 8000}"},
      {"Namespace(api_key=['s3cret'], port=8000)", "Namespace(api_key=['******'], port=8000)"},
      {"Args(api_key=SecretStr('s3cret'), n=b'abcd')",
       "Args(api_key=SecretStr('******'), n=b'abcd')"},
      {"api_keys: [s3cret, second]", "api_keys: [******, ******]"},
      {"API_KEYS=s3cret,second", "API_KEYS=*************"},
      // "token" and "key" alone.
      {"TOKEN=s3cret", "TOKEN=******"},
      {"--token s3cret x", "--token ****** x"},
      {"{'token': 'zq31Qx9v'}", "{'token': '********'}"},
      {"GET http://h/x?token=s3cret&n=1", "GET http://h/x?token=******&n=1"},
      {"GET /x?n=1&key=s3cret HTTP/1.1", "GET /x?n=1&key=****** HTTP/1.1"},
      {"https://s3/x?X-Amz-Signature=s3cret&sig=s4cret",
       "https://s3/x?X-Amz-Signature=******&sig=******"},
      {"Cookie: session=s3cret; b=second then", "Cookie: **************; ******** then"},
      {"MYSQL_PWD=s3cret PWD=/home/a1b2", "MYSQL_PWD=****** PWD=/home/a1b2"},
      {R"("HF_TOKEN=s3cret\u0000HOME=/root")", R"("HF_TOKEN=******\u0000HOME=/root")"},
      // Passwords in URLs.
      {"postgres://u:s3cret/x@h/db", "postgres://u:********@h/db"},
      {"https://zq31Qx9v@host/x", "https://********@host/x"},
  };
  for (const auto& [text, shown] : texts) EXPECT_EQ(Text(text), shown);
}

TEST(BlankSecrets, LeavesUrlsWithoutPassword) {
  for (const char* text :
       {"clone ssh://git@github.com/a/b and go", "the mail of postgres://user@db/x is lost",
        "http://127.0.0.1:8000/a@b", "http://[::1]:8000/a@b", "http://host:8000@1", "tcp://host:1",
        "://", "://@", "x://:@h"}) {
    EXPECT_EQ(Text(text), text);
  }
}

// Escapes are blanked whole: the character that an escape stands for ends a value, or belongs to
// it.
TEST(BlankSecretsInJson, KeepsEscapesWhole) {
  EXPECT_EQ(Json(R"(["password:\nabcdefgh1 rest"])"), R"(["password:\nabcdefgh1 rest"])");
  EXPECT_EQ(Json(R"({"m": "HF_TOKEN=\nabcdefgh"})"), R"({"m": "HF_TOKEN=\nabcdefgh"})");
  EXPECT_EQ(Json(R"({"m": "HF_TOKEN=ab\u00e9cd\nx"})"), R"({"m": "HF_TOKEN=**********\nx"})");
  EXPECT_EQ(Json(R"({"m": "HF_TOKEN=ab\ud83d\ude00cd"})"), R"({"m": "HF_TOKEN=****************"})");
  EXPECT_EQ(Json(R"({"m": "PASSWORD='ab12345\\'"})"), R"({"m": "PASSWORD='**********"})");
  EXPECT_EQ(Json(R"({"m": "{\"password\": \"s3c\\\"ret\"}"})"),
            R"({"m": "{\"password\": \"**********\"}"})");
  EXPECT_EQ(Json(R"(["\"{\\\"password\\\": \\\"s3cret\\\"}\""])"),
            R"(["\"{\\\"password\\\": \\\"******\\\"}\""])");
  EXPECT_EQ(Json(R"({"argv":["--api-key","s3cret","second","--port","8000"],"x":["y"]})"),
            R"({"argv":["--api-key","******","******","--port","8000"],"x":["y"]})");
  EXPECT_EQ(Json(R"({"argv":["--hf-token","s3cret","m"],"api_keys":["s3cret"]})"),
            R"({"argv":["--hf-token","******","m"],"api_keys":["******"]})");
}

using OrderedJson = nlohmann::ordered_json;

// Random values, among them texts within texts, and names of secrets and of other things.
class JsonForTest {
 public:
  explicit JsonForTest(uint32_t seed) : random_(seed) {}

  OrderedJson Value(int depth) {
    switch (Below(depth > 0 ? 6 : 3)) {
      case 0:
        return static_cast<int>(Below(100'000'000));
      case 1:
        return nullptr;
      case 3: {
        OrderedJson list = OrderedJson::array();
        while (Below(4) > 0) list.push_back(Value(depth - 1));
        return list;
      }
      case 4: {
        OrderedJson object = OrderedJson::object();
        while (Below(4) > 0) object[Words(2)] = Value(depth - 1);
        return object;
      }
      case 5:
        return Value(depth - 1).dump(-1, ' ', Below(2) == 0);
      default:
        return Words(8);
    }
  }

 private:
  size_t Below(size_t n) { return random_() % n; }

  std::string Words(size_t most) {
    static constexpr const char* kWords[] = {"api_key",
                                             "HF_TOKEN",
                                             "--api-key",
                                             "token",
                                             "password",
                                             "Cookie",
                                             "num_tokens",
                                             "http://u",
                                             "=",
                                             ": ",
                                             ":",
                                             " ",
                                             ", ",
                                             "'",
                                             "\"",
                                             "\\",
                                             "\n",
                                             "@h/",
                                             "[",
                                             "]",
                                             "{",
                                             "}",
                                             "(",
                                             "?",
                                             "&",
                                             "Bearer ",
                                             "s3cretvalue1",
                                             "hf_AbCdEfGhIjKlMnOpQrStUvWxYz",
                                             "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM",
                                             "\xc3\xa9",
                                             "\xf0\x9f\x98\x80",
                                             "abc",
                                             "4096",
                                             "*",
                                             "-",
                                             ";",
                                             "\t",
                                             "\x01",
                                             "None"};
    std::string text;
    for (size_t n = Below(most + 1); n > 0; --n) text += kWords[Below(std::size(kWords))];
    return text;
  }

  std::mt19937 random_;
};

// Expects that blanking changed texts alone: the structure, the keys and all other values are the
// same.
void ExpectSameBut(const OrderedJson& was, const OrderedJson& is) {
  ASSERT_EQ(was.type(), is.type());
  if (was.is_string()) return;
  if (!was.is_structured()) {
    EXPECT_EQ(was, is);
    return;
  }
  ASSERT_EQ(was.size(), is.size());
  for (auto a = was.begin(), b = is.begin(); a != was.end(); ++a, ++b) {
    EXPECT_TRUE(!was.is_object() || a.key() == b.key());
    ExpectSameBut(*a, *b);
  }
}

TEST(BlankSecretsInJson, StaysTheJsonItWas) {
  size_t blanked = 0;
  for (uint32_t seed = 0; seed < 5'000; ++seed) {
    JsonForTest random(seed);
    const OrderedJson value = {random.Value(4), random.Value(4), random.Value(4)};
    const std::string json = value.dump(-1, ' ', seed % 2 == 0);
    std::string shown = json;
    const size_t found = BlankSecretsInJson(shown);
    ASSERT_EQ(shown.size(), json.size());
    ASSERT_EQ(found == 0, shown == json) << json;
    const OrderedJson is = OrderedJson::parse(shown, nullptr, false);
    ASSERT_FALSE(is.is_discarded()) << json << "\n" << shown;
    ExpectSameBut(OrderedJson::parse(json), is);
    ASSERT_FALSE(testing::Test::HasFailure()) << json << "\n" << shown;
    std::string again = shown;
    EXPECT_EQ(BlankSecretsInJson(again), 0u) << json << "\n" << shown << "\n" << again;
    ASSERT_EQ(again, shown) << json;
    blanked += found;
  }
  EXPECT_GT(blanked, 2'500u);
}

double SecondsOf(std::string_view unit, size_t bytes) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    std::string text;
    while (text.size() < bytes) text += unit;
    const std::clock_t begin = std::clock();
    BlankSecrets(text);
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// A text of 16 times the size takes 16 times the work; a search that begins anew at each form, 256.
TEST(BlankSecrets, WorkGrowsWithTheText) {
  for (const char* unit : {"sk-",
                           "hf_",
                           "sk-hf_",
                           "Bearer ",
                           "eyJ-",
                           "eyJhbGciOiJI.",
                           "a_token=abcd;",
                           "HF_TOKEN=abcd;",
                           "my_token=",
                           "HF_TOKEN=",
                           "a='b=\"",
                           "x://a:b/",
                           "x://a@",
                           "://",
                           "--api-key 's3cret ",
                           "--api-key a ",
                           "'--api-key', 'a'",
                           "api_key=[",
                           "Cookie: a; ",
                           "api_key=SecretStr('",
                           "PASSWORD='\\",
                           "key=\\",
                           "\"",
                           "[",
                           "{\"a\":",
                           "\"\\\"",
                           "HF_TOKEN=None ",
                           "?token=",
                           "a = ",
                           "--a --b",
                           "\\\"api_key\\\": \\\"",
                           "password: Bearer "}) {
    constexpr size_t kBytes = 10'000, kTimes = 16;
    const double small = SecondsOf(unit, kBytes), large = SecondsOf(unit, kTimes * kBytes);
    constexpr double kClockTells = 2e-5;
    EXPECT_LT(large, 6 * kTimes * std::max(small, kClockTells)) << unit;
  }
}
}  // namespace
}  // namespace tacho
