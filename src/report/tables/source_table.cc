#include <utility>
#include <vector>

#include "base/share.h"
#include "report/tables/result_tables.h"
#include "report/words/kernel_names.h"
#include "report/words/source_words.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

constexpr size_t kNarrowestFrame = 36;

}  // namespace

Table SourcesTable(const SourceTable& sources, const TextStyle& style, std::string title) {
  Col launched_by = Col{"", "launched by", kText}.ScreenOnly().Stretches();
  launched_by.narrowest = kNarrowestFrame;
  Table table{"sources",
              {Col{"kernel"}.FileOnly(),
               Col{"", std::move(title), kText}.ScreenOnly().Stretches().Distinct(20),
               Col{"block", "block", kText}.Means("block of the model").GivesWay(),
               Col{"device_ns", "total", kDuration}.Adds().UnitGroup(1),
               Col{"share", "", kShare}.Means("share of the time of all rows").FileOnly(),
               Col{"gap_ns", "gaps", kDuration}.Adds().UnitGroup(1).GivesWay(2),
               Col{"count", "count", kCount}.Adds().GivesWay(3), Col{"evidence"}.FileOnly(),
               Col{"frames"}
                   .Means("code that launches it; several, separated by ` | `: it is one of them")
                   .FileOnly(),
               std::move(launched_by), Col{"", "module", kText}.ScreenOnly().GivesWay(),
               Col{"modules", "", kText}.Means("each nn.Module around each frame").FileOnly()},
              {}};
  if (sources.state != SourcesState::kFound) return table;
  std::vector<std::string_view> in_file;
  for (const SourceRow& row : sources.rows) in_file.push_back(row.kernel);
  const std::vector<std::string> names = ShownKernelNames(in_file, style);
  for (const SourceRow& row : sources.rows) {
    const size_t i = table.rows.size();
    table.Add({row.kernel, names[i],
               row.block ? Cell(std::string(LayerBlockId(*row.block))) : Cell(), row.device.ns,
               ShareOf(row.device, sources.device), row.gap.ns, CountCell(row.count),
               std::string(SourceEvidenceId(row.evidence)), FramesText(row), ShortFramesText(row),
               ShortModulesText(row), ModulesText(row)});
  }
  return table;
}

}  // namespace tacho
