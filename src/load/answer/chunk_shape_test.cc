#include "load/answer/chunk_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tacho {
namespace {

// Chunks as vLLM and SGLang write them.
const std::vector<std::string> kChunks = {
    R"({"id":"cmpl-1","object":"text_completion","created":1763725935,"model":"tiny","choices":[{"index":0,"text":" word","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}],"usage":{"prompt_tokens":32,"total_tokens":33,"completion_tokens":1}})",
    R"({"id":"cmpl-1","object":"text_completion","created":1763725935,"model":"tiny","choices":[{"index":0,"text":" word","logprobs":null,"finish_reason":null,"stop_reason":null,"token_ids":[17,4,99]}]})",
    R"({"id":"chatcmpl-2","object":"chat.completion.chunk","created":1763725935,"model":"tiny","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":20,"total_tokens":21,"completion_tokens":1}})",
    R"({"id":"chatcmpl-2","object":"chat.completion.chunk","created":1763725935,"model":"tiny","choices":[{"index":0,"delta":{"reasoning_content":"So"},"logprobs":null,"finish_reason":null}],"usage":null})",
    R"({"id":"9f2","object":"chat.completion.chunk","created":1763725935,"model":"m","choices":[{"index":0,"delta":{"role":null,"content":"Hi","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":{"prompt_tokens":7,"total_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}})",
    R"({"id": "a", "created": 1, "choices": [{"index": 1, "text": "x"}], "usage": {"completion_tokens": 5, "prompt_tokens": 1}})",
};

std::string Show(const StreamChunk& chunk) {
  std::string text = std::string(chunk.id) + " " + std::to_string(chunk.prompt_tokens) + " " +
                     std::to_string(chunk.completion_tokens) + " " +
                     std::to_string(chunk.cached_tokens) + (chunk.bad_usage ? " bad" : "") +
                     (chunk.has_error ? " error " : " ") + chunk.error;
  for (const ChunkChoice& choice : chunk.choices) {
    text += "; " + std::to_string(choice.index) + " \"" + std::string(choice.text) + "\" " +
            std::to_string(choice.token_ids) + (choice.role_only ? " role " : " ") +
            std::string(choice.finish_reason);
  }
  return text;
}

StreamChunk Parsed(const std::string& json) {
  StreamChunk chunk;
  ChunkParser parser;
  EXPECT_TRUE(parser.ParseWhole(json, chunk)) << json;
  return chunk;
}

// The shape of `json`. `chunk` is what the parser reads, with views into the parser.
ChunkShape Learnt(const std::string& json, ChunkParser& parser, StreamChunk& chunk) {
  ChunkShape shape;
  EXPECT_TRUE(parser.ParseWhole(json, chunk)) << json;
  EXPECT_TRUE(shape.Learn(json, chunk)) << json;
  return shape;
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " in " << text;
  return text.replace(at, what.size(), by);
}

TEST(ChunkShape, EachEnginesNextChunkMatches) {
  for (const std::string& json : kChunks) {
    ChunkParser whole;
    StreamChunk chunk;
    const ChunkShape shape = Learnt(json, whole, chunk);
    std::string next =
        Replaced(json, "\"" + std::string(chunk.choices[0].text) + "\"", "\"another ~\"");
    next = Replaced(next, std::string(chunk.id) + "\"", "id of another request\"");
    StreamChunk matched;
    ASSERT_TRUE(shape.Match(next, matched)) << next;
    ASSERT_TRUE(whole.ParseWhole(next, chunk));
    EXPECT_EQ(Show(matched), Show(chunk));
    EXPECT_EQ(matched.choices[0].text, "another ~");
  }
}

