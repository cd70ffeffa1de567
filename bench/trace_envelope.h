// What a trace holds around its events: its header, the names of its processes and threads, and the
// profiler's own marks behind them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace_options.h"
#include "trace_writer.h"

namespace tacho::bench {

class TraceEnvelope {
 public:
  // `start_ns` is the time of the first event. Keeps all references.
  TraceEnvelope(const TraceOptions& options, std::int64_t start_ns, Sink& sink)
      : options_(options), layout_(options.Lines()), start_ns_(start_ns), sink_(sink) {}

  void Header() const;
  void Metadata() const;  // before or behind the events: KinetoLayout::metadata_first
  void Trailer(std::int64_t end_ns, std::int64_t operators) const;

 private:
  void MetadataEvent(const char* name, std::int64_t pid, std::int64_t tid, std::string_view key,
                     const std::string& value) const;
  void Process(std::int64_t pid, const std::string& label, int sort_index) const;
  void Thread(std::int64_t pid, int tid, const std::string& name) const;

  const TraceOptions& options_;
  const simulate::KinetoLayout& layout_;
  const std::int64_t start_ns_;
  Sink& sink_;
};

}  // namespace tacho::bench
