// The table `layers`: the blocks of each layer of the model, and those outside of layers.
#include "query/query_table.h"

namespace tacho {
namespace {

// A row of the table.
struct BlockRow {
  const PhaseLayers* phase = nullptr;
  const LayerRow* layer = nullptr;  // null: outside of layers
  const BlockTime* block = nullptr;
};

size_t RowsOf(const PhaseLayers& phase) {
  size_t rows = phase.outside.size();
  for (const LayerRow& layer : phase.layers) rows += layer.blocks.size();
  return rows;
}

// Cost: O(phases x layers).
BlockRow RowAt(const QueryRow& row) {
  static const PhaseLayers kNoPhase;
  static const BlockTime kNoBlock;
  size_t at = row.row;
  for (const PhaseLayers& phase : row.trace->analysis().layers.phases) {
    for (const LayerRow& layer : phase.layers) {
      if (at < layer.blocks.size()) return {&phase, &layer, &layer.blocks[at]};
      at -= layer.blocks.size();
    }
    if (at < phase.outside.size()) return {&phase, nullptr, &phase.outside[at]};
    at -= phase.outside.size();
  }
  return {&kNoPhase, nullptr, &kNoBlock};
}

}  // namespace

QueryTable LayersQueryTable() {
  return {
      .name = "layers",
      .says = "blocks of the model's layers, summed over the steps of a phase: docs/metrics.md",
      .columns = {RankColumn(), TraceColumn(), WorkerColumn(),
                  Plain("phase", "TEXT", "prefill, decode, mixed or other",
                        [](const QueryRow& row) {
                          return QueryValue(PhaseName(RowAt(row).phase->phase));
                        }),
                  Plain("steps", "INTEGER", "of the phase that are added up",
                        [](const QueryRow& row) {
                          return QueryValue(static_cast<int64_t>(RowAt(row).phase->steps));
                        }),
                  Plain("layer", "INTEGER", "from 0; NULL outside of layers",
                        [](const QueryRow& row) {
                          const LayerRow* layer = RowAt(row).layer;
                          return layer == nullptr ? QueryValue()
                                                  : QueryValue(int64_t{layer->index});
                        }),
                  Plain("kind", "TEXT", "of the layer: attention, mlp",
                        [](const QueryRow& row) {
                          const LayerRow* layer = RowAt(row).layer;
                          return layer == nullptr ? QueryValue()
                                                  : QueryValue(std::string_view(layer->kind));
                        }),
                  Plain("block", "TEXT", "norm, qkv, attention, ...",
                        [](const QueryRow& row) {
                          return QueryValue(LayerBlockId(RowAt(row).block->block));
                        }),
                  Plain("count", "INTEGER", "pieces of its work",
                        [](const QueryRow& row) {
                          return QueryValue(static_cast<int64_t>(RowAt(row).block->count));
                        }),
                  Plain(
                      "device_ns", "INTEGER", "time of its work",
                      [](const QueryRow& row) { return QueryValue(RowAt(row).block->device.ns); }),
                  Plain("gap_ns", "INTEGER", "before its work, in which nothing of the step ran",
                        [](const QueryRow& row) { return QueryValue(RowAt(row).block->gap.ns); })},
      .rows = [](const QueriedTrace& trace, uint32_t) {
        size_t rows = 0;
        for (const PhaseLayers& phase : trace.analysis().layers.phases) rows += RowsOf(phase);
        return rows;
      }};
}

}  // namespace tacho
