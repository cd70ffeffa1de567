// Reads one trace into a model and analyses it, and says how long each took: one JSON line. The
// page cache should be warm; the figures are of one pass. read_cpu_s and analyse_cpu_s are the
// times of all threads: they stay comparable on a machine that has other work.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "analysis/analyze.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "io/trace_sources.h"
#include "model/trace_builder.h"

namespace {

double Seconds(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// What it costs to find what a trace says about its own figures, on one thread.
double EvidenceSeconds(const tacho::Trace& trace, const tacho::Classifier& classifier) {
  const tacho::PreparedTrace prepared = tacho::Prepare(trace, classifier);
  const double start = CpuSeconds();
  const tacho::Integrity integrity =
      tacho::FindIntegrity(prepared.index, prepared.links, prepared.work, {});
  const double seconds = CpuSeconds() - start;
  if (integrity.lost.any()) std::fprintf(stderr, "the trace has lost work\n");
  return seconds;
}

}  // namespace

int main(int count, char** arguments) {
  // --inline: reading and inflating on the thread that parses, to measure one core.
  // --only-read: the same, and nothing is analysed.
  const bool only_read = count == 3 && std::strcmp(arguments[1], "--only-read") == 0;
  const bool inline_threads =
      only_read || (count == 3 && std::strcmp(arguments[1], "--inline") == 0);
  if (count != 2 && !inline_threads) {
    std::fprintf(stderr, "usage: read_trace [--inline | --only-read] FILE\n");
    return 2;
  }
  const char* const path = arguments[count - 1];
  const auto start = std::chrono::steady_clock::now();
  auto stream = tacho::OpenStream(
      path, inline_threads ? tacho::StreamThreads::kInline : tacho::StreamThreads::kAhead);
  if (!stream) {
    std::fprintf(stderr, "%s\n", stream.error().message.c_str());
    return 3;
  }
  tacho::TraceBuilder builder;
  const auto read = tacho::ReadKinetoJson(**stream, builder);
  if (!read) {
    std::fprintf(stderr, "%s\n", read.error().message.c_str());
    return 3;
  }
  const tacho::Trace trace = std::move(builder).Finish();
  const double read_s = Seconds(start);
  const double read_cpu_s = CpuSeconds();
  if (only_read) {
    std::printf("{\"events\":%llu,\"read_s\":%.6f,\"read_cpu_s\":%.6f}\n",
                static_cast<unsigned long long>(trace.counts.total), read_s, read_cpu_s);
    return 0;
  }

  const auto classifier = tacho::Classifier::Create();
  const auto analyse = std::chrono::steady_clock::now();
  const tacho::TraceAnalysis analysis = tacho::AnalyzeTrace(
      trace, *classifier,
      {.scope = {}, .key_averages = false, .threads = inline_threads ? 1u : 2u});
  const double analyse_s = Seconds(analyse), analyse_cpu_s = CpuSeconds() - read_cpu_s;
  const double evidence_cpu_s = EvidenceSeconds(trace, *classifier);
  std::printf(
      "{\"bytes\":%llu,\"json_bytes\":%llu,\"events\":%llu,\"read_s\":%.6f,\"read_cpu_s\":%.6f,"
      "\"trace_bytes\":%zu,"
      "\"analyse_s\":%.6f,\"analyse_cpu_s\":%.6f,\"evidence_cpu_s\":%.6f,\"kernels\":%zu}\n",
      static_cast<unsigned long long>((*stream)->stored_bytes()),
      static_cast<unsigned long long>(read->json_bytes),
      static_cast<unsigned long long>(trace.counts.total), read_s, read_cpu_s, trace.MemoryBytes(),
      analyse_s, analyse_cpu_s, evidence_cpu_s, analysis.kernels.rows.size());
  return 0;
}