TEST(ChunkShape, OddSlotsDoNotMatch) {
  const std::string& json = kChunks[0];
  ChunkParser whole;
  StreamChunk chunk;
  const ChunkShape shape = Learnt(json, whole, chunk);
  for (const char* text : {R"(\n)", R"(\")", "\xc3\xa4", "\xf0\x9f", "\x7f", "\t", "\"", "a\"b"}) {
    EXPECT_FALSE(shape.Match(Replaced(json, " word", text), chunk)) << text;
  }
  for (const char* count : {"-1", "1.5", "01", "1e3", "1000000000", "\"1\"", "null", "", "1 "}) {
    EXPECT_FALSE(shape.Match(
        Replaced(json, "completion_tokens\":1", std::string("completion_tokens\":") + count),
        chunk))
        << count;
  }
  for (const char* other : {"{", "}", "", " "}) {
    EXPECT_FALSE(shape.Match(json + (*other == '\0' ? "x" : other), chunk));
  }
  EXPECT_FALSE(shape.Match("", chunk));
  EXPECT_FALSE(shape.Match(json.substr(0, json.size() - 1), chunk));
}

TEST(ChunkShape, BadExamplesAreRefused) {
  for (const char* json :
       {R"({"id":"a","choices":[{"index":0,"text":""}]})",
        R"({"id":"a","choices":[{"index":0,"text":"x","finish_reason":"length"}]})",
        R"({"id":"a","choices":[{"index":0,"text":"x"},{"index":1,"text":"y"}]})",
        R"({"id":"a","choices":[]})", R"({"id":"a","choices":[{"text":"x"}],"error":"no"})",
        R"({"id":"a","choices":[{"delta":{"content":"x","reasoning":"y"}}]})",
        R"({"id":"a","choices":[{"delta":{"content":"x","tool_calls":[{}]}}]})",
        R"({"id":"a","choices":[{"delta":{"content":"x"},"message":{"content":"x"}}]})",
        R"({"text":"x","meta_info":{"id":"a","completion_tokens":1}})",
        R"({"id":"a","choices":[{"text":"x"}],"usage":{"completion_tokens":-1}})"}) {
    EXPECT_FALSE(ChunkShape().Learn(json, Parsed(json))) << json;
  }
}

TEST(ChunkShape, AnEmptyTextBesideARoleIsNoToken) {
  const std::string& json = kChunks[4];
  ChunkParser whole;
  StreamChunk chunk;
  const ChunkShape shape = Learnt(json, whole, chunk);
  ASSERT_TRUE(shape.Match(Replaced(json, "\"Hi\"", "\"\""), chunk));
  EXPECT_TRUE(chunk.choices[0].role_only);
}

// Compares the parser with and without its shapes, on real chunks and damaged ones.
TEST(ChunkShape, BothWaysReadTheSame) {
  std::mt19937 random(7);
  const auto below = [&](size_t bound) { return random() % bound; };
  const std::vector<std::string> pieces = {"\"",
                                           "\\",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           ":",
                                           "null",
                                           "0",
                                           "-1",
                                           "9999999999",
                                           "true",
                                           " ",
                                           "\\u00e4",
                                           "\xc3",
                                           "\"role\":null,",
                                           "\"text\":\"q\",",
                                           "\"finish_reason\":\"stop\",",
                                           "\"content\":\"w\",",
                                           "\"error\":\"bad\",",
                                           "\"usage\":null,",
                                           "\"completion_tokens\":3,"};
  ChunkParser parser, whole;
  StreamChunk b;
  for (int i = 0; i < 60'000; ++i) {
    std::string json = kChunks[below(kChunks.size())];
    for (size_t edits = below(3); edits > 0; --edits) {
      const size_t at = below(json.size());
      switch (below(3)) {
        case 0:
          json.erase(at, 1 + below(4));
          break;
        case 1:
          json.insert(at, pieces[below(pieces.size())]);
          break;
        default:
          json[at] = static_cast<char>(below(256));
      }
      if (json.empty()) json = "{}";
    }
    const StreamChunk* const a = parser.Parse(json);
    ASSERT_EQ(whole.ParseWhole(json, b), a != nullptr) << json;
    if (a != nullptr) {
      ASSERT_EQ(Show(*a), Show(b)) << json;
    }
  }
}

}  // namespace
}  // namespace tacho
