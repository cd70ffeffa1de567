#include "report/documents/model_parts.h"

#include <utility>

#include "report/tables/result_tables.h"
#include "report/words/layer_words.h"
#include "report/words/roofline_words.h"
#include "report/words/speculation_words.h"

namespace tacho {
namespace {

bool HasFigures(const Roofline& roofline) {
  return !roofline.phases.empty() || !roofline.blocks.empty();
}

void AddLayers(Document& document, const TraceAnalysis& trace, const std::string& of) {
  const PhaseLayers* phase = MainPhaseOf(trace.layers);
  if (phase == nullptr) return;
  document.AddPart(TitledTable{.table = LayerBlocksTable(trace.layers, true, "block"),
                               .title = "Blocks of the model" + of,
                               .screen_title = "MODEL" + of,
                               .markdown_rows = kLayerBlocks});
  document.Add(Paragraph{LayersText(trace.layers, *phase), Paint::kDim});
}

// At most three rows.
void AddOpportunities(Document& document, const std::vector<Opportunity>& opportunities,
                      const std::string& of) {
  Table table = OpportunitiesTable(opportunities, true, "could be");
  if (table.rows.empty()) return;
  if (table.rows.size() > 3) table.rows.resize(3);
  document.AddPart(TitledTable{.table = std::move(table),
                               .title = "Room to fuse and to overlap" + of,
                               .screen_title = "ROOM" + of});
  document.Add(
      Paragraph{"a step; ceilings, which do not add up; gaps: what is saved if only the gaps go",
                Paint::kDim});
}

// The blocks are those of the phase that takes most time.
void AddRoofline(Document& document, const TraceAnalysis& trace, const std::string& of) {
  const Roofline& roofline = trace.roofline;
  if (!roofline.wanted()) return;
  if (!HasFigures(roofline)) {
    document.AddPart(Paragraph{"no roofline: " + WhyNoRoofline(roofline), Paint::kDim});
    return;
  }
  const PhaseLayers* const main = MainPhaseOf(trace.layers);
  document.AddPart(TitledTable{
      .table =
          RooflineTable(roofline, main == nullptr ? std::optional<Phase>() : main->phase, "phase"),
      .title = "Roofline" + of,
      .screen_title = "ROOFLINE" + of});
  AddRooflineRemark(document, roofline);
}

}  // namespace

void AddRooflineRemark(Document& document, const Roofline& roofline) {
  if (!HasFigures(roofline)) return;
  std::string text = RooflineText(roofline);
  if (const std::string missing = MissingText(roofline); !missing.empty()) text += "; " + missing;
  document.Add(Paragraph{std::move(text), Paint::kDim});
}

void AddGemmsRemark(Document& document, const TraceAnalysis& trace) {
  if (trace.kernels.rows.empty()) return;
  if (!trace.ops.gemms.empty() && !HasFigures(trace.roofline))
    document.Add(Paragraph{"no roofline of phases and blocks: " + WhyNoRoofline(trace.roofline),
                           Paint::kDim});
  document.Add(Paragraph{GemmsText(trace), Paint::kDim});
}

void AddModel(Document& document, const TraceAnalysis& trace, const std::string& rank) {
  const std::string of = rank.empty() ? "" : ", " + rank;
  AddLayers(document, trace, of);
  AddOpportunities(document, trace.opportunities, of);
  if (const std::string text = SpeculationText(trace.speculation); !text.empty())
    document.Add(Paragraph{text});
  AddRoofline(document, trace, of);
}

}  // namespace tacho
