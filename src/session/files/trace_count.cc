#include "session/files/trace_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>

#include "analysis/steps/step_grammar.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "io/trace_sources.h"

namespace tacho {
namespace {

class CountingSink : public EventSink {
 public:
  TraceBasics& basics() override { return basics_; }
  [[nodiscard]] bool wants_args() const override { return false; }
  void OnEvent(const Event& event) override {
    if (!event.has_start || event.type == EventType::kMetadata) return;
    ++count.events;
    // The profiler's marks of its own window do not count for the first and last time.
    if (event.type != EventType::kSlice || IsWindow(event)) return;
    first_ns = std::min(first_ns, event.start.ns);
    last_ns = std::max(last_ns, event.start.ns + event.duration.ns);
    if (event.kind != SliceKind::kAnnotation) return;
    const std::string_view name = basics_.words[event.name];
    if (!name.starts_with("execute_") && !name.starts_with("step[")) return;
    ++count.steps;
    const std::optional<ParsedStep> step = ParseStep(name);
    count.empty_steps += step && step->label.phase == Phase::kEmpty;
  }

  TraceCount count;
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();

 private:
  bool IsWindow(const Event& event) {
    return event.has_category && basics_.words[event.category].is_window;
  }
  TraceBasics basics_;
};

}  // namespace

Result<TraceCount> CountTrace(const std::string& path) {
  auto stream = OpenSource({.path = path, .member = "", .stored_bytes = 0}, StreamThreads::kInline);
  if (!stream) return tl::unexpected(stream.error());
  CountingSink sink;
  const auto read = ReadKinetoJson(**stream, sink);
  if (!read) return tl::unexpected(read.error());
  TraceCount count = sink.count;
  std::error_code error;
  count.bytes = std::filesystem::file_size(path, error);
  if (error)
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}: its size is not known: {}", path, error.message()));
  count.whole = !sink.notes().lost_data() && (*stream)->defect() == StreamDefect::kNone;
  if (sink.header().base_time_ns >= 0 && sink.last_ns >= sink.first_ns) {
    count.first_unix_ns = sink.header().base_time_ns + sink.first_ns;
    count.last_unix_ns = sink.header().base_time_ns + sink.last_ns;
  }
  return count;
}

std::optional<ProfileFigures> FiguresOf(const std::vector<TraceCount>& traces,
                                        int64_t written_unix_ns) {
  const TraceCount* most = nullptr;
  for (const TraceCount& trace : traces)
    if (trace.whole && trace.last_unix_ns && (most == nullptr || trace.bytes > most->bytes))
      most = &trace;
  if (most == nullptr) return std::nullopt;
  ProfileFigures figures;
  figures.steps = static_cast<double>(most->steps);
  figures.events = static_cast<double>(most->events);
  figures.bytes = static_cast<double>(most->bytes);
  figures.window_ns = static_cast<double>(*most->last_unix_ns - *most->first_unix_ns);
  figures.flush_ns =
      static_cast<double>(std::max<int64_t>(0, written_unix_ns - *most->last_unix_ns));
  return figures;
}

}  // namespace tacho
