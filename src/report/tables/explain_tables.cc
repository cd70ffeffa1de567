#include "report/tables/explain_tables.h"

#include <algorithm>
#include <utility>

#include "report/words/request_words.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

Cell ShareCell(DurationNs part, DurationNs whole) {
  if (whole.ns <= 0) return {};
  return static_cast<double>(part.ns) / static_cast<double>(whole.ns);
}

// How many requests and tokens are in a step, by its label.
std::vector<Cell> LabelCells(const StepLabel& label) {
  return {UnlessNegative(label.context_requests), UnlessNegative(label.context_tokens),
          UnlessNegative(label.generation_requests)};
}

void AddLabelColumns(Table& table) {
  table.columns.push_back(Col{"context_requests", "ctx req", kCount});
  table.columns.push_back(Col{"context_tokens", "ctx tok", kCount});
  table.columns.push_back(Col{"generation_requests", "gen req", kCount});
}

std::string_view RoleText(StepRole role) {
  switch (role) {
    case StepRole::kReads:
      return "reads a part of its prompt";
    case StepRole::kReadsAndMakes:
      return "reads its prompt, first token";
    case StepRole::kMakes:
      break;
  }
  return "makes a token";
}

// The largest part of a wait, and the next one if it is at least a quarter of the wait: "decode,
// wait-prefill".
std::string LargestParts(const RequestParts& parts) {
  constexpr int64_t kMuch = 4;  // one part in four
  std::vector<size_t> order;
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (parts.ns[i].ns > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t i) { return parts.ns[i]; });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
    if (i > 0 && parts.ns[order[i]].ns * kMuch < parts.Sum().ns) break;
    text += (i == 0 ? "" : ", ") + std::string(RequestPartId(static_cast<RequestPart>(order[i])));
  }
  return text;
}

}  // namespace

Table RequestPartsTable(const RequestRow& row) {
  Table table{
      "request_parts",
      {Col{"part", "part", kText}, Col{"ttft_part_ns", "TTFT", kDuration}.Adds().UnitGroup(1),
       Col{"ttft_share", "TTFT", kShare}.Adds(),
       Col{"e2e_part_ns", "E2E", kDuration}.Adds().UnitGroup(1),
       Col{"e2e_share", "E2E", kShare}.Adds(), Col{"", "", kBar}.ScreenOnly()},
      {}};
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (row.parts.ns[i].ns == 0 && row.ttft_parts.ns[i].ns == 0) continue;
    const auto part = static_cast<RequestPart>(i);
    std::vector<Cell> cells = {std::string(RequestPartId(part))};
    // A part without time is blank if some time is unknown: it may be of that part.
    const auto add = [&](const RequestParts& parts, DurationNs whole) {
      const bool known = parts.ns[i].ns > 0 || parts[RequestPart::kUnknown].ns == 0;
      cells.push_back(known ? Cell(parts.ns[i].ns) : Cell());
      cells.push_back(known ? ShareCell(parts.ns[i], whole) : Cell());
    };
    if (row.ttft) {
      add(row.ttft_parts, *row.ttft);
    } else {
      cells.resize(3);
    }
    add(row.parts, row.e2e);
    cells.push_back(cells.back());
    table.Add(std::move(cells));
  }
  return table;
}

Table ReadsTable(const RequestDetail& detail, const StepTable& steps, TimeNs origin) {
  Table table{"prompt_reads",
              {Col{"phase", "step", kText}, Col{"step", "#", kCount},
               Col{"at_ns", "at", kDuration}.UnitGroup(1)},
              {}};
  AddLabelColumns(table);
  for (const uint32_t number : detail.reads) {
    if (number >= steps.steps.size()) continue;
    const Step& step = steps.steps[number];
    std::vector<Cell> cells = {std::string(PhaseName(step.label.phase)),
                               CountCell(number + uint64_t{1}), (step.when.start - origin).ns};
    std::ranges::move(LabelCells(step.label), std::back_inserter(cells));
    table.Add(std::move(cells));
  }
  return table;
}

namespace {

// The label of `step`, plus the prompts of all steps since the one that made the previous token. An
// engine that reads prompts in steps of their own delays the answer by those steps.
StepLabel LabelSince(const RequestDetail::Chunk& before, uint32_t step, const StepTable& steps) {
  StepLabel label = steps.steps[step].label;
  if (!before.step || before.step != before.step_at_most || label.context_tokens < 0) return label;
  for (uint32_t i = *before.step + 1; i < step; ++i) {
    label.context_requests += std::max<int64_t>(0, steps.steps[i].label.context_requests);
    label.context_tokens += std::max<int64_t>(0, steps.steps[i].label.context_tokens);
  }
  return label;
}

}  // namespace

