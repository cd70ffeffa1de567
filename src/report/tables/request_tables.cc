#include <algorithm>
#include <string>
#include <utility>

#include "report/tables/result_tables.h"
#include "report/words/request_words.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

std::string ColumnKey(std::string_view prefix, RequestPart part) {
  std::string key(prefix);
  key += RequestPartId(part);
  std::ranges::replace(key, '-', '_');
  return key + "_ns";
}

// Adds a column for each part of the requests' time. The screen shows only parts that have time. On
// a narrow screen, columns with less time are dropped first; the column of `first` is ranked as if
// it had the most time.
void AddPartColumns(Table& table, const RequestParts& sums, std::string_view means,
                    std::optional<RequestPart> first = {}) {
  std::vector<size_t> order(kRequestParts);
  for (size_t i = 0; i < kRequestParts; ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t i) {
    return std::pair(first == static_cast<RequestPart>(i), sums.ns[i]);
  });
  for (size_t i = 0; i < kRequestParts; ++i) {
    const auto part = static_cast<RequestPart>(i);
    const auto place = static_cast<size_t>(std::ranges::find(order, i) - order.begin());
    Col column =
        Col{ColumnKey("", part), std::string(RequestPartId(part)), kDuration}.UnitGroup(1).GivesWay(
            place < 2   ? 0
            : place < 5 ? 1
            : place < 7 ? 2
                        : Col::kTurns);
    table.columns.push_back(std::move(column).Means(means).FileOnly(sums.ns[i].ns == 0));
  }
}

// A part without time is blank if some time is unknown: it may be of that part.
void AddPartCells(const RequestParts& parts, std::vector<Cell>& cells) {
  const bool any_unknown = parts[RequestPart::kUnknown].ns > 0;
  for (const DurationNs part : parts.ns)
    cells.push_back(part.ns == 0 && any_unknown ? Cell() : Cell(part.ns));
}

Cell Number(bool known, uint32_t step) { return known ? CountCell(step + 1) : Cell(); }

}  // namespace

Table RequestsTable(const RequestAnalysis& requests, const RequestsTableOptions& options) {
  RequestParts sums;
  bool many_workers = false, many_scenarios = false, any_lacks = false;
  for (const RequestRow& row : requests.rows) {
    sums.Add(row.parts);
    many_workers |= row.worker != requests.rows.front().worker;
    many_scenarios |= row.scenario != requests.rows.front().scenario;
    any_lacks |= row.lacks != RequestLacks::kNothing || !row.whole;
  }
  Table table{
      "requests",
      {Col{"id", options.title, kText}.Stretches().Distinct(16),
       Col{"worker", "worker", kText}.FileOnly(!many_workers),
       Col{"scenario", "scenario", kText}.FileOnly(!many_scenarios).GivesWay(2),
       Col{"status", "status", kText}
           .Means("`done` (answered in full), `failed` or `cancelled` (at the end of the load)")
           .FileOnly(!any_lacks),
       Col{"lacks", "", kText}.FileOnly(), Col{"prompt_tokens", "prompt", kCount}.GivesWay(2),
       Col{"tokens", "tokens", kCount}, Col{"ttft_ns", "TTFT", kDuration}.UnitGroup(1),
       Col{"e2e_ns", "E2E", kDuration}.UnitGroup(1)},
      {}};
  AddPartColumns(table, sums, "time of this part", options.first);
  for (size_t i = 0; i < kRequestParts; ++i)
    table.columns.push_back(Col{ColumnKey("ttft_", static_cast<RequestPart>(i)), "", kDuration}
                                .Means("time of this part until the first token")
                                .FileOnly());
  table.columns.push_back(Col{"first_step", "first step", kCount}
                              .Means("number of its first step, as on the screens, from 1")
                              .GivesWay(Col::kTurns));
  table.columns.push_back(Col{"last_step", "last step", kCount}
                              .Means("number of the step of its last token")
                              .GivesWay(Col::kTurns));
  std::vector<const RequestRow*> rows;
  for (const RequestRow& row : requests.rows) rows.push_back(&row);
  if (options.slowest_first)
    std::ranges::stable_sort(rows, std::ranges::greater{}, [](const RequestRow* row) {
      return std::pair(row->inside(), row->e2e);
    });
  for (const RequestRow* one : rows) {
    const RequestRow& row = *one;
    std::vector<Cell> cells = {row.id,
                               row.worker,
                               row.scenario,
                               std::string(RequestStatusId(row)),
                               std::string(RequestLacksId(row.lacks)),
                               CellOf(row.prompt_tokens),
                               CountCell(row.tokens),
                               row.ttft ? Cell(row.ttft->ns) : Cell(),
                               row.e2e.ns};
    AddPartCells(row.parts, cells);
    if (row.ttft) {
      AddPartCells(row.ttft_parts, cells);
    } else {
      cells.resize(cells.size() + kRequestParts);
    }
    cells.push_back(Number(row.steps_known, row.first_step));
    cells.push_back(Number(row.steps_known, row.last_step));
    table.Add(std::move(cells), row.whole ? Paint::kPlain : Paint::kYellow);
  }
  return table;
}

