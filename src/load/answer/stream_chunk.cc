#include "load/answer/stream_chunk.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>

#include "load/answer/chunk_shape.h"

namespace tacho {
namespace {

namespace ondemand = simdjson::ondemand;
// A key as it is written: no engine writes keys with escapes, and resolving escapes costs a copy.
using Key = ondemand::raw_json_string;

std::string_view Text(ondemand::value value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

int64_t Number(ondemand::value value, int64_t otherwise) {
  int64_t number = 0;
  return value.get_int64().get(number) == simdjson::SUCCESS ? number : otherwise;
}

// A count of tokens; -1 if the usage is null.
int64_t TokenCount(ondemand::value value, StreamChunk& chunk) {
  constexpr int64_t kMostTokens = int64_t{1} << 31;
  bool is_null = false;
  if (value.is_null().get(is_null) == simdjson::SUCCESS && is_null) return -1;
  const int64_t number = Number(value, -1);
  if (number >= 0 && number <= kMostTokens) return number;
  chunk.bad_usage = true;
  return -1;
}

// Calls `take(key, value)` for each field if `value` is an object.
template <typename Take>
void ForEachField(ondemand::value value, const Take& take) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return;
  for (auto field : object) {
    Key key;
    ondemand::value inside;
    if (field.key().get(key) != simdjson::SUCCESS) return;
    if (field.value().get(inside) != simdjson::SUCCESS) return;
    take(key, inside);
  }
}

int64_t CountOf(ondemand::value value) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return -1;
  int64_t count = 0;
  for (auto item : array) {
    if (item.error() != simdjson::SUCCESS) return count;
    ++count;
  }
  return count;
}

void ReadUsage(ondemand::value usage, StreamChunk& chunk) {
  ForEachField(usage, [&](Key key, ondemand::value value) {
    if (key == "prompt_tokens") chunk.prompt_tokens = TokenCount(value, chunk);
    if (key == "completion_tokens") chunk.completion_tokens = TokenCount(value, chunk);
    if (key == "prompt_tokens_details") {
      ForEachField(value, [&](Key inner, ondemand::value inside) {
        if (inner == "cached_tokens") chunk.cached_tokens = TokenCount(inside, chunk);
      });
    }
  });
}

// Reads the "delta" of a chunk, or the "message" of a whole answer.
void ReadMessage(ondemand::value message, ChunkChoice& choice) {
  bool has_role = false;
  ForEachField(message, [&](Key key, ondemand::value value) {
    if (key == "role") {
      has_role = true;
    } else if (key == "content" || key == "reasoning_content" || key == "reasoning") {
      const std::string_view text = Text(value);
      if (choice.text.empty()) choice.text = text;
    } else if (key == "tool_calls" && choice.text.empty()) {
      if (CountOf(value) > 0) choice.text = "{}";
    }
  });
  choice.role_only = has_role && choice.text.empty();
}

void ReadChoice(ondemand::value value, StreamChunk& chunk) {
  ChunkChoice& choice = chunk.choices.emplace_back();
  ForEachField(value, [&](Key key, ondemand::value inside) {
    if (key == "index") choice.index = Number(inside, 0);
    if (key == "text") choice.text = Text(inside);
    if (key == "delta" || key == "message") ReadMessage(inside, choice);
    if (key == "token_ids") choice.token_ids = CountOf(inside);
    if (key == "finish_reason") choice.finish_reason = Text(inside);
  });
}

void ReadError(ondemand::value value, StreamChunk& chunk) {
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS || type == ondemand::json_type::null) return;
  chunk.has_error = true;
  if (type == ondemand::json_type::string) {
    chunk.error = Text(value);
    return;
  }
  std::string message, kind;
  int64_t code = 0;
  ForEachField(value, [&](Key key, ondemand::value inside) {
    if (key == "message") message = Text(inside);
    if (key == "type") kind = Text(inside);
    if (key == "code") code = Number(inside, 0);
  });
  chunk.error = message.empty() ? "an error without words" : message;
  if (!kind.empty())
    chunk.error += fmt::format(" ({}{})", kind, code ? fmt::format(" {}", code) : "");
}

// Reads SGLang's own format: {"text":..., "output_ids":[...], "meta_info":{...}}.
void ReadMetaInfo(ondemand::value value, StreamChunk& chunk, ChunkChoice& choice) {
  ForEachField(value, [&](Key key, ondemand::value inside) {
    if (key == "id") chunk.id = Text(inside);
    if (key == "prompt_tokens") chunk.prompt_tokens = TokenCount(inside, chunk);
    if (key == "completion_tokens") chunk.completion_tokens = TokenCount(inside, chunk);
    if (key == "cached_tokens") chunk.cached_tokens = TokenCount(inside, chunk);
    if (key == "finish_reason") {
      ondemand::json_type type{};
      if (inside.type().get(type) != simdjson::SUCCESS) return;
      // The form of old versions.
      if (type == ondemand::json_type::string) choice.finish_reason = Text(inside);
      if (type != ondemand::json_type::object) return;
      ForEachField(inside, [&](Key inner, ondemand::value deep) {
        if (inner == "type") choice.finish_reason = Text(deep);
        if (inner == "message" && choice.finish_reason == "abort") {
          chunk.has_error = true;
          chunk.error = Text(deep);
        }
      });
    }
  });
}

}  // namespace

