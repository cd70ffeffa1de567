#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "model/trace_builder.h"
#include "query/query_session.h"

namespace tacho {

inline const Classifier& QueryRules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

// Makes a run of these traces.
inline std::unique_ptr<QueriedRun> RunOfTraces(std::vector<Trace> traces) {
  RunAnalysis analysis;
  std::vector<std::unique_ptr<QueriedTrace>> kept;
  for (Trace& trace : traces) {
    auto owned = std::make_unique<const Trace>(std::move(trace));
    PreparedTrace prepared = Prepare(*owned, QueryRules());
    TraceAnalysis& of = analysis.traces.emplace_back(AnalyzeTrace(prepared, QueryRules()));
    of.path = "trace " + std::to_string(kept.size());
    kept.push_back(std::make_unique<QueriedTrace>(of.path, std::move(owned), std::move(prepared),
                                                  QueryRules(), std::nullopt));
  }
  return QueriedRun::Of(std::move(analysis), std::move(kept));
}

// All rows of a query as texts, with bars between cells; NULL is "-". If the query fails, the only
// row is the error.
inline std::vector<std::string> RowsOf(SqliteDatabase& database, const std::string& sql) {
  auto statement = database.Prepare(sql);
  if (!statement) return {statement.error().message};
  std::vector<std::string> rows;
  while (true) {
    const auto is_row = statement->Step();
    if (!is_row) return {is_row.error().message};
    if (!*is_row) return rows;
    std::string& row = rows.emplace_back();
    for (int i = 0; i < statement->columns(); ++i) {
      row += (i == 0 ? "" : "|");
      row += statement->IsNull(i) ? "-" : std::string(statement->Text(i));
    }
  }
}

}  // namespace tacho