Table TokenGapsTable(const RequestDetail& detail, const StepTable& steps, TimeNs origin) {
  Table table{"token_gaps",
              {Col{"token", "token", kCount}, Col{"at_ns", "seen at", kDuration}.UnitGroup(1),
               Col{"gap_ns", "waited", kDuration}, Col{"step", "step", kCount}},
              {}};
  AddLabelColumns(table);
  table.columns.push_back(Col{"parts", "mostly", kText}.Stretches());
  // Index of a chunk, and the number of its last token.
  std::vector<std::pair<size_t, uint64_t>> order;
  uint64_t tokens = 0;
  for (size_t i = 0; i < detail.chunks.size(); ++i) {
    tokens += detail.chunks[i].tokens;
    if (i > 0) order.emplace_back(i, tokens);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](const auto& of) { return detail.chunks[of.first].gap.Sum(); });
  for (const auto& [number, token] : order) {
    const RequestDetail::Chunk& chunk = detail.chunks[number];
    const bool known =
        chunk.step && chunk.step == chunk.step_at_most && *chunk.step < steps.steps.size();
    std::vector<Cell> cells = {CountCell(token), (chunk.seen - origin).ns, chunk.gap.Sum().ns,
                               known ? CountCell(*chunk.step + uint64_t{1}) : Cell()};
    std::ranges::move(known ? LabelCells(LabelSince(detail.chunks[number - 1], *chunk.step, steps))
                            : std::vector<Cell>(3),
                      std::back_inserter(cells));
    cells.emplace_back(LargestParts(chunk.gap));
    table.Add(std::move(cells));
  }
  return table;
}

Table CellsTable(const StepCells& cells, size_t step) {
  Table table{
      "step_device",
      {Col{"what", "what", kText}, Col{"before_ns", "before it", kDuration}.Adds().UnitGroup(1),
       Col{"work_ns", "in it", kDuration}.Adds().UnitGroup(1), Col{"share", "of it", kShare}.Adds(),
       Col{"", "", kBar}.ScreenOnly()},
      {}};
  if (!cells.HasCells() || !cells.steps[step].known) return table;
  const DurationNs before = cells.TimeBefore(step).length(), work = cells.steps[step].work.length();
  const auto add = [&](std::string name, DurationNs in_before, DurationNs in_work) {
    if (in_before.ns == 0 && in_work.ns == 0) return;
    table.Add({std::move(name), in_before.ns, in_work.ns, ShareCell(in_work, work),
               ShareCell(in_work, work)});
  };
  const auto rest = [](const StepCell& cell, DurationNs length) {
    length -= cell.comm + cell.copy;
    for (const DurationNs idle : cell.idle) length -= idle;
    return length;
  };
  const StepCell &first = cells.Before(step), &of = cells.Of(step);
  add("compute", rest(first, before), rest(of, work));
  add("exposed communication", first.comm, of.comm);
  add("exposed copies", first.copy, of.copy);
  for (size_t i = 0; i < of.idle.size(); ++i)
    add("idle: " + std::string(IdleCauseId(static_cast<IdleCause>(i))), first.idle[i], of.idle[i]);
  return table;
}

Table RequestsInStepTable(const RequestAnalysis& requests,
                          const std::vector<RequestInStep>& in_it) {
  Table table{"requests_in_step",
              {Col{"id", "request", kText}.Stretches().Distinct(16),
               Col{"role", "in this step", kText}, Col{"scenario", "scenario", kText}.GivesWay(),
               Col{"tokens", "tokens", kCount}, Col{"ttft_ns", "TTFT", kDuration}.UnitGroup(1),
               Col{"e2e_ns", "E2E", kDuration}.UnitGroup(1)},
              {}};
  for (const auto& [at, role] : in_it) {
    const RequestRow& row = requests.rows[at];
    table.Add({row.id, std::string(RoleText(role)), row.scenario, CountCell(row.tokens),
               row.ttft ? Cell(row.ttft->ns) : Cell(), row.e2e.ns});
  }
  return table;
}

}  // namespace tacho
