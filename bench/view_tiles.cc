// Draws whole screens of a large trace as `tacho view` does, and says how long each took, as one
// JSON object. Kernels of 1 to 17 us with small gaps, every fiftieth of 200 us, on streams that the
// file has interleaved as they ran.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/trace_builder.h"
#include "view/tiles.h"
#include "view/viewed_rank.h"

namespace {

using tacho::Interval;
using tacho::Random;
using tacho::Trace;

constexpr size_t kColumns = 2000, kScreens = 200;
constexpr double kZooms[] = {1, 0.1, 0.01, 0.001, 0.0001};

double Millis(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

Trace Kernels(size_t slices, size_t rows) {
  tacho::TraceBuilder builder;
  tacho::Vocabulary& words = builder.vocabulary();
  std::vector<tacho::StringId> names;
  for (int i = 0; i < 300; ++i) {
    const char* const family = i % 3 == 0 ? "gemm" : i % 3 == 1 ? "rms_norm" : "elementwise";
    names.push_back(words.strings.Intern(family + std::string("_kernel_") + std::to_string(i)));
  }
  struct Stream {
    tacho::TrackId track;
    tacho::StreamId stream;
    int64_t next = 0;
  };
  std::vector<Stream> streams;
  const tacho::StringId device = words.strings.Intern("0");
  for (size_t i = 0; i < rows; ++i) {
    const tacho::StringId id = words.strings.Intern(std::to_string(i + 7));
    streams.push_back({words.InternTrack(words.InternProcess(device), id),
                       words.InternStream(device, id), static_cast<int64_t>(i)});
  }
  Random random(1);
  tacho::Event event;
  event.kind = tacho::SliceKind::kKernel;
  event.category = words.InternCategory("kernel");
  event.has_category = event.has_start = true;
  for (size_t i = 0; i < slices; ++i) {
    Stream& on = streams[i % rows];
    event.track = on.track;
    event.stream = on.stream;
    event.name = names[random.Below(names.size())];
    event.start = {on.next};
    event.duration = {random.Below(50) == 0 ? 200'000
                                            : 1000 + static_cast<int64_t>(random.Below(16'000))};
    on.next += event.duration.ns + static_cast<int64_t>(random.Below(3000));
    builder.OnEvent(event);
  }
  return std::move(builder).Finish();
}

// Screens at random places of the zoom: the milliseconds of each, sorted; the mean of their bytes.
std::pair<std::vector<double>, size_t> Draw(const tacho::ViewedRank& rank, double zoom,
                                            Random& random, size_t threads) {
  std::vector<tacho::TileLane> lanes;
  for (const tacho::TimelineRow& row : rank.rows()) {
    if (row.kind != tacho::RowKind::kStream) continue;
    for (const tacho::Lane& lane : row.lanes) lanes.push_back({0, 0, &lane});
  }
  const Interval span = rank.trace().span;
  const auto whole = static_cast<double>(span.length().ns);
  const tacho::DurationNs width{
      std::max<int64_t>(1, static_cast<int64_t>(whole * zoom / kColumns))};
  const auto room = static_cast<uint64_t>(whole * (1 - zoom)) + 1;
  std::vector<double> took;
  size_t bytes = 0;
  for (size_t i = 0; i < kScreens; ++i) {
    const tacho::TimeNs from =
        span.start + tacho::DurationNs{static_cast<int64_t>(random.Below(room))};
    const auto begin = std::chrono::steady_clock::now();
    bytes += tacho::EncodeTiles(lanes, {from, width, kColumns}, threads).size();
    took.push_back(Millis(begin));
  }
  std::ranges::sort(took);
  return {took, bytes / kScreens};
}

}  // namespace

int main(int count, char** arguments) {
  const size_t slices = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 50'000'000;
  const size_t rows = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 40;
  if (slices == 0 || rows == 0) {
    std::fprintf(stderr, "usage: view_tiles [SLICES [ROWS]]\n");
    return 2;
  }
  auto trace = std::make_unique<const Trace>(Kernels(slices, rows));
  const size_t trace_bytes = trace->MemoryBytes();
  const auto classifier = tacho::Classifier::Create();
  const auto begin = std::chrono::steady_clock::now();
  const tacho::PreparedTrace prepared = tacho::Prepare(*trace, *classifier, {}, 2);
  const tacho::ViewedRank rank("made", std::move(trace), prepared, *classifier, {}, 2);
  std::printf(
      "{\"slices\":%zu,\"rows\":%zu,\"columns\":%zu,\"build_s\":%.3f,\"trace_bytes\":%zu,"
      "\"view_bytes\":%zu,\"screens\":[",
      slices, rows, kColumns, Millis(begin) / 1000, trace_bytes, rank.view().MemoryBytes());
  Random random(2);
  const char* before = "";
  for (const double zoom : kZooms) {
    for (const size_t threads : {size_t{1}, size_t{2}}) {
      const auto [took, bytes] = Draw(rank, zoom, random, threads);
      std::printf(
          "%s\n{\"window\":%g,\"threads\":%zu,\"p50_ms\":%.2f,\"p95_ms\":%.2f,\"most_ms\":%.2f,"
          "\"bytes\":%zu}",
          before, zoom, threads, took[took.size() / 2], took[took.size() * 95 / 100], took.back(),
          bytes);
      before = ",";
    }
  }
  std::printf("]}\n");
  return 0;
}
