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
  });
  out.End();
}

}  // namespace tacho::schema
