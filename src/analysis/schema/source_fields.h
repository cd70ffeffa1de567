#pragma once

#include "analysis/schema/table_fields.h"
#include "analysis/sources/source_table.h"

// The fields of schema 1 (docs/json.md) for the code that launches the kernels. conditions.h
// explains `out`.
namespace tacho::schema {

void Sources(auto& out, auto& sources) {
  out.BeginObject(Key{"sources", "the Python code that launches the work of the trace"});
  out.Field(Key{"state",
                "`found`, `no-frames` (no Python frame is known that launched work) or `no-match` "
                "(the mapping recording has no kernel of the same name)"},
            ByName(sources.state, SourcesStateId, static_cast<size_t>(SourcesState::kCount)));
  out.Field(Key{"map", "the mapping recording; absent: the trace itself has the frames"},
            UnlessIs(sources.map, ""));
  out.Field(Key{"device_ns", "sum over all rows"}, sources.device);
  out.Field(Key{"one_ns", "part of it in rows with one site"}, sources.one);
  out.Field(Key{"several_ns", "part of it in rows with several sites"}, sources.several);
  out.Field(Key{"by_category_ns", "part of `one_ns` + `several_ns` with evidence `category`"},
            sources.by_category);
  out.Objects(
      Key{"rows", "kernels by block of the model, longest first"}, sources.rows, [&](auto& row) {
        out.Field(Key{"kernel", "name of the kernel"}, row.kernel);
        if (IsThere(out, "block", row.block.has_value())) {
          Ensure(out, row.block);
          out.Field(Key{"block", "block of the model; absent: work outside of known layers"},
                    ByName(*row.block, LayerBlockId, kLayerBlocks));
        }
        out.Field(Key{"count", "number of its pieces of work"}, row.count);
        out.Field(Key{"device_ns", "sum of their durations"}, row.device);
        out.Field(Key{"gap_ns", "time right before them in which the device ran nothing"}, row.gap);
        out.Field(
            Key{"evidence",
                "`kernel`: the frames launched this kernel in this block (without layers: in any); "
                "`category`: other kernels of its category in this block; empty: "
                "nothing"},
            ByName(row.evidence, SourceEvidenceId, static_cast<size_t>(SourceEvidence::kCount)));
        out.Objects(Key{"sites",
                        "code that launches it, most often first; several: it is one of "
                        "them"},
                    row.sites, [&](auto& site) {
                      out.Field(Key{"frame", "innermost frame of user code"}, site.frame);
                      out.List(Key{"modules", "each nn.Module around it"}, site.modules);
                    });
        out.Field(Key{"more_sites", "number of further sites"},
                  UnlessIs(row.more_sites, uint64_t{0}));
      });
  out.End();
}

}  // namespace tacho::schema
