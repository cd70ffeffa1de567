#include "frames_of_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/index/arg_reader.h"
#include "base/json_text.h"
#include "query/query_session.h"

namespace tacho {
namespace {

constexpr size_t kRowsBetweenLooks = 65'536;

template <SlicesOf kTable>
size_t RowsOf(const QueriedTrace& trace, uint32_t part) {
  return static_cast<SlicesOf>(part) == kTable ? trace.Slices(kTable).size() : 0;
}

void DropColumns(QueryTable& table, std::initializer_list<std::string_view> names) {
  std::erase_if(table.columns, [&](const QueryColumn& column) {
    return std::ranges::find(names, column.name) != names.end();
  });
}

QueryTable CopiesTable() {
  QueryTable table = SlicesQueryTable();
  table.name = "copies";
  table.says = "copies and memsets of devices";
  table.rows = RowsOf<SlicesOf::kGpu>;
  table.has = [](const QueryRow& row) {
    const SliceKind kind = row.trace->trace().gpu.kind[row.row];
    return kind == SliceKind::kMemcpy || kind == SliceKind::kMemset;
  };
  DropColumns(table, {"category", "process", "thread", "args"});
  return table;
}

QueryTable AnnotationsTable() {
  QueryTable table = SlicesQueryTable();
  table.name = "annotations";
  table.says = "ranges that the program names: record_function, NVTX";
  table.rows = RowsOf<SlicesOf::kAnnotations>;
  DropColumns(table, {"kind", "category", "device", "stream", "correlation", "external_id"});
  return table;
}

QueryTable CollectivesTable() {
  QueryTable table = KernelsQueryTable();
  table.name = "collectives";
  table.says = "kernels that communicate; arguments are absent where PyTorch did not write them";
  table.has = [](const QueryRow& row) {
    static const QueryTable kernels = KernelsQueryTable();
    static const QueryWords category =
        std::ranges::find(kernels.columns, "category", &QueryColumn::name)->words;
    return kernels.has(row) &&
           row.trace->classifier().IsCommunication(static_cast<WorkCategory>(category.of(row)));
  };
  return table;
}

FrameKind KindOf(const QueryColumn& column) {
  if (column.type == "INTEGER") return FrameKind::kInteger;
  if (column.type == "REAL") return FrameKind::kReal;
  return column.value == nullptr ? FrameKind::kWords : FrameKind::kText;
}

void AddValue(FrameColumn& column, const QueryValue& value) {
  std::visit(
      [&](const auto& of) {
        using Of = std::decay_t<decltype(of)>;
        if constexpr (std::is_same_v<Of, std::monostate>) {
          column.AddNull();
        } else if constexpr (std::is_same_v<Of, std::string>) {
          column.Add(std::string_view(of));
        } else {
          column.Add(of);
        }
      },
      value);
}

// Words have a number for each trace. Each word that occurs is looked up once.
void AddWords(const QueryWords& words, const std::vector<QueryRow>& rows, FrameColumn& column) {
  constexpr int32_t kUnseen = -2, kNull = -1;
  const QueriedTrace* trace = nullptr;
  std::vector<int32_t> known;  // by word of `trace`
  for (const QueryRow& row : rows) {
    if (row.trace != trace) {
      trace = row.trace;
      known.assign(words.count(*trace), kUnseen);
    }
    const uint32_t word = words.of(row);
    if (known[word] == kUnseen) {
      const auto text = words.text(*trace, word);
      known[word] = text ? column.WordOf(*text) : kNull;
    }
    column.AddWord(known[word]);
  }
}

void AddArgument(const FrameTable& table, const FrameTable::Argument& argument,
                 const std::vector<QueryRow>& rows, FrameColumn& column) {
  const QueryColumn& id = *std::ranges::find(table.of.columns, "id", &QueryColumn::name);
  const QueriedTrace* trace = nullptr;
  std::optional<ArgReader> reader;
  for (const QueryRow& row : rows) {
    if (row.trace != trace) reader.emplace((trace = row.trace)->trace(), argument.key);
    const auto slice = trace->FindId(std::get<int64_t>(id.value(row)));
    const ArgsOf args = trace->ArgsOfSlice(*slice);
    if (argument.kind == FrameKind::kInteger) {
      const auto value = reader->Integer(args);
      value ? column.Add(*value) : column.AddNull();
    } else {
      const StringId text = reader->Text(args);
      text == StringId::kEmpty ? column.AddNull()
                               : column.Add(std::string_view(JsonStringOrText(trace->Text(text))));
    }
  }
}

tl::unexpected<Error> Interrupted() { return Fail(ErrorKind::kInterrupted, "interrupted"); }

}  // namespace

const std::vector<FrameTable>& FrameTables() {
  static const std::vector<FrameTable> tables = [] {
    std::vector<FrameTable> all;
    for (const QueryTable& table : QueryTables()) all.push_back({table, {}});
    all.push_back(
        {CopiesTable(), {{"bytes", "bytes", FrameKind::kInteger, "how many were copied or set"}}});
    all.push_back({AnnotationsTable(), {}});
    all.push_back(
        {CollectivesTable(),
         {{"collective", "Collective name", FrameKind::kWords, "by PyTorch: allreduce, ..."},
          {"process_group", "Process Group Name", FrameKind::kWords, "name of the process group"},
          {"group_size", "Group size", FrameKind::kInteger, "ranks of the group"},
          {"dtype", "dtype", FrameKind::kWords, "type of the elements"},
          {"in_elements", "In msg nelems", FrameKind::kInteger, "elements that this rank gives"},
          {"out_elements", "Out msg nelems", FrameKind::kInteger,
           "elements that this rank gets"}}});
    return all;
  }();
  return tables;
}

Result<Frame> FrameOf(const FrameTable& table, const QueriedRun& run,
                      const std::function<bool(const QueryRow&)>& keeps,
                      const std::function<bool()>& stop) {
  std::vector<QueryRow> rows;
  for (const auto& trace : run.traces) {
    const uint32_t parts = table.of.parts == nullptr ? 1 : table.of.parts(*trace);
    for (uint32_t part = 0; part < parts; ++part) {
      const size_t count = table.of.rows(*trace, part);
      for (size_t i = 0; i < count; ++i) {
        if (i % kRowsBetweenLooks == 0 && stop()) return Interrupted();
        const QueryRow row{trace.get(), part, static_cast<uint32_t>(i)};
        if ((table.of.has == nullptr || table.of.has(row)) && (!keeps || keeps(row)))
          rows.push_back(row);
      }
    }
  }
  Frame frame{std::string(table.of.name), std::string(table.of.says), rows.size(), {}};
  for (const QueryColumn& column : table.of.columns) {
    FrameColumn& to = frame.columns.emplace_back(std::string(column.name), KindOf(column),
                                                 std::string(column.says));
    to.Reserve(rows.size());
    if (stop()) return Interrupted();
    if (column.value == nullptr) {
      AddWords(column.words, rows, to);
    } else {
      for (const QueryRow& row : rows) AddValue(to, column.value(row));
    }
  }
  for (const FrameTable::Argument& argument : table.arguments) {
    AddArgument(table, argument, rows,
                frame.columns.emplace_back(std::string(argument.column), argument.kind,
                                           std::string(argument.says)));
  }
  return frame;
}

Result<Frame> FrameOfQuery(const std::string& sql, const QueriedRun& run,
                           const std::function<bool()>& stop) {
  TACHO_ASSIGN_OR_RETURN(auto session, QuerySession::Open(run, stop));
  std::string_view rest = sql;
  TACHO_ASSIGN_OR_RETURN(auto statement, session.Next(rest));
  if (!statement) return Fail(ErrorKind::kUsage, "the SQL is empty");
  std::vector<std::vector<QueryValue>> columns(static_cast<size_t>(statement->columns()));
  std::vector<FrameKind> kinds(columns.size(), FrameKind::kInteger);
  size_t rows = 0;
  while (true) {
    TACHO_ASSIGN_OR_RETURN(const bool is_row, StepWithin(*statement));
    if (!is_row) break;
    ++rows;
    for (size_t i = 0; i < columns.size(); ++i) {
      const int at = static_cast<int>(i);
      QueryValue value;
      switch (statement->Type(at)) {
        case SQLITE_NULL:
          break;
        case SQLITE_INTEGER:
          value = statement->Integer(at);
          break;
        case SQLITE_FLOAT:
          value = statement->Real(at);
          if (kinds[i] == FrameKind::kInteger) kinds[i] = FrameKind::kReal;
          break;
        default:
          value = std::string(statement->Text(at));
          kinds[i] = FrameKind::kText;
      }
      columns[i].push_back(std::move(value));
    }
  }
  Frame frame{"query", "", rows, {}};
  std::map<std::string, size_t> named;  // how often; a second one is "name_2", as in --json
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string name(statement->ColumnName(static_cast<int>(i)));
    if (const size_t nth = ++named[name]; nth > 1) name += "_" + std::to_string(nth);
    FrameColumn& column = frame.columns.emplace_back(std::move(name), kinds[i], "");
    for (const QueryValue& value : columns[i]) AddValue(column, value);
  }
  TACHO_ASSIGN_OR_RETURN(const auto more, session.Next(rest));
  if (more) return Fail(ErrorKind::kUsage, "one statement at a time");
  return frame;
}

}  // namespace tacho
