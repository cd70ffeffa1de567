#pragma once

#include <string_view>

#include "net/http_server.h"
#include "serve/http_answer.h"
#include "serve/marks_file.h"
#include "serve/served_run.h"

namespace tacho {

// Answers all requests of API.md except `events`. Thread-safe. `run` and `marks` must outlive this
// object.
class ViewApi {
 public:
  ViewApi(const ServedRun& run, MarksFile& marks) : run_(run), marks_(marks) {}

  // `what`: "meta", "tiles", ...; 404 if it is unknown, 400 for a bad parameter.
  [[nodiscard]] HttpAnswer Answer(std::string_view what, const ServerRequest& request) const;

 private:
  [[nodiscard]] HttpAnswer AnswerMarks(const ServerRequest& request) const;

  const ServedRun& run_;
  MarksFile& marks_;
};

}  // namespace tacho
