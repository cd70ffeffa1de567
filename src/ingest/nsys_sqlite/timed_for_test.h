#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ingest/nsys_sqlite/nsys_reader.h"

namespace tacho::nsys {

// The times of CUDA calls, system calls and GPU work that one way of reading an export gave. Tests
// compare the ways.
struct TimesSeen {
  std::string error;
  std::map<std::string, std::vector<int64_t>> ns;  // by kind and name; each list is sorted
  std::map<std::string, std::string> notes;        // by part of the recording

  // Everything as text, with a line for each name and each note.
  [[nodiscard]] std::string Text() const {
    std::string text = error + '\n';
    for (const auto& [name, values] : ns) {
      text += name;
      for (const int64_t value : values) text += ' ' + std::to_string(value);
      text += '\n';
    }
    for (const auto& [part, of_part] : notes) text.append(part).append(":\n").append(of_part);
    return text;
  }
  void Add(SliceKind kind, std::string_view name, int64_t value) {
    ns[std::to_string(static_cast<int>(kind)) + ' ' + std::string(name)].push_back(value);
  }
  void Finish(const std::string& part, const Notes& of_part) {
    std::string& text = notes[part];
    for (const Note& note : of_part.list()) {
      text += std::string(KindOf(note.id).id) + ' ' + std::to_string(note.count) + ' ' +
              note.where + '\n';
    }
  }
  void Sort() {
    for (auto& [name, values] : ns) std::ranges::sort(values);
  }
};

// A sink that adds each event to a TimesSeen.
class TimesSink : public EventSink {
 public:
  TraceBasics& basics() override { return basics_; }
  [[nodiscard]] bool wants_args() const override { return true; }
  void OnEvent(const Event& event) override {
    if (event.has_start && seen != nullptr && !HasClass(event))
      seen->Add(event.kind, basics_.words[event.name], event.duration.ns);
  }

  TimesSeen* seen = nullptr;

 private:
  // Whether the event comes from a row of OSRT_API that is not a call.
  [[nodiscard]] bool HasClass(const Event& event) const {
    if (event.args == ArgsShapeId::kNone) return false;
    return std::ranges::any_of(basics_.words[event.args].entries, [&](const auto& entry) {
      return basics_.words[entry.key] == "event class";
    });
  }

  TraceBasics basics_;
};

// Reads an export in one of two ways: row by row or, if `by_times`, by only summing up the times.
inline TimesSeen SeenOf(SqliteDatabase& database, bool by_times, size_t threads = 1) {
  TimesSeen seen;
  WorkTimes times;
  std::map<std::string, TimesSink> sinks;
  NsysReadOptions options{.next_sink = [&](const std::string& part) -> EventSink& {
    sinks[part].seen = &seen;
    return sinks[part];
  }};
  options.parts = {.gpu = !by_times,
                   .gpu_details = false,
                   .calls = !by_times,
                   .ranges = false,
                   .os_calls = !by_times,
                   .rest = false,
                   .unended = false};
  if (by_times) {
    options.timed = {.gpu = true,
                     .calls = true,
                     .os_calls = true,
                     .into = &times,
                     .threads = threads,
                     .bytes_at_once = 1};
  }
  try {
    const auto read = ReadNsysSqlite(database, options);
    if (!read) seen.error = read.error().message;
  } catch (const std::bad_alloc&) {  // SQLite reports some damage this way; run/ handles it alike
    seen.error = "memory";
  }
  // Leave out rows in which the profiler describes its own session.
  std::erase_if(seen.ns,
                [](const auto& entry) { return entry.first.ends_with(" Nsight Systems"); });
  const auto add = [&](SliceKind kind, const std::string& name, const WorkTimes::Lists& lists) {
    for (const auto& list : lists) {
      for (const int64_t value : list) seen.Add(kind, name, value);
    }
  };
  for (const auto& kernel : times.kernels) add(SliceKind::kKernel, kernel.name, kernel.ns);
  for (const auto& work : times.memory) add(work.kind, work.name, work.ns);
  for (const auto& call : times.calls) add(SliceKind::kHostCall, call.name, call.ns);
  for (const auto& call : times.os_calls) add(SliceKind::kOther, call.name, call.ns);
  for (auto& [part, sink] : sinks) seen.Finish(part, sink.notes());
  seen.Sort();
  return seen;
}

}  // namespace tacho::nsys