Table RequestGroupsTable(const RequestAnalysis& requests, std::string title) {
  std::vector<const RequestGroup*> groups;
  for (const RequestGroup& band : requests.bands) groups.push_back(&band);
  for (const RequestGroup& scenario : requests.scenarios) groups.push_back(&scenario);
  RequestParts sums;
  for (const RequestGroup* group : groups) sums.Add(group->parts);
  Table table{
      "request_bands",
      {Col{"", std::move(title), kText}.ScreenOnly(),
       Col{"scenario", "", kText}.Means("name of the scenario; empty for a band").FileOnly(),
       Col{"from", "", kNumber}.FileOnly(), Col{"to", "", kNumber}.FileOnly(),
       Col{"count", "n", kCount}, Col{"tokens", "tokens", kNumber},
       Col{"e2e_ns", "E2E", kDuration}.UnitGroup(1)},
      {}};
  AddPartColumns(table, sums, "mean time of this part");
  for (const RequestGroup* group : groups) {
    std::vector<Cell> cells = {GroupName(*group),
                               group->scenario,
                               group->from,
                               group->to,
                               CountCell(group->count),
                               group->count == 0 ? Cell() : Cell(group->tokens),
                               group->count == 0 ? Cell() : Cell(group->e2e().ns)};
    if (group->count == 0) {
      cells.resize(cells.size() + kRequestParts);
    } else {
      AddPartCells(group->parts, cells);
    }
    table.Add(std::move(cells));
  }
  return table;
}

Table RequestsBesideTable(const std::vector<const RequestRow*>& rows,
                          const std::vector<std::string>& names) {
  RequestParts sums;
  for (const RequestRow* row : rows) sums.Add(row->parts);
  Table table{"request_parts", {Col{"part", "part", kText}}, {}};
  for (const std::string& name : names) {
    table.columns.push_back(Col{name + "_ns", name, kDuration}.Adds().UnitGroup(1));
    table.columns.push_back(Col{name + "_share", "share", kShare}.Adds());
  }
  table.columns.push_back(Col{"meaning", "what", kText}.Stretches());
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (sums.ns[i].ns == 0) continue;
    const auto part = static_cast<RequestPart>(i);
    std::vector<Cell> cells = {std::string(RequestPartId(part))};
    for (const RequestRow* row : rows) {
      cells.emplace_back(row->parts.ns[i].ns);
      cells.push_back(row->e2e.ns == 0 ? Cell()
                                       : Cell(static_cast<double>(row->parts.ns[i].ns) /
                                              static_cast<double>(row->e2e.ns)));
    }
    cells.emplace_back(std::string(MeaningOf(part)));
    table.Add(std::move(cells));
  }
  return table;
}

}  // namespace tacho
