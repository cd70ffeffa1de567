// The reader of Kineto JSON: whatever the bytes, the fast and the slow path, every size of blocks,
// with arguments and without, must tell the same events, byte for byte of every argument, the same
// header and the same notes at the same places; and a Trace must hold what was told.
//
// The first byte chooses the size of blocks, the second what is compared; the JSON follows.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/kineto_json/kineto_reader.h"
#include "support/event_dump.h"
#include "support/trace_check.h"

namespace {

using tacho::DumpArgs;
using tacho::KinetoReadOptions;

// Bits of the second byte.
constexpr unsigned kSlow = 1;   // the other reading takes the slow path
constexpr unsigned kWhole = 2;  // and has all bytes in one block
constexpr unsigned kWithoutArgs = 4;
constexpr unsigned kBounds = 8;      // both have low bounds, and so the same blocks
constexpr unsigned kTrace = 16;      // instead, a Trace is built and compared
constexpr unsigned kStretch = 32;    // a byte 1 stands for many letters
constexpr unsigned kScaleShift = 6;  // of the bounds

constexpr size_t kStretchedBytes = 70'000;  // more than a block's headroom

struct Reading {
  size_t block;
  DumpArgs args;
  KinetoReadOptions options;
};

[[noreturn]] void Differ(const char* what, const std::string& a, const std::string& b) {
  std::fprintf(stderr, "%s differ:\n--- one\n%s\n--- other\n%s\n", what, a.c_str(), b.c_str());
  std::abort();
}

std::string Told(std::string_view json, const Reading& reading) {
  tacho::EventDump dump(reading.args);
  const auto stream = tacho::StreamOfMemory(json, reading.block);
  const auto read = tacho::ReadKinetoJson(*stream, dump, reading.options);
  if (!read) return read.error().message;
  if (read->json_bytes != json.size()) {
    Differ("sizes", std::to_string(read->json_bytes), std::to_string(json.size()));
  }
  std::string told;
  for (const std::string& line : dump.lines()) (told += line) += '\n';
  const tacho::TraceBasics& basics = dump.basics();
  for (const auto& [key, value] : basics.header.fields) (((told += key) += '=') += value) += '\n';
  for (const auto& [label, count] : basics.counts.by_label)
    ((told += label) += std::to_string(count)) += '\n';
  for (const tacho::Note& note : basics.notes.list()) {
    ((told += tacho::KindOf(note.id).id) += ' ') += std::to_string(note.count);
    ((told += " at ") += note.where) += '\n';
  }
  return told;
}

void CheckTrace(std::string_view json, const Reading& reading) {
  tacho::TraceCheck check;
  const auto stream = tacho::StreamOfMemory(json, reading.block);
  if (!tacho::ReadKinetoJson(*stream, check, reading.options)) {
    return;
  }
  if (const std::string difference = check.FirstDifference(); !difference.empty()) {
    Differ("events and Trace", difference, {});
  }
}

std::string Stretched(std::string_view json) {
  std::string out;
  int stretched = 0;
  for (const char c : json) {
    if (c == '\1' && ++stretched <= 2)
      out.append(kStretchedBytes, 'y');
    else
      out += c;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const unsigned choice = data[1];
  const unsigned scale = choice >> kScaleShift;
  std::string_view json(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::string stretched;
  if ((choice & kStretch) != 0) json = stretched = Stretched(json);

  // An event that spans blocks is read anew with each: a few hundred blocks are enough.
  const size_t block = std::max<size_t>(size_t{1} + data[0], json.size() / 200);
  Reading other{(choice & kWhole) != 0 ? json.size() : block,
                (choice & kWithoutArgs) != 0 ? DumpArgs::kNotWanted : DumpArgs::kTold,
                {.fast_path = (choice & kSlow) == 0}};
  // These show in no result.
  other.options.many_arg_values = scale;
  other.options.learnt_bytes = size_t{300} << (4 * scale);
  other.options.learnt_bytes_without_args = other.options.learnt_bytes;
  Reading one{json.size(), DumpArgs::kTold, {}};
  if ((choice & kBounds) != 0) {
    one.block = other.block;
    for (KinetoReadOptions* options : {&one.options, &other.options}) {
      options->runaway_bytes = size_t{50} << (2 * scale);
      options->largest_event_bytes = size_t{200} << (2 * scale);
    }
  }
  if ((choice & kTrace) != 0) {
    CheckTrace(json, other);
    return 0;
  }
  if (other.args == DumpArgs::kNotWanted) one.args = DumpArgs::kNotTold;
  const std::string a = Told(json, one), b = Told(json, other);
  if (a != b) Differ("readings", a, b);
  return 0;
}