struct ChunkParser::Inside {
  ondemand::parser parser;
  std::string padded;
  StreamChunk parsed;
  // The shapes of the load's chunks: one for each kind of engine and route, and one for each kind
  // of first chunk. A new shape replaces the oldest.
  std::array<ChunkShape, 4> shapes;
  size_t last_matched = 0, oldest = 0;

  bool Read(StreamChunk& chunk);
};

ChunkParser::ChunkParser() : inside_(std::make_unique<Inside>()) {}
ChunkParser::~ChunkParser() = default;
ChunkParser::ChunkParser(ChunkParser&&) noexcept = default;

bool ChunkParser::Inside::Read(StreamChunk& chunk) {
  chunk.id = {};
  chunk.choices.clear();
  chunk.prompt_tokens = chunk.completion_tokens = chunk.cached_tokens = -1;
  chunk.bad_usage = chunk.has_error = false;
  chunk.error.clear();
  const size_t size = padded.size() - simdjson::SIMDJSON_PADDING;
  ondemand::document document;
  if (parser.iterate(padded.data(), size, padded.size()).get(document) != simdjson::SUCCESS) {
    return false;
  }
  ondemand::value root;
  if (document.get_value().get(root) != simdjson::SUCCESS) return false;
  ondemand::object object;
  if (root.get_object().get(object) != simdjson::SUCCESS) return false;
  ChunkChoice own;  // the choice of SGLang's /generate
  bool is_own = false, said_error = false;
  int64_t own_ids = -1;
  for (auto field : object) {
    Key key;
    ondemand::value value;
    if (field.key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    if (key == "choices") {
      ondemand::array choices;
      if (value.get_array().get(choices) != simdjson::SUCCESS) continue;
      for (auto choice : choices) {
        ondemand::value inside;
        if (choice.get(inside) != simdjson::SUCCESS) return false;
        ReadChoice(inside, chunk);
      }
    } else if (key == "id") {
      chunk.id = Text(value);
    } else if (key == "usage") {
      ReadUsage(value, chunk);
    } else if (key == "error") {
      ReadError(value, chunk);
    } else if (key == "meta_info") {
      is_own = true;
      ReadMetaInfo(value, chunk, own);
    } else if (key == "text") {
      own.text = Text(value);
    } else if (key == "output_ids") {
      own_ids = CountOf(value);
    } else if (key == "index") {
      own.index = Number(value, 0);
    } else if (key == "object") {
      said_error = Text(value) == "error";
    } else if (key == "message" && said_error) {
      chunk.has_error = true;  // {"object":"error","message":...}: SGLang's chat
      chunk.error = Text(value);
    } else if (key == "detail" && !chunk.has_error) {
      // FastAPI's message; it is an error only if the HTTP status is one.
      chunk.error = Text(value);
    }
  }
  // With --incremental-streaming-output, chunks of SGLang's /generate hold only new text.
  own.from_start = own_ids < 0 || own_ids >= chunk.completion_tokens;
  if (is_own) chunk.choices.push_back(own);
  return true;
}

const StreamChunk* ChunkParser::Parse(std::string_view json) {
  StreamChunk& chunk = inside_->parsed;
  auto& shapes = inside_->shapes;
  size_t& i = inside_->last_matched;
  for (size_t tried = 0; tried < shapes.size(); ++tried, i = (i + 1) % shapes.size()) {
    if (shapes[i].Match(json, chunk)) return &chunk;
  }
  if (!ParseWhole(json, chunk)) return nullptr;
  if (shapes[inside_->oldest].Learn(json, chunk)) {
    i = inside_->oldest;
    inside_->oldest = (i + 1) % shapes.size();
  }
  return &chunk;
}

bool ChunkParser::ParseWhole(std::string_view json, StreamChunk& chunk) {
  std::string& padded = inside_->padded;
  padded.assign(json);
  padded.append(simdjson::SIMDJSON_PADDING, '\0');
  if (inside_->Read(chunk)) return true;
  // A token may end inside a UTF-8 character, and some servers send it like that.
  padded.assign(json);
  bool mended = false;
  for (char& c : padded) {
    if (static_cast<unsigned char>(c) < 0x80) continue;
    c = '?';
    mended = true;
  }
  padded.append(simdjson::SIMDJSON_PADDING, '\0');
  return mended && inside_->Read(chunk);
}

}  // namespace tacho
