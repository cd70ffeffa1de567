#include "query/sql_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <utility>

#include "query/table_plan.h"

namespace tacho {
namespace {

struct Module {  // the client data of sqlite3_create_module
  const QueryTable* table;
  const QueriedRun* run;
  std::function<bool()> stop;
};
struct VirtualTable : sqlite3_vtab {
  Module module;
  double rows;
};
struct Cursor : sqlite3_vtab_cursor {
  explicit Cursor(const Module& module) : reader(*module.table, *module.run, module.stop) {}
  // The status that a method of the cursor returns after it has moved the reader.
  [[nodiscard]] int Status() const { return reader.stopped() ? SQLITE_INTERRUPT : SQLITE_OK; }
  TableReader reader;
};
const QueryTable& TableOf(sqlite3_vtab* table) {
  return *static_cast<VirtualTable*>(table)->module.table;
}

// Exceptions must not pass through SQLite, which is C.
template <typename Function>
int Guarded(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int Connect(sqlite3* database, void* client, int /*argc*/, const char* const* /*argv*/,
            sqlite3_vtab** out, char** /*error*/) {
  return Guarded([&] {
    const auto& module = *static_cast<const Module*>(client);
    const int status = sqlite3_declare_vtab(database, DeclarationOf(*module.table).c_str());
    if (status != SQLITE_OK) return status;
    sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
    double rows = 0;
    for (const auto& trace : module.run->traces) {
      const uint32_t parts = module.table->parts == nullptr ? 1 : module.table->parts(*trace);
      for (uint32_t part = 0; part < parts; ++part) {
        // If counting is costly, guesses.
        rows +=
            module.table->rows_cost ? 1e5 : static_cast<double>(module.table->rows(*trace, part));
      }
    }
    *out = new VirtualTable{{}, module, rows};
    return SQLITE_OK;
  });
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

// How a constraint or a term of ORDER BY is used. For each of them, BestIndex writes two characters
// into idxStr: the column, and one of these values.
enum Use : char {
  kUnused = '\0',
  kKeyIs = 'k',
  kRankIs = 'r',
  kTraceIs = 't',
  kStartIs = '=',
  kStartOver = '>',
  kStartFrom = 'g',
  kStartUnder = '<',
  kStartTo = 'l',
  kEndOver = 'E',
  kEndFrom = 'e',
  kWordIs = 'w',
  kWordLike = 'i',
  kWordGlob = 'b',
  kAscending = 'A',
  kDescending = 'D',
};

Use UseOf(const QueryTable& table, const QueryColumn& column, int op, bool binary) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      if (column.role == QueryRole::kKey && table.find != nullptr) return kKeyIs;
      if (column.role == QueryRole::kRank) return kRankIs;
      if (column.role == QueryRole::kTrace) return kTraceIs;
      if (column.role == QueryRole::kStart && table.lanes != nullptr) return kStartIs;
      return column.value == nullptr && binary ? kWordIs : kUnused;
    case SQLITE_INDEX_CONSTRAINT_LIKE:
      return column.value == nullptr ? kWordLike : kUnused;
    case SQLITE_INDEX_CONSTRAINT_GLOB:
      return column.value == nullptr ? kWordGlob : kUnused;
    default:
      break;
  }
  if (table.lanes == nullptr) return kUnused;
  const bool start = column.role == QueryRole::kStart, end = column.role == QueryRole::kEnd;
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_GT:
      return start ? kStartOver : end ? kEndOver : kUnused;
    case SQLITE_INDEX_CONSTRAINT_GE:
      return start ? kStartFrom : end ? kEndFrom : kUnused;
    // A bound on the end is also a bound on the start, because a slice that ends before a time also
    // starts before it.
    case SQLITE_INDEX_CONSTRAINT_LT:
      return start || end ? kStartUnder : kUnused;
    case SQLITE_INDEX_CONSTRAINT_LE:
      return start || end ? kStartTo : kUnused;
    default:
      return kUnused;
  }
}

// A guess of the share of a table's rows that a constraint leaves.
double ShareLeft(char use) {
  switch (use) {
    case kStartIs:
      return 1e-4;
    case kWordIs:
      return 0.02;
    case kRankIs:
    case kTraceIs:
    case kWordLike:
    case kWordGlob:
      return 0.2;
    default:
      return 0.3;
  }
}

bool IsBinary(sqlite3_index_info* info, int constraint) {
  const char* const collation = sqlite3_vtab_collation(info, constraint);
  return collation != nullptr && std::string_view(collation) == "BINARY";
}

// The order that the query asks for, as written into idxStr; "" if rows cannot be read in that
// order.
std::string OrderOf(const QueryTable& table, const sqlite3_index_info& info) {
  std::string order;
  for (int i = 0; i < info.nOrderBy; ++i) {
    const auto& by = info.aOrderBy[i];
    if (by.iColumn < 0 || !CanOrderBy(table.columns[static_cast<size_t>(by.iColumn)])) return "";
    order += static_cast<char>('a' + by.iColumn);
    order.push_back(by.desc != 0 ? kDescending : kAscending);
  }
  return order;
}

int BestIndex(sqlite3_vtab* virtual_table, sqlite3_index_info* info) {
  return Guarded([&] {
    const QueryTable& table = TableOf(virtual_table);
    std::string plan;
    double rows = std::max(1.0, static_cast<VirtualTable*>(virtual_table)->rows);
    double read = rows;
    int arguments = 0;
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      if (constraint.usable == 0 || constraint.iColumn < 0) continue;
      const QueryColumn& column = table.columns[static_cast<size_t>(constraint.iColumn)];
      const Use use = UseOf(table, column, constraint.op, IsBinary(info, i));
      if (use == kUnused) continue;
      plan += static_cast<char>('a' + constraint.iColumn);
      plan.push_back(use);
      info->aConstraintUsage[i].argvIndex = ++arguments;
      if (use == kKeyIs) {
        rows = read = 1;
      } else {
        rows = std::max(1.0, rows * ShareLeft(use));
        // To check its text, every row must be read.
        if (use != kWordIs && use != kWordLike && use != kWordGlob)
          read = std::max(1.0, read * ShareLeft(use));
      }
    }
    if (const std::string order = OrderOf(table, *info); !order.empty()) {
      plan += order;
      info->orderByConsumed = 1;
    }
    info->idxStr = sqlite3_mprintf("%s", plan.c_str());
    if (info->idxStr == nullptr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->estimatedRows = static_cast<sqlite3_int64>(rows);
    info->estimatedCost = read + rows;
    return SQLITE_OK;
  });
}

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  return Guarded([&] {
    *out = new Cursor(static_cast<VirtualTable*>(table)->module);
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// `value` as a bound for an integer column, rounded up (if `up`) or down. nullopt: `value` is not a
// number.
std::optional<int64_t> Bound(sqlite3_value* value, bool up) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
      return sqlite3_value_int64(value);
    case SQLITE_FLOAT: {
      const double number = sqlite3_value_double(value);
      if (number >= 9.2e18) return TablePlan::kLast;
      if (number <= -9.2e18) return TablePlan::kFirst;
      return static_cast<int64_t>(up ? std::ceil(number) : std::floor(number));
    }
    default:
      return std::nullopt;
  }
}

int64_t After(int64_t value) { return value == TablePlan::kLast ? value : value + 1; }

void AddWords(size_t column, TablePlan::Like how, sqlite3_value* value, TablePlan& plan) {
  if (sqlite3_value_type(value) != SQLITE_TEXT) return;
  plan.words.push_back({column,
                        how,
                        {reinterpret_cast<const char*>(sqlite3_value_text(value)),
                         static_cast<size_t>(sqlite3_value_bytes(value))}});
}

void AddUse(size_t column, char use, sqlite3_value* value, TablePlan& plan) {
  const auto from = [&](int64_t& bound, std::optional<int64_t> to) {
    if (to) bound = std::max(bound, *to);
  };
  const auto until = [&](std::optional<int64_t> to) {
    if (to) plan.until = std::min(plan.until, After(*to));
  };
  const auto equal = [&](std::optional<int64_t>& bound) {
    if (sqlite3_value_numeric_type(value) == SQLITE_INTEGER) bound = sqlite3_value_int64(value);
  };
  // A comparison with NULL is never true.
  if (sqlite3_value_type(value) == SQLITE_NULL) plan.nothing = true;
  switch (use) {
    case kKeyIs:
      return equal(plan.key);
    case kRankIs:
      return equal(plan.rank);
    case kTraceIs:
      return equal(plan.trace);
    case kStartIs:
      from(plan.from, Bound(value, false));
      return until(Bound(value, true));
    case kStartOver:
    case kStartFrom:
      return from(plan.from, Bound(value, false));
    case kStartUnder:
    case kStartTo:
      return until(Bound(value, true));
    case kEndOver:
    case kEndFrom:
      return from(plan.ends_from, Bound(value, false));
    case kWordIs:
      return AddWords(column, TablePlan::Like::kEqual, value, plan);
    case kWordLike:
      return AddWords(column, TablePlan::Like::kLike, value, plan);
    case kWordGlob:
      return AddWords(column, TablePlan::Like::kGlob, value, plan);
    default:
      break;
  }
}

int Filter(sqlite3_vtab_cursor* cursor, int /*number*/, const char* text, int /*argc*/,
           sqlite3_value** values) {
  return Guarded([&] {
    TablePlan plan;
    for (size_t i = 0, value = 0; text[i] != '\0'; i += 2) {
      const auto column = static_cast<size_t>(text[i] - 'a');
      const char use = text[i + 1];
      if (use == kAscending || use == kDescending) {
        plan.order.push_back({column, use == kDescending});
      } else {
        AddUse(column, use, values[value++], plan);
      }
    }
    static_cast<Cursor*>(cursor)->reader.Start(std::move(plan));
    return static_cast<Cursor*>(cursor)->Status();
  });
}

int Next(sqlite3_vtab_cursor* cursor) {
  return Guarded([&] {
    static_cast<Cursor*>(cursor)->reader.Next();
    return static_cast<Cursor*>(cursor)->Status();
  });
}

int AtEnd(sqlite3_vtab_cursor* cursor) {
  return static_cast<Cursor*>(cursor)->reader.at_end() ? 1 : 0;
}

int GiveColumn(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  return Guarded([&] {
    GiveValue(context, ValueOf(TableOf(cursor->pVtab).columns[static_cast<size_t>(column)],
                               static_cast<Cursor*>(cursor)->reader.row()));
    return SQLITE_OK;
  });
}

// A row's id must not depend on the plan: for OR, SQLite merges the rows of two scans by their ids.
int GiveRowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  const QueryRow& row = static_cast<Cursor*>(cursor)->reader.row();
  *id = int64_t{row.trace->number()} << 46 | int64_t{row.part} << 32 | row.row;
  return SQLITE_OK;
}

