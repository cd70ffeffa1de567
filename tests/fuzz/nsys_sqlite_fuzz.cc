// The reader of Nsight Systems' exports: whatever the database, it is refused with a reason or each
// process gives a Trace that holds what was told, sums without a Trace agree with it, and so do the
// times of its rows, read on one thread and on several.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "analysis/summary.h"
#include "base/json_text.h"
#include "ingest/kineto_json/lenient_json.h"
#include "ingest/nsys_sqlite/nsys_reader.h"
#include "ingest/nsys_sqlite/timed_for_test.h"
#include "support/trace_check.h"

namespace {

using namespace tacho;

// The sinks of the processes, by part; `error` is why the database is none.
template <typename Sink>
struct Reading {
  std::map<std::string, Sink> sinks;
  std::string error;
};

template <typename Sink>
Reading<Sink> ReadAs(const std::string& bytes) {
  Reading<Sink> reading;
  auto database = SqliteDatabase::OfBytes(bytes);
  Result<void> read = tl::unexpected<Error>(Error{ErrorKind::kUnreadable, "memory"});
  try {
    read = database ? ReadNsysSqlite(*database,
                                     {.next_sink = [&](const std::string& part) -> EventSink& {
                                       if (reading.sinks.contains(part)) std::abort();
                                       return reading.sinks[part];
                                     }})
                    : tl::unexpected<Error>(database.error());
  } catch (const std::bad_alloc&) {  // as run/ does: SQLite reports some damage as that
  }
  if (!read) reading.error = read.error().message;
  if (!read && reading.error.empty()) std::abort();
  return reading;
}

// Some tables only SQLite can read. It reads a row at the end of a damaged page on into the memory
// behind it: its rowid, and how far SQLite comes, then differ from reading to reading. (PRAGMA
// cell_size_check reports such a page once, and gives its rows the next time.)
bool IsOfSqlite(const std::string& text) {
  return text.find("the database is damaged: ") != std::string::npos ||
         text.find(": its rows repeat") != std::string::npos;
}

// Aborts unless both are the same.
void Compare(const std::string& part, const std::string& one, const std::string& other) {
  if (one == other || IsOfSqlite(one) || IsOfSqlite(other)) return;
  std::fprintf(stderr, "%s: %s\nand\n%s\n", part.c_str(), one.c_str(), other.c_str());
  std::abort();
}

// What the sinks of both readings must have alike.
std::string Told(TraceBasics& basics) {
  std::string told = std::to_string(basics.counts.total) + ' ' + basics.header.cuda_driver_version;
  for (const auto& [label, count] : basics.counts.by_label) {
    told += ' ' + label + '=' + std::to_string(count);
  }
  for (const Note& note : basics.notes.list()) {
    told += '\n' + std::string(KindOf(note.id).id) + ' ' + std::to_string(note.count) + ' ' +
            note.where;
  }
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto traces = ReadAs<TraceCheck>(bytes);
  auto sums = ReadAs<SummarySink>(bytes);
  Compare("errors", traces.error, sums.error);
  if (IsOfSqlite(traces.error) || IsOfSqlite(sums.error)) return 0;
  Compare("parts", std::to_string(traces.sinks.size()), std::to_string(sums.sinks.size()));
  for (auto& [part, sink] : traces.sinks) {
    Compare(part, Told(sink.basics()), Told(sums.sinks[part].basics()));
    Compare(part + ": a row that differs", sink.FirstDifference(), "");
  }
  auto database = SqliteDatabase::OfBytes(bytes);
  if (!database) return 0;
  const std::string by_rows = nsys::SeenOf(*database, false).Text();
  for (const size_t threads : {1U, 3U})
    Compare("times", by_rows, nsys::SeenOf(*database, true, threads).Text());
  return 0;
}
