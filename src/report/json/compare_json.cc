#include "report/json/compare_json.h"

#include <array>

#include "report/json/analyze_json.h"
#include "report/words/block_words.h"
#include "report/words/compare_words.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

void WriteChange(JsonWriter& json, const Change& change) {
  json.Fields("base", change.base, "new", change.now, "difference", change.difference());
  if (change.half_width) {
    json.Fields("low", change.difference() - *change.half_width, "high",
                change.difference() + *change.half_width, "beyond_noise", change.IsBeyondNoise());
  }
  json.Field("relative", change.relative());
}

void WriteNamed(JsonWriter& json, std::string_view key, const std::vector<NamedChange>& rows) {
  json.Rows(key, rows, [&](const NamedChange& row) {
    json.Field("name", row.name);
    WriteChange(json, row.change);
  });
}

void WriteWaterfall(JsonWriter& json, const Waterfall& fall) {
  json.BeginObject("waterfall");
  json.Fields("base_ns", fall.base, "new_ns", fall.now);
  json.Rows("parts", fall.bars, [&](const Waterfall::Bar& bar) {
    json.Fields("name", bar.name, "ns", bar.ns, "beyond_noise", bar.beyond_noise);
  });
  json.End();
}

void WriteKernels(JsonWriter& json, const std::vector<KernelChange>& kernels) {
  json.Rows("kernels", kernels, [&](const KernelChange& kernel) {
    json.Fields("name", kernel.name, "category", kernel.category, "kind",
                KernelChangeName(kernel.kind), "base_calls", kernel.base_calls, "new_calls",
                kernel.now_calls);
    WriteChange(json, kernel.time);
  });
}

void WriteSide(JsonWriter& json, std::string_view key, const SideFacts& facts) {
  json.BeginObject(key);
  json.Fields("runs", facts.runs, "ranks", facts.ranks, "engine", UnlessEmpty(facts.engine),
              "engine_version", UnlessEmpty(facts.version), "gpus", UnlessEmpty(facts.gpus),
              "recorded_with", UnlessEmpty(facts.options), "on_host", facts.on_host);
  json.List("names", facts.names);
  json.List("paths", facts.paths);
  json.End();
}

void WriteOf(JsonWriter& json, std::string_view key, const Change& change) {
  json.BeginRow(key);
  WriteChange(json, change);
  json.End();
}

void WriteBlocks(JsonWriter& json, const BlocksChange& blocks) {
  json.Field("no_blocks", UnlessEmpty(blocks.cannot_tell));
  if (!blocks.compared()) return;
  json.BeginObject("step_work");
  json.Fields("base_steps", blocks.steps[0], "new_steps", blocks.steps[1]);
  WriteOf(json, "span", blocks.span);
  WriteOf(json, "device", blocks.device);
  WriteOf(json, "gap", blocks.gap);
  WriteOf(json, "overlap", blocks.overlap);
  WriteOf(json, "work", blocks.work);
  json.End();
  json.Objects("blocks", blocks.blocks, [&](const BlockChange& block) {
    json.Fields("id", LayerBlockId(block.block), "layers", block.layers, "beyond_noise",
                block.IsBeyondNoise());
    WriteOf(json, "device", block.device);
    WriteOf(json, "gap", block.gap);
    WriteOf(json, "overlap", block.overlap);
    json.Rows("changed_layers", block.changed, [&](const BlockChange::Layer& layer) {
      json.Field("index", layer.index);
      WriteChange(json, layer.device);
    });
  });
}

void WritePhase(JsonWriter& json, const PhaseChange& phase) {
  json.Fields("phase", PhaseName(phase.phase), "base_steps", phase.steps[0], "new_steps",
              phase.steps[1], "base_steps_shared", phase.shared_steps[0], "new_steps_shared",
              phase.shared_steps[1], "cannot_tell", UnlessEmpty(phase.cannot_tell));
  if (!phase.cannot_tell.empty()) return;
  WriteWaterfall(json, WaterfallOf(phase));
  json.Rows("batches", phase.batches, [&](const BatchChange& batch) {
    json.Fields("batch", BatchName(batch.batch), "base_steps", batch.steps[0], "new_steps",
                batch.steps[1]);
    WriteChange(json, batch.time);
  });
  WriteKernels(json, phase.kernels);
  json.Rows("renamed", phase.renamed, [&](const RenamedKernel& pair) {
    json.Fields("before", pair.before, "after", pair.after, "reason", pair.reason);
  });
  WriteBlocks(json, phase.blocks);
}

void WriteCollectives(JsonWriter& json, const CollectiveChange& change) {
  json.BeginObject("collectives");
  WriteOf(json, "time", change.time);
  WriteOf(json, "transfer", change.transfer);
  WriteOf(json, "waiting", change.waits);
  json.Objects("ranks", change.ranks, [&](const CollectiveChange::OfRank& rank) {
    json.Fields("name", rank.name, "cause", rank.main.Id());
    WriteOf(json, "caused", rank.caused);
    WriteOf(json, "late", rank.late);
  });
  json.End();
}

std::string_view OutcomeName(GateResult::Outcome outcome) {
  constexpr std::array<std::string_view, 3> kNames = {"passed", "failed", "inconclusive"};
  return kNames[static_cast<size_t>(outcome)];
}

}  // namespace

std::string CompareJson(const RunChanges& changes, const std::vector<GateResult>& gates,
                        bool comparable, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version);
  json.Fields("comparable", comparable, "verdict", CompareVerdict(changes));
  if (changes.across) {
    const auto [base, now] = SideNames(changes);
    json.BeginRow("across");
    json.Fields("base", base, "new", now);
    json.End();
    json.Rows("left_out", changes.left_out, [&](const LeftOut& left_out) {
      json.Fields("what", left_out.what, "why", left_out.why);
    });
  }
  WriteSide(json, "base", changes.base);
  WriteSide(json, "new", changes.now);
  json.Rows("obstacles", changes.obstacles, [&](const Obstacle& obstacle) {
    json.Fields("id", obstacle.id, "text", obstacle.text);
  });
  json.List("remarks", changes.remarks);
  json.Rows("gates", gates, [&](const GateResult& gate) {
    json.Fields("gate", gate.gate, "metric", gate.metric, "outcome", OutcomeName(gate.outcome),
                "text", GateText(gate));
    if (gate.change) WriteChange(json, *gate.change);
  });
  json.Rows("metrics", MetricsOf(changes), [&](const MetricChange& metric) {
    json.Field("name", metric.name);
    WriteChange(json, metric.change);
  });
  json.Objects("phases", changes.phases,
               [&](const PhaseChange& phase) { WritePhase(json, phase); });
  if (changes.whole) {
    json.BeginObject("whole");
    WriteWaterfall(json, WaterfallOf(*changes.whole));
    WriteKernels(json, changes.whole->rows);
    json.End();
  }
  if (changes.collectives) WriteCollectives(json, *changes.collectives);
  WriteNamed(json, "load", changes.load);
  WriteNamed(json, "launches", changes.launches);
  WriteNamed(json, "operators", changes.operators);
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