sqlite3_module MakeMethods() {
  // Without xCreate, the tables exist from the start and no others can be made.
  sqlite3_module methods{};
  methods.xConnect = Connect;
  methods.xBestIndex = BestIndex;
  methods.xDisconnect = Disconnect;
  methods.xOpen = Open;
  methods.xClose = Close;
  methods.xFilter = Filter;
  methods.xNext = Next;
  methods.xEof = AtEnd;
  methods.xColumn = GiveColumn;
  methods.xRowid = GiveRowId;
  return methods;
}

}  // namespace

void GiveValue(sqlite3_context* context, const QueryValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    sqlite3_result_int64(context, *integer);
  } else if (const auto* number = std::get_if<double>(&value)) {
    sqlite3_result_double(context, *number);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    sqlite3_result_text64(context, text->data() == nullptr ? "" : text->data(), text->size(),
                          SQLITE_STATIC, SQLITE_UTF8);
  } else if (const auto* owned = std::get_if<std::string>(&value)) {
    sqlite3_result_text64(context, owned->data(), owned->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else {
    sqlite3_result_null(context);
  }
}

std::string DeclarationOf(const QueryTable& table) {
  std::string columns;
  for (const QueryColumn& column : table.columns) {
    columns += fmt::format("{}\"{}\" {}{}", columns.empty() ? "" : ", ", column.name, column.type,
                           column.hidden ? " HIDDEN" : "");
  }
  return fmt::format("CREATE TABLE \"{}\"({})", table.name, columns);
}

Result<void> AddTables(SqliteDatabase& database, const QueriedRun& run,
                       const std::function<bool()>& stop) {
  static const sqlite3_module methods = MakeMethods();
  for (const QueryTable& table : QueryTables()) {
    const int status = sqlite3_create_module_v2(
        database.handle(), std::string(table.name).c_str(), &methods,
        new Module{&table, &run, stop}, [](void* module) { delete static_cast<Module*>(module); });
    if (status != SQLITE_OK) return Fail(ErrorKind::kBug, sqlite3_errmsg(database.handle()));
    // Connects the table now, because an authorizer that is set later would refuse it.
    TACHO_RETURN_IF_ERROR(database.Prepare(fmt::format("SELECT 1 FROM \"{}\"", table.name)));
  }
  return {};
}

}  // namespace tacho
