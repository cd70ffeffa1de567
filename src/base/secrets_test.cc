#include "base/secrets.h"

#include <gtest/gtest.h>

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

TEST(NamesSecret, ByTheWordsOfAName) {
  for (const char* name : {"token",          "key",
                           "secret",         "password",
                           "authorization",  "HF_TOKEN",
                           "OPENAI_API_KEY", "api-key",
                           "apiKey",         "aws_secret_access_key",
                           "Authorization",  "DB_PASSWORD",
                           "accessToken",    "hftoken",
                           "client_secret",  "secrets",
                           "SECRET_1",       "GITHUB_TOKEN",
                           "VLLM_API_KEY",   "ssl-keyfile-password",
                           "passwd",         "HF_TOKEN_PROD",
                           "API_KEY_2",      "credentials",
                           "X-Auth-Token"}) {
    EXPECT_TRUE(NamesSecret(name)) << name;
  }
  for (const char* name : {"",
                           "tokens",
                           "num_tokens",
                           "token_count",
                           "token_id",
                           "key_cache",
                           "key_states",
                           "keys",
                           "TOKENIZERS_PARALLELISM",
                           "tokenizer",
                           "eos_token",
                           "bos_token",
                           "max_token",
                           "cache_key",
                           "sort_key",
                           "password_file",
                           "HF_TOKEN_PATH",
                           "monkey",
                           "keyboard",
                           "ssl_keyfile",
                           "Input Dims",
                           "num_key_value_heads",
                           "tokens_per_second",
                           "key_value_proj",
                           "KEY_CACHE",
                           "stop_token_7",
                           "kv_key"}) {
    EXPECT_FALSE(NamesSecret(name)) << name;
  }
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
  EXPECT_EQ(Json(R"({"token": "0123456789", "num_tokens": "4096 4096", "api_key": 12345678})"),
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

// Parts of JSON, as a shape of arguments is one without the values that vary, and damaged text.
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

}  // namespace
}  // namespace tacho
