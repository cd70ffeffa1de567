#pragma once

#include "analysis/layers/layer_table.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) for a model's layers. conditions.h explains `out`.
namespace tacho::schema {

void BlockTimes(auto& out, const Key& key, auto& blocks) {
  out.Rows(key, blocks, [&](auto& of) {
    out.Field(Key{"id", "name of the block, e.g. `qkv`, `attention`, `mlp-down`"},
              ByName(of.block, LayerBlockId, kLayerBlocks));
    out.Field(Key{"device_ns", "time of its work"}, of.device);
    out.Field(Key{"gap_ns", "time before its work in which nothing of the step ran"}, of.gap);
    out.Field(Key{"count", "number of pieces of its work"}, of.count);
  });
}

// The sum of a figure over steps, and its deviation.
void FigureOfSteps(auto& out, const Key& time, const Key& deviation, auto& figure) {
  out.Field(time, figure.total);
  out.Field(deviation, figure.deviation);
}

void BatchesOfLayers(auto& out, auto& batches) {
  out.Objects(
      Key{"batches", "the same steps by batch, for `tacho compare`"}, batches, [&](auto& batch) {
        out.Field(Key{"phase", "phase, as in `steps.list`"},
                  ByName(batch.batch.phase, PhaseName, kPhaseCount));
        out.Field(Key{"most", "the largest size of the group, as in `step_parts.batches`"},
                  batch.batch.most);
        out.Field(Key{"steps", "number of its steps"}, batch.steps);
        auto& whole = batch.whole;
        FigureOfSteps(out, Key{"span_ns", "time from the first to the last work of each step"},
                      Key{"span_deviation_ns", "standard deviation from step to step"}, whole.span);
        FigureOfSteps(out, Key{"device_ns", "part of it with work: the sum over the blocks"},
                      Key{"device_deviation_ns", "standard deviation from step to step"},
                      whole.device);
        FigureOfSteps(out, Key{"gap_ns", "rest of it: the sum over the blocks"},
                      Key{"gap_deviation_ns", "standard deviation from step to step"}, whole.gap);
        FigureOfSteps(
            out, Key{"overlap_ns", "`work_ns` without `device_ns`: the sum over the blocks"},
            Key{"overlap_deviation_ns", "standard deviation from step to step"}, whole.overlap);
        FigureOfSteps(out, Key{"work_ns", "sum of the durations of all work"},
                      Key{"work_deviation_ns", "standard deviation from step to step"}, whole.work);
        out.Objects(Key{"blocks", "blocks of the model"}, batch.blocks, [&](auto& of) {
          out.Field(Key{"id", "name of the block"}, ByName(of.block, LayerBlockId, kLayerBlocks));
          FigureOfSteps(out, Key{"device_ns", "time of its work"},
                        Key{"device_deviation_ns", "standard deviation from step to step"},
                        of.device);
          FigureOfSteps(out, Key{"gap_ns", "time before its work in which nothing of the step ran"},
                        Key{"gap_deviation_ns", "standard deviation from step to step"}, of.gap);
          FigureOfSteps(out,
                        Key{"overlap_ns",
                            "time of its work while work that began earlier ran, too; not in "
                            "`device_ns`"},
                        Key{"overlap_deviation_ns", "standard deviation from step to step"},
                        of.overlap);
          out.List(Key{"layers_ns",
                       "`device_ns` by layer, from layer 0; empty for a block outside of layers"},
                   of.layers);
          out.List(Key{"layers_deviation_ns", "standard deviations of these"}, of.layer_deviations);
        });
        if constexpr (kReads<decltype(out)>) {
          if (!IsConsistent(batch)) out.Refuse("blocks", "blocks that add up to the steps");
        }
      });
}

void Layers(auto& out, auto& layers) {
  out.BeginObject(Key{"layers",
                      "layers of the model, found by the order of the kernels; times are sums over "
                      "the steps"});
  out.Field(Key{"state",
                "`found`, or why there are none: `no-steps`, `no-work` (no step has all its work), "
                "`no-mixer` (no kernel is known as attention or a state space), `no-repetition`, "
                "`irregular` (another model in the same step, or layers that are not alike) or "
                "`times-refused`"},
            ByName(layers.state, LayersStateId, static_cast<size_t>(LayersState::kCount)));
  out.Field(Key{"count", "number of layers of most steps"}, layers.count);
  out.Field(Key{"as_configured", "`true`: the model's configuration has as many layers"},
            UnlessIs(layers.as_configured, false));
  if (IsThere(out, "module_same_ns", layers.modules.any())) {
    out.Field(Key{"module_same_ns",
                  "time of the layers' work that was launched inside of a module "
                  "with the layer's number; only if Python frames name modules"},
              layers.modules.same);
    out.Field(Key{"module_other_ns", "the same inside of a module with another number"},
              layers.modules.other);
  }
  out.Field(Key{"steps", "number of steps with so many layers, by device"}, layers.steps);
  out.Field(Key{"left_out",
                "number of steps with another number of layers, whose times are left "
                "out"},
            layers.left_out);
  out.Field(
      Key{"unknown", "number of steps whose work is lost or cut by the window; left out, too"},
      layers.unknown);
  out.Field(Key{"device_ns", "time of the work of all these steps"}, layers.device);
  out.Field(Key{"in_steps_ns",
                "part of it in steps with `count` layers: the sum of all "
                "`device_ns` below"},
            layers.in_steps);
  out.Objects(Key{"phases", "phases of the steps"}, layers.phases, [&](auto& of) {
    out.Field(Key{"phase", "`prefill`, `decode`, `mixed` or `other`"},
              ByName(of.phase, PhaseName, kPhaseCount));
    out.Field(Key{"steps", "number of its steps"}, of.steps);
    out.Objects(Key{"list", "layers, in order"}, of.layers, [&](auto& layer) {
      out.Field(Key{"index", "number of the layer, from 0"}, layer.index);
      out.Field(Key{"kind",
                    "kind of the layer: its mixer and its MLP, such as `attention, mlp`; a number "
                    "at the end distinguishes layers whose kernels differ"},
                layer.kind);
      out.Field(Key{"device_ns", "time of its work: the sum over its blocks"}, layer.device);
      out.Field(Key{"gap_ns", "time before its work in which nothing of the step ran"}, layer.gap);
      BlockTimes(out, Key{"blocks", "blocks of the layer"}, layer.blocks);
    });
    BlockTimes(out, Key{"outside", "blocks outside of all layers"}, of.outside);
    if (IsThere(out, "batches", !of.batches.empty())) BatchesOfLayers(out, of.batches);
  });
  out.End();
}

}  // namespace tacho::schema
