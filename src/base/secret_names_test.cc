#include "base/secret_names.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(HowNamed, ByTheWordsOfAName) {
  for (const char* name : {"secret",
                           "password",
                           "authorization",
                           "HF_TOKEN",
                           "OPENAI_API_KEY",
                           "api-key",
                           "apiKey",
                           "APIKey",
                           "aws_secret_access_key",
                           "Authorization",
                           "DB_PASSWORD",
                           "accessToken",
                           "hftoken",
                           "client_secret",
                           "secrets",
                           "SECRET_1",
                           "GITHUB_TOKEN",
                           "VLLM_API_KEY",
                           "ssl-keyfile-password",
                           "passwd",
                           "HF_TOKEN_PROD",
                           "API_KEY_2",
                           "credentials",
                           "X-Auth-Token",
                           "api_keys",
                           "API_KEYS",
                           "AWS_ACCESS_KEY_ID",
                           "MYSQL_PWD",
                           "Cookie",
                           "Set-Cookie",
                           "X-Amz-Signature",
                           "X-Amz-Credential",
                           "private_key",
                           "sessionToken"}) {
    EXPECT_EQ(HowNamed(name), Named::kSecret) << name;
  }
  for (const char* name :
       {"token", "key", "my_token", "MY_TOKENS", "OPENAI_KEY", "KEY", "pwd", "PWD", "auth"}) {
    EXPECT_EQ(HowNamed(name), Named::kMaybe) << name;
  }
  for (const char* name : {"",
                           "tokens",
                           "num_tokens",
                           "token_count",
                           "token_id",
                           "token_ids",
                           "next_token",
                           "max_tokens",
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
                           "hash_key",
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
                           "kv_key",
                           "key_padding_mask",
                           "tiktoken",
                           "detokenize",
                           "OLDPWD",
                           "signature"}) {
    EXPECT_EQ(HowNamed(name), Named::kPlain) << name;
  }
}

TEST(LooksLikeKey, NoNumberPathOrWord) {
  for (const char* value : {"zq31Qx9v", "0f3a9b1c", "dGVzdA9=abcd", "sk-abc123"})
    EXPECT_TRUE(LooksLikeKey(value)) << value;
  for (const char* value :
       {"", "a1b2c3", "12345678", "AutogradCUDA", "/root/a1b2", "model.layers.0.up",
        "value_of_a_tensor", "<|end1of2text|>", "2026-11-27", "(128,64,32b)"})
    EXPECT_FALSE(LooksLikeKey(value)) << value;
}

// Hiding a value too many does no harm where a command is shown.
TEST(MayHoldSecret, MoreThanATraceTakesForOne) {
  for (const char* name : {"AWS_ACCESS_KEY_ID", "SLACK_WEBHOOK", "MY_TOKENS", "OPENAI_API_KEYS",
                           "MYSQL_PWD", "KEY", "BASIC_AUTH", "some_key"})
    EXPECT_TRUE(MayHoldSecret(name)) << name;
  for (const char* name : {"TOKENIZERS_PARALLELISM", "HOME", "CUDA_VISIBLE_DEVICES"})
    EXPECT_FALSE(MayHoldSecret(name)) << name;
}

}  // namespace
}  // namespace tacho
