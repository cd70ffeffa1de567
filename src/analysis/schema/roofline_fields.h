#pragma once

#include "analysis/roofline/roofline.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) of a roofline, to write and to read, as conditions.h says.
namespace tacho::schema {

void RoofFields(auto& out, auto& of) {
  out.Field(Key{"steps", "number of steps that are added up"}, of.steps);
  out.Field(Key{"flops", "floating-point operations of their work"}, of.flops);
  out.Field(Key{"bytes", "bytes that their work must read and write in the device's memory"},
            of.bytes);
  out.Field(Key{"link_bytes", "bytes that all-reduces must move over the links of the rank"},
            of.link_bytes);
  out.Field(Key{"ns", "time of the device"}, of.time);
  out.Field(Key{"roof_ns", "the least time that the work takes at the peaks"}, of.roof);
  out.Field(Key{"mfu", "share of `ns` that the FLOPs take at the peak of their number format"},
            of.mfu);
  out.Field(Key{"mbu", "share of `ns` that the bytes take at the memory's peak"}, of.mbu);
}

void Gemms(auto& out, auto& gemms) {
  out.Rows(
      Key{"gemms",
          "matrix products of operators by sizes and types, longest first; absent if no shapes "
          "were recorded, or no operator launched any"},
      gemms, [&](auto& row) {
        out.Field(Key{"op", "name of the operator: `aten::mm`"}, row.op);
        out.Field(Key{"type", "type of the numbers: `c10::BFloat16`; of both matrices: `A x B`"},
                  row.type);
        out.Field(Key{"batch", "number of products in a call"}, row.batch);
        out.Field(Key{"m", "rows of the left matrix, and of the product"}, row.m);
        out.Field(Key{"n", "columns of the right matrix, and of the product"}, row.n);
        out.Field(Key{"k", "columns of the left matrix, rows of the right one"}, row.k);
        out.Field(Key{"count", "calls whose device time is known"}, row.count);
        out.Field(Key{"device_ns", "time of the work that they launched themselves"}, row.device);
        out.Field(Key{"flops", "2 `batch` `m` `n` `k` for each call"}, row.flops);
        out.Field(Key{"bytes", "bytes of both matrices and the product, for all calls"}, row.bytes);
        if (IsThere(out, "roof_ns", row.roof.has_value())) {
          Ensure(out, row.roof);
          out.Field(Key{"roof_ns",
                        "the least time that they take at the peaks of the accelerator; absent if "
                        "it is not known, or they were faster, because matrices were in a cache"},
                    row.roof->time);
          out.Field(Key{"mfu", "share of `device_ns` that the FLOPs take at the peak"},
                    row.roof->mfu);
          out.Field(Key{"mbu", "share of `device_ns` that the bytes take at the memory's peak"},
                    row.roof->mbu);
        }
      });
}

// Results of older versions do not have these.
void RefusalFields(auto& out, auto& roofline) {
  if (!IsThere(out, "refused", true)) return;
  out.Field(Key{"format_kernel",
                "name of a kernel that computes in 8 bits where the model's configuration has 16 "
                "(`number-format`); empty: no such kernel"},
            roofline.format_kernel);
  out.Field(Key{"unknown_format",
                "number format that the engine was told and that has no formulas "
                "(`number-format`), such as `dtype float32`; empty: no such format"},
            roofline.unknown_format);
  out.Objects(
      Key{"refused", "phases and blocks that have a formula, but no figures"}, roofline.refused,
      [&](auto& of) {
        out.Field(Key{"phase", "`prefill`, `decode`, `mixed` or `other`"},
                  ByName(of.phase, PhaseName, kPhaseCount));
        out.Field(Key{"id", "name of the block, as in `layers`; empty: the phase as a whole"},
                  of.block);
        out.Field(Key{"why",
                      "an id as in `missing`; `fit`, where `missing` does not have it: attention, "
                      "whose lengths are means, would be faster than the hardware"},
                  ByName(of.why, RooflineLackId, static_cast<size_t>(RooflineLack::kCount)));
      });
}

void RooflineFields(auto& out, auto& roofline) {
  out.BeginObject(
      Key{"roofline",
          "distance of the steps from the limits of the hardware; absent if the model is not "
          "known (--model-config)"});
  out.Field(Key{"gpu", "accelerator whose peaks are used; empty: not known"}, roofline.gpu);
  out.BeginObject(Key{"peak", "peak rates of the accelerator, a second; 0: none"});
  out.Field(Key{"flops_16_bit", "FLOPs in 16-bit formats"}, roofline.peak_flops[0]);
  out.Field(Key{"flops_8_bit", "FLOPs in 8-bit formats"}, roofline.peak_flops[1]);
  out.Field(Key{"flops_4_bit", "FLOPs in 4-bit formats"}, roofline.peak_flops[2]);
  out.Field(Key{"memory_bytes", "bytes of its memory"}, roofline.peak_bytes_s);
  out.Field(
      Key{"link_bytes", "bytes of its links to the other devices of a node, in one direction"},
      roofline.peak_link_bytes_s);
  out.End();
  out.BeginObject(Key{"model", "the model, by its configuration"});
  out.Field(Key{"type", "`model_type` of its configuration"}, roofline.model);
  out.Field(Key{"layers", "number of its layers; with a pipeline: of those of the rank's stage"},
            roofline.layers);
  if (IsThere(out, "stages", true))
    out.Field(Key{"stages", "number of stages of the engine's pipeline"}, roofline.stages);
  out.Field(Key{"tensor_ranks", "number of ranks that share each matrix; 0: not known"},
            roofline.ranks);
  out.End();
  out.Objects(Key{"phases", "phases of the steps; empty: see `missing`"}, roofline.phases,
              [&](auto& of) {
                out.Field(Key{"phase", "`prefill`, `decode`, `mixed` or `other`"},
                          ByName(of.phase, PhaseName, kPhaseCount));
                RoofFields(out, of);
              });
  out.Objects(
      Key{"blocks", "blocks of the model whose work is known, by phase, all layers together"},
      roofline.blocks, [&](auto& of) {
        out.Field(Key{"phase", "`prefill`, `decode`, `mixed` or `other`"},
                  ByName(of.phase, PhaseName, kPhaseCount));
        out.Field(Key{"id", "name of the block, as in `layers`"},
                  ByName(of.block, LayerBlockId, kLayerBlocks));
        RoofFields(out, of);
      });
  out.Rows(Key{"missing", "facts that are not known, so that figures are absent"}, roofline.missing,
           [&](auto& lack) {
             out.Field(Key{"id",
                           "`gpu`, `ranks` (of tensor parallelism), `number-format`, `steps` (with "
                           "all their work), `one-device`, `tokens`, `lengths` (of requests: no "
                           "attention, no phases), `layers`, `same-model` (the trace has other "
                           "layers), `fit` (work would be faster than the hardware), "
                           "`routed-tokens` (of experts), `pipeline-stage` (which layers it has), "
                           "`links` (their peak)"},
                       ByName(lack, RooflineLackId, static_cast<size_t>(RooflineLack::kCount)));
           });
  RefusalFields(out, roofline);
  out.End();
}

}  // namespace tacho::schema
