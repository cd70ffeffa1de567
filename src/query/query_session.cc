#include "query/query_session.h"

#include <charconv>
#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "analysis/index/arg_reader.h"
#include "base/json_text.h"
#include "base/parse_number.h"
#include "query/percentiles.h"
#include "query/sql_tables.h"

namespace tacho {
namespace {

constexpr int kOperationsBetweenLooks = 100'000;
constexpr std::string_view kOnlyReads =
    "a query only reads: SELECT, WITH, VALUES, EXPLAIN, and PRAGMA table_info(TABLE)";

int Authorize(void* /*client*/, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*trigger*/) {
  const auto is = [](const char* text, std::string_view word) {
    return text != nullptr && std::string_view(text) == word;
  };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is(second, "load_extension") ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
      return is(first, "table_info") || is(first, "table_xinfo") ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// The value of an argument, given as JSON. Numbers and strings become numbers and texts; lists and
// objects stay JSON.
QueryValue OfJson(std::string_view json) {
  if (json.starts_with('"')) return JsonStringOrText(json);
  if (json.empty() || json == "null") return {};
  if (json == "true" || json == "false") return int64_t{json == "true"};
  if (const auto integer = ParseWhole<int64_t>(json)) return *integer;
  double number = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), number);
  if (error == std::errc() && end == json.data() + json.size() && std::isfinite(number))
    return number;
  return CompactJson(json);
}

// Reads the same argument of many slices. Where a trace keeps the argument is looked up only once.
class ArgOfSlices {
 public:
  ArgOfSlices(const QueriedRun& run, std::string key)
      : run_(run), key_(std::move(key)), readers_(run.traces.size()) {}

  QueryValue Of(int64_t id) {
    const auto [trace, slice] = run_.Find(id);
    if (trace == nullptr) return {};
    std::unique_ptr<ArgReader>& reader = readers_[trace->number()];
    if (!reader) reader = std::make_unique<ArgReader>(trace->trace(), key_);
    const ArgsOf args = trace->ArgsOfSlice(slice);
    const StringId text = reader->Text(args);
    if (text != StringId::kEmpty) return OfJson(trace->Text(text));
    return KnownOrNull(reader->Integer(args));
  }

 private:
  const QueriedRun& run_;
  std::string key_;
  std::vector<std::unique_ptr<ArgReader>> readers_;  // by trace
};

void GiveArg(sqlite3_context* context, int /*argc*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) != SQLITE_TEXT)
    return sqlite3_result_null(context);
  try {
    auto* arg = static_cast<ArgOfSlices*>(sqlite3_get_auxdata(context, 1));
    if (arg == nullptr) {
      const auto& run = *static_cast<const QueriedRun*>(sqlite3_user_data(context));
      auto made = std::make_unique<ArgOfSlices>(
          run, std::string(reinterpret_cast<const char*>(sqlite3_value_text(values[1])),
                           static_cast<size_t>(sqlite3_value_bytes(values[1]))));
      GiveValue(context, made->Of(sqlite3_value_int64(values[0])));
      return sqlite3_set_auxdata(context, 1, made.release(),
                                 [](void* of) { delete static_cast<ArgOfSlices*>(of); });
    }
    GiveValue(context, arg->Of(sqlite3_value_int64(values[0])));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

tl::unexpected<Error> TooMuchMemory() {
  return Fail(ErrorKind::kUsage,
              "the query needs more than 2 GB of memory: aggregate, select less, or add LIMIT");
}

}  // namespace

Result<QuerySession> QuerySession::Open(const QueriedRun& run, std::function<bool()> stop) {
  TACHO_ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::InMemory());
  TACHO_RETURN_IF_ERROR(database.Run("PRAGMA temp_store=MEMORY"));
  TACHO_RETURN_IF_ERROR(AddTables(database, run, stop));
  // Connects SQLite's own virtual tables now, because the authorizer that is set below would refuse
  // to connect them.
  TACHO_RETURN_IF_ERROR(database.Prepare("SELECT 1 FROM json_each('[]'), json_tree('[]')"));
  sqlite3* const handle = database.handle();
  sqlite3_create_function_v2(handle, "arg", 2,
                             SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                             const_cast<QueriedRun*>(&run), GiveArg, nullptr, nullptr, nullptr);
  AddPercentiles(database);
  database.LimitBytes(kMostBytesOfValue);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  database.OnProgress(kOperationsBetweenLooks, std::move(stop));
  sqlite3_set_authorizer(handle, Authorize, nullptr);
  return QuerySession(std::move(database));
}

Result<std::optional<SqliteStatement>> QuerySession::Next(std::string_view& sql) {
  while (!sql.empty()) {
    Result<SqliteStatement> statement = database_.Prepare(sql, &sql);
    if (!statement) {
      if (sqlite3_errcode(database_.handle()) == SQLITE_AUTH)
        return Fail(ErrorKind::kUsage, std::string(kOnlyReads));
      return tl::unexpected<Error>(statement.error());
    }
    if (statement->handle() == nullptr) continue;  // only a comment or blanks
    if (!statement->is_read_only()) return Fail(ErrorKind::kUsage, std::string(kOnlyReads));
    return std::optional(*std::move(statement));
  }
  return std::optional<SqliteStatement>();
}

Result<bool> StepWithin(SqliteStatement& statement) {
  try {
    auto stepped = statement.Step();
    if (!stepped && sqlite3_errcode(sqlite3_db_handle(statement.handle())) == SQLITE_TOOBIG)
      return Fail(ErrorKind::kUsage, "the query makes a value of more than 64 MB");
    return stepped;
  } catch (const std::bad_alloc&) {
    return TooMuchMemory();
  }
}

}  // namespace tacho
