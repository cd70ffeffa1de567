// The reader of Kineto JSON: whatever the bytes, the fast and the slow path and every size of
// blocks must tell the same events, byte for byte of every argument, the same header and the same
// notes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/kineto_json/kineto_reader.h"
#include "model/trace_builder.h"
#include "support/event_dump.h"

namespace {

std::string Told(std::string_view json, size_t block_size, bool fast_path) {
  tacho::EventDump dump;
  tacho::TraceHeader header;
  tacho::Notes notes;
  const auto stream = tacho::StreamOfMemory(json, block_size);
  const auto read = tacho::ReadKinetoJson(*stream, dump, header, notes,
                                          {.fast_path = fast_path, .largest_event_bytes = 1 << 20});
  if (!read) return read.error().message;
  std::string told;
  for (const std::string& line : dump.lines()) told += line + '\n';
  for (const auto& [key, value] : header.fields) told += key + '=' + value + '\n';
  for (const tacho::Note& note : notes.list()) {
    told += std::string(tacho::KindOf(note.id).id) + ' ' + std::to_string(note.count) + '\n';
  }
  return told;
}

void Require(const std::string& a, const std::string& b, const char* what) {
  if (a == b) return;
  std::fprintf(stderr, "%s differ:\n--- one\n%s\n--- other\n%s\n", what, a.c_str(), b.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t block = 1 + data[0];
  const std::string whole = Told(json, 1 << 20, true);
  Require(whole, Told(json, 1 << 20, false), "fast and slow path");
  Require(whole, Told(json, block, true), "blocks");

  tacho::TraceBuilder builder;
  const auto stream = tacho::StreamOfMemory(json, block);
  if (tacho::ReadKinetoJson(*stream, builder, builder.header(), builder.notes())) {
    const tacho::Trace trace = std::move(builder).Finish();
    for (size_t row = 0; row < trace.gpu.size(); ++row) ArgsText(trace, GpuArgs(trace, row));
    for (size_t row = 0; row < trace.host_ops.size(); ++row)
      ArgsText(trace, HostOpArgs(trace, row));
  }
  return 0;
}
