#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/query_output.h"
#include "query/query_session.h"

namespace tacho {

// What the user types at `tacho query`: SQL, or a command with a dot.
class QueryInput {
 public:
  QueryInput(QuerySession& session, QueryOutput output)
      : session_(session), output_(std::move(output)) {}

  // Runs all SQL statements in `text`, and the commands on lines between them: ".tables", ".schema
  // [TABLE]", ".help". Prints an empty line between the outputs of two statements, except for JSON.
  // An error names its line or, if `text` is a single line, the number of its statement; the
  // results of earlier statements were already printed. Returns true if ".quit" was given, or if
  // nobody reads the output any more.
  Result<bool> Run(std::string_view text);

 private:
  Result<bool> RunDot(std::string_view text, const QueryOutput& output);

  QuerySession& session_;
  QueryOutput output_;
};

// Whether an argument of the command is text for QueryInput and not a path.
bool IsQueryText(const std::string& argument);
// Whether the argument begins like a SELECT, so that it is no path.
bool BeginsStatement(const std::string& argument);
// The command with a dot that `line` means: "exit" and "\q" mean ".quit". "" if it means none.
std::string DotOf(std::string_view line);
// Whether SQL is complete: every statement ends with a semicolon.
bool IsWholeSql(const std::string& text);
// Completions of `begun`, the word being typed: tables, columns, SQL keywords, commands with a dot;
// only tables if `before`, the line up to that word, ends with FROM or JOIN.
std::vector<std::string> QueryWordsFrom(std::string_view before, std::string_view begun);

}  // namespace tacho
