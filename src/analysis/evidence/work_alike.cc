#include "analysis/evidence/work_alike.h"

#include "analysis/evidence/turns.h"
#include "model/nesting.h"

namespace tacho {
namespace {

// By host call: the name of the innermost operator around it; empty if it lies in none.
std::vector<StringId> OperatorsOfCalls(const TrackIndex& index) {
  const Trace& trace = index.trace();
  std::vector<StringId> operators(trace.host_calls.size());
  std::vector<HostRows> tables;
  tables.emplace_back(SliceKind::kHostOp, index.host_ops());
  tables.emplace_back(SliceKind::kHostCall, index.host_calls());
  WalkHostSlices(tables, StringId::kEmpty, [&](const HostSlice& slice, StringId parent) {
    if (slice.kind == SliceKind::kHostOp) return trace.host_ops.name[slice.row];
    operators[slice.row] = parent;
    return parent;
  });
  return operators;
}

}  // namespace

WorkByLikeness::WorkByLikeness(const TrackIndex& index, const LaunchLinks& links, bool by_operator)
    : trace_(index.trace()) {
  if (by_operator) operators_ = OperatorsOfCalls(index);
  const GpuTable& gpu = trace_.gpu;
  const TimeNs begin = trace_.span.start;
  streams_.resize(trace_.words.streams().size() + 1, {begin, begin, 0, {}, {}});
  Likeness last;
  WorkAlike* alike = nullptr;
  ForEachTurn(index, links, [&](uint32_t row, uint32_t call, DurationNs turn) {
    // Neighbouring calls are usually alike.
    if (const Likeness likeness = LikenessOf(call); alike == nullptr || likeness != last) {
      alike = &alike_[likeness];
      last = likeness;
    }
    all_.Add(gpu.stream[row]);
    alike->Add(gpu.stream[row]);
    alike->longest_turn = std::max(alike->longest_turn, turn);
    if (gpu.kind[row] == SliceKind::kKernel) ++alike->kernels;
    const DurationNs piece{gpu.duration[row]};
    for (StreamTurns* of : {&streams_[Index(gpu.stream[row])], &streams_.back()}) {
      of->called = std::max(of->called, trace_.host_calls.start[call]);
      of->over = std::max(of->over, gpu.When(row).end);
      ++of->pieces;
      of->wait = std::max(of->wait, turn - piece);
      of->piece = std::max(of->piece, piece);
    }
  });
}

DurationNs WorkByLikeness::LongestTurnOf(StreamId stream) const {
  constexpr size_t kFewest = 10;
  const StreamTurns& of = OfStream(stream).pieces < kFewest ? streams_.back() : OfStream(stream);
  return of.wait + of.piece;
}

const WorkAlike* WorkByLikeness::Of(uint32_t call) const {
  const auto alike = alike_.find(LikenessOf(call));
  const bool known =
      alike != alike_.end() && alike->second.streams.size() < WorkAlike::kMostStreams;
  return known ? &alike->second : nullptr;
}

}  // namespace tacho
