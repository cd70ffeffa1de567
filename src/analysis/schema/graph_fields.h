#pragma once

#include "analysis/graphs/graph_table.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) for replayed graphs. conditions.h explains `out`.
namespace tacho::schema {

void PaddingFields(auto& out, auto& padding) {
  out.Field(Key{"token_replays", "number of launches in steps whose tokens are known"},
            padding.replays);
  out.Field(Key{"padded_replays", "number of launches in steps of fewer tokens than `batch`"},
            padding.padded);
  out.Field(Key{"padding_tokens", "sum of `batch` minus the step's tokens over these launches"},
            padding.tokens);
  out.Field(Key{"padded_ns",
                "most that the padding cost: how much longer the padded launches took than the "
                "largest graph with room for no more than their tokens; absent if there was none"},
            padding.cost);
}

void GraphFields(auto& out, auto& graph) {
  const size_t nodes = graph.nodes.size();
  out.Field(Key{"id", "number of the graph in the file; absent if the file has none"},
            UnlessIs(graph.id, ""));
  out.Field(Key{"device", "id of its device"}, graph.device);
  out.Field(Key{"place", "number of graphs that its steps launch before it; absent if it varies"},
            graph.place);
  if (IsThere(out, "phase", graph.phase.has_value())) {
    Ensure(out, graph.phase);
    out.Field(Key{"phase", "phase of all its steps: `prefill`, `decode`, `mixed` or `other`"},
              ByName(*graph.phase, PhaseName, kPhaseCount));
  }
  out.Field(Key{"nodes", "number of its kernels, copies and memsets"}, Derived(nodes));
  out.Field(Key{"replays", "number of launches with work of all nodes"}, graph.replays);
  out.Field(Key{"partial", "number of launches with work of some nodes"}, graph.partial);
  out.Field(Key{"batch",
                "tokens that it has room for, by the grids of kernels with a block for each token; "
                "absent if these do not tell"},
            graph.batch);
  out.Field(Key{"least_tokens", "fewest tokens of one of its steps"}, graph.least_tokens);
  out.Field(Key{"most_tokens", "most tokens of one of its steps"}, graph.most_tokens);
  out.Field(Key{"device_ns", "time that the work of its `replays` ran, as a union for each"},
            graph.device_time);
  out.Field(Key{"min_ns", "time of the shortest of its `replays`"}, graph.least);
  out.Field(Key{"max_ns", "time of the longest of its `replays`"}, graph.most);
  out.Field(Key{"deviation_ns", "standard deviation of the times of its `replays`"},
            graph.deviation);
  out.Field(Key{"span_ns", "time from the first start to the last end, summed over its `replays`"},
            graph.span);
  out.Field(Key{"work_ns",
                "durations of all its work, also of `partial` launches: the sum of `total_ns` and "
                "`unplaced_ns`"},
            graph.work);
  out.Field(Key{"unplaced", "number of pieces of its work whose node is not known"},
            UnlessIs(graph.unplaced, 0U));
  out.Field(Key{"unplaced_ns", "durations of the `unplaced` pieces"},
            UnlessIs(graph.unplaced_work, DurationNs{}));
  if (IsThere(out, "token_replays", graph.padding.has_value())) {
    Ensure(out, graph.padding);
    PaddingFields(out, *graph.padding);
  }
  out.Rows(Key{"by_node", "nodes, in order of time"}, graph.nodes, [&](auto& node) {
    out.Field(Key{"name", "index of its name in `names`, from 0"}, node.name);
    out.Field(Key{"stream", "stream of its work"}, node.stream);
    out.Field(Key{"layer",
                  "layer of the model, from 0; absent: outside of all layers, in several, or "
                  "unknown"},
              node.layer);
    if (IsThere(out, "block", node.block.has_value())) {
      Ensure(out, node.block);
      out.Field(Key{"block", "block of the model; absent: in several, or unknown"},
                ByName(*node.block, LayerBlockId, kLayerBlocks));
    }
    out.Field(Key{"count", "number of launches with its work"}, node.count);
    out.Field(Key{"total_ns", "sum of its durations"}, node.total);
    out.Field(Key{"deviation_ns", "standard deviation of its durations"}, node.deviation);
    out.Field(
        Key{"gap_ns", "time before it, summed over `replays`, in which nothing of the graph ran"},
        node.gap);
  });
}

void ReplayedGraphs(auto& out, auto& graphs) {
  out.BeginObject(Key{"graphs", "replayed CUDA or HIP graphs, by node"});
  out.Field(
      Key{"state",
          "`found`, or why there are none: `no-launches`, `no-work` (no launch has all its work), "
          "`as-one` (each launch is recorded as one piece) or `times-refused`"},
      ByName(graphs.state, GraphsStateId, static_cast<size_t>(GraphsState::kCount)));
  out.Field(Key{"by_id", "`true`: nodes by their ids; `false`: by the order of the kernels"},
            graphs.by_id);
  out.Field(Key{"launches", "number of launches of graphs"}, graphs.launches);
  out.Field(Key{"without_work", "number of launches without work in the trace"},
            graphs.without_work);
  out.Field(Key{"unknown", "number of launches whose graph is not known; not in `list`"},
            graphs.unknown);
  out.Field(
      Key{"batch_tokens",
          "tokens that the graphs of the steps have room for; of steps with known tokens whose "
          "graphs have one `batch`"},
      UnlessIs(graphs.batch_tokens, 0));
  out.Field(Key{"padding_tokens", "part of `batch_tokens` that the steps did not need"},
            UnlessIs(graphs.padding_tokens, 0));
  if (IsThere(out, "decode_padding", graphs.decode_padding.has_value())) {
    Ensure(out, graphs.decode_padding);
    out.BeginObject(
        Key{"decode_padding", "padding of the graphs of decode steps; absent when none is padded"});
    out.Field(Key{"padded_ns", "sum of the `padded_ns` of these graphs, where known"},
              graphs.decode_padding->cost);
    out.Field(Key{"uncompared", "padded launches of graphs without `padded_ns`"},
              graphs.decode_padding->uncompared);
    out.Field(Key{"device_ns", "device time of all decode steps"},
              graphs.decode_padding->device_time);
    out.End();
  }
  if (IsThere(out, "eager_steps", graphs.eager.has_value())) {
    Ensure(out, graphs.eager);
    out.BeginObject(
        Key{"eager_steps",
            "decode steps that launched no graph; absent when no decode step launched one"});
    out.Field(Key{"count", "number of these steps"}, graphs.eager->count);
    out.Field(Key{"of", "number of decode steps with all their work"}, graphs.eager->of);
    out.Rows(Key{"list", "first ten of these steps"}, graphs.eager->indexes, [&](auto& index) {
      out.Field(Key{"index", "number of the step in `steps.list`, from 0"}, index);
    });
    out.End();
  }
  out.List(Key{"names", "names of the nodes' kernels, copies and memsets"}, graphs.names);
  out.Objects(Key{"list", "graphs, by place, then by first launch"}, graphs.list,
              [&](auto& graph) { GraphFields(out, graph); });
  out.End();
}

}  // namespace tacho::schema
