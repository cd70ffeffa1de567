#include "serve/http_answer.h"

#include <utility>

#include "text/json_writer.h"

namespace tacho {

HttpAnswer ErrorAnswer(int status, std::string_view why) {
  JsonWriter json;
  json.BeginRow();
  json.Field("error", why);
  json.End();
  return {.status = status, .body = std::move(json).Finish()};
}

HttpAnswer ErrorAnswer(const Error& error) {
  const int status = error.kind == ErrorKind::kUsage        ? 400
                     : error.kind == ErrorKind::kUnreadable ? 404
                                                            : 500;
  return ErrorAnswer(status, error.message);
}

void SendAnswer(HttpExchange& exchange, HttpAnswer answer) {
  if (FindHeader(answer.headers, "Cache-Control").empty()) {
    answer.headers.push_back({"Cache-Control", "no-store"});
  }
  exchange.Respond(answer.status, std::move(answer.body), std::move(answer.content_type),
                   std::move(answer.headers));
}

}  // namespace tacho
