#include "mutations/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingest/kineto_json/kineto_reader.h"
#include "io/block_stream.h"

namespace tacho {
namespace {

bool IsWork(const Event& event) {
  return event.kind == SliceKind::kKernel || event.kind == SliceKind::kMemcpy ||
         event.kind == SliceKind::kMemset;
}

// Passes on what a mutation leaves.
class MutatingSink : public EventSink {
 public:
  MutatingSink(const Mutation& mutation, Interval span) : mutation_(mutation), span_(span) {}
  TraceBasics& basics() override { return builder_.basics(); }
  [[nodiscard]] bool wants_args() const override { return true; }

  void OnEvent(const Event& event) override {
    Event changed = event;
    const bool is_flow = event.type >= EventType::kFlowStart && event.type <= EventType::kFlowEnd;
    // Kineto writes the flow of a row after it.
    if (is_flow ? last_is_gone_ : !Stays(event)) {
      last_is_gone_ = true;
      return;
    }
    last_is_gone_ = false;
    if (!is_flow) {
      last_is_of_device_ = event.type == EventType::kSlice &&
                           (IsWork(event) || event.kind == SliceKind::kGpuAnnotation);
    }
    if (last_is_of_device_ && mutation_.moves_clock()) changed.start = Moved(event.start);
    builder_.OnEvent(changed);
  }

  Trace Finish() && { return std::move(builder_).Finish(); }

 private:
  bool Stays(const Event& event) {
    if (event.type != EventType::kSlice || !event.has_start) return true;
    if (IsWork(event)) return mutation_.no_work[work_++] == 0;
    if (event.kind == SliceKind::kHostCall && mutation_.no_call[calls_++] != 0) return false;
    return !mutation_.host || event.kind == SliceKind::kHostCall ||
           event.kind == SliceKind::kGpuAnnotation || event.kind == SliceKind::kOther ||
           mutation_.host->contains(event.start);
  }
  TimeNs Moved(TimeNs t) const {
    const double share =
        static_cast<double>((t - span_.start).ns) / static_cast<double>(span_.length().ns);
    const auto grown = static_cast<double>((mutation_.off_at_end - mutation_.off_at_start).ns);
    return t + mutation_.off_at_start + DurationNs{std::llround(share * grown)};
  }

  const Mutation& mutation_;
  Interval span_;
  TraceBuilder builder_;
  size_t work_ = 0, calls_ = 0;
  bool last_is_gone_ = false, last_is_of_device_ = false;
};

Result<Trace> Read(const std::string& json, const Mutation* mutation, Interval span) {
  const auto stream = StreamOfMemory(json, json.size());
  if (mutation == nullptr) {
    TraceBuilder builder;
    if (auto read = ReadKinetoJson(*stream, builder); !read)
      return tl::unexpected<Error>(read.error());
    return std::move(builder).Finish();
  }
  MutatingSink sink(*mutation, span);
  if (auto read = ReadKinetoJson(*stream, sink); !read) return tl::unexpected<Error>(read.error());
  return std::move(sink).Finish();
}

// Small numbers as often as large ones: 1 to `most`.
size_t LogUniform(std::mt19937_64& random, size_t most) {
  const double x =
      std::uniform_real_distribution(0.0, std::log(static_cast<double>(most) + 1))(random);
  return std::clamp<size_t>(static_cast<size_t>(std::exp(x)), 1, most);
}
size_t Below(std::mt19937_64& random, size_t end) {
  return std::uniform_int_distribution<size_t>(0, end - 1)(random);
}
bool Chance(std::mt19937_64& random, double share) {
  return std::uniform_real_distribution(0.0, 1.0)(random) < share;
}

void LoseWork(const Base& base, std::mt19937_64& random, Mutation& m) {
  const GpuTable& gpu = base.trace.gpu;
  const std::vector<uint32_t>& calls = base.calls;
  const auto lose_calls = [&](auto which) {
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!which(i)) continue;
      for (const uint32_t row : base.work_of_call[calls[i]]) m.no_work[row] = 1;
    }
  };
  const auto name_of = [&](size_t i) {
    return base.trace.Text(base.trace.host_calls.name[calls[i]]);
  };
  switch (Below(random, 8)) {
    case 0: {
      const size_t k = LogUniform(random, calls.size());
      m.what += fmt::format("the first {} of {} calls lost their work; ", k, calls.size());
      lose_calls([&](size_t i) { return i < k; });
      break;
    }
    case 1: {
      const size_t k = LogUniform(random, calls.size());
      m.what += fmt::format("the last {} of {} calls lost their work; ", k, calls.size());
      lose_calls([&](size_t i) { return i >= calls.size() - k; });
      break;
    }
    case 2: {
      const double share = std::pow(10.0, std::uniform_real_distribution(-4.0, 0.0)(random));
      m.what += fmt::format("calls lost their work with a chance of {:.5f}; ", share);
      lose_calls([&](size_t) { return Chance(random, share); });
      break;
    }
    case 3: {
      const std::string_view name = name_of(Below(random, calls.size()));
      const size_t n = LogUniform(random, 20);
      m.what += fmt::format("all {} but each {}th lost their work; ", name, n);
      size_t count = 0;
      lose_calls([&](size_t i) { return name_of(i) == name && (n == 1 || count++ % n != 0); });
      break;
    }
    case 4: {  // a buffer of the profiler's
      const Interval span = base.trace.span;
      const auto at = [&] {
        return span.start + DurationNs{static_cast<int64_t>(
                                Below(random, static_cast<size_t>(span.length().ns) + 1))};
      };
      TimeNs a = at(), b = at();
      if (b < a) std::swap(a, b);
      m.what += fmt::format("no work is left between {} and {} ns; ", (a - span.start).ns,
                            (b - span.start).ns);
      for (size_t row = 0; row < gpu.size(); ++row) {
        if (a <= gpu.start[row] && gpu.start[row] < b) m.no_work[row] = 1;
      }
      break;
    }
    case 5: {
      std::vector<uint32_t> rows(gpu.size());
      std::iota(rows.begin(), rows.end(), 0);
      std::ranges::stable_sort(rows, {}, [&](uint32_t row) { return gpu.start[row]; });
      const size_t k = LogUniform(random, rows.size());
      m.what += fmt::format("the first {} of {} pieces of work are gone; ", k, rows.size());
      for (size_t i = 0; i < k; ++i) m.no_work[rows[i]] = 1;
      break;
    }
    case 6: {
      const StreamId stream = gpu.stream[Below(random, gpu.size())];
      m.what += "all work of a stream is gone; ";
      for (size_t row = 0; row < gpu.size(); ++row) {
        if (gpu.stream[row] == stream) m.no_work[row] = 1;
      }
      break;
    }
    default: {
      const size_t one = Below(random, calls.size());
      m.what += fmt::format("{}, call {} of {}, lost its work; ", name_of(one), one, calls.size());
      lose_calls([&](size_t i) { return i == one; });
    }
  }
}

// What tacho cannot see: memsets (a real trace lacks some though nothing is lost), work whose
// launch is not there either, and which nodes of a graph are missing where neither ids nor another
// launch of it tell.
void LoseNothingUnseen(const Base& base, Mutation& m) {
  const Trace& trace = base.trace;
  if (!m.cuts) {
    for (size_t row = 0; row < trace.gpu.size(); ++row) {
      if (trace.gpu.kind[row] == SliceKind::kMemset ||
          base.prepared.links.call_of_gpu[row] == LaunchLinks::kNone)
        m.no_work[row] = 0;
    }
  }
  for (const uint32_t call : base.calls) {
    if (!IsGraphLaunch(trace.Text(trace.host_calls.name[call]))) continue;
    const std::vector<uint32_t>& work = base.work_of_call[call];
    const bool lost = m.no_work[work[work.size() / 2]] != 0;
    for (const uint32_t row : work) m.no_work[row] = lost ? 1 : 0;
  }
}

void MoveClock(const Base& base, std::mt19937_64& random, Mutation& m) {
  const auto amount = [&] {
    const auto ns = static_cast<int64_t>(
        LogUniform(random, static_cast<size_t>(2 * base.trace.span.length().ns)));
    return DurationNs{Chance(random, 0.5) ? ns : -ns};
  };
  m.off_at_start = amount();
  m.off_at_end = m.off_at_start;
  if (Chance(random, 0.3)) {  // by at most 1 %
    m.off_at_start = {};
    m.off_at_end = {amount().ns / 200};
  }
  m.what +=
      fmt::format("the device's clock is off by {} to {} ns; ", m.off_at_start.ns, m.off_at_end.ns);
}

void CutSource(const Base& base, std::mt19937_64& random, Mutation& m) {
  const Interval span = base.trace.span;
  const TimeNs at =
      span.start +
      DurationNs{static_cast<int64_t>(Below(random, static_cast<size_t>(span.length().ns) + 1))};
  const bool end = Chance(random, 0.5);
  const Interval stays = end ? Interval{span.start, at} : Interval{at, span.end};
  const size_t which = Below(random, 4);
  m.cuts = true;
  m.what +=
      fmt::format("{} {} at {} ns; ",
                  std::array{"calls and work", "work", "calls", "annotations and operators"}[which],
                  end ? "end" : "begin", (at - span.start).ns);
  if (which == 3) m.host = stays;
  if (which == 0 || which == 1) {
    for (size_t row = 0; row < base.trace.gpu.size(); ++row) {
      const Interval when = base.trace.gpu.When(row);
      if (when.start < stays.start || when.end > stays.end) m.no_work[row] = 1;
    }
  }
  if (which == 0 || which == 2) {
    for (size_t row = 0; row < base.trace.host_calls.size(); ++row) {
      if (!stays.contains(base.trace.host_calls.start[row])) m.no_call[row] = 1;
    }
  }
}

}  // namespace

Base::Base(std::string file, std::string text, Trace read)
    : path(std::move(file)),
      json(std::move(text)),
      trace(std::move(read)),
      prepared(Prepare(trace, BuiltInRules())),
      work_of_call(trace.host_calls.size()) {
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = prepared.links.call_of_gpu[row];
    if (call == LaunchLinks::kNone) continue;
    if (work_of_call[call].empty()) calls.push_back(call);
    work_of_call[call].push_back(row);
  }
  std::ranges::stable_sort(calls, {}, [&](uint32_t call) { return trace.host_calls.start[call]; });
}

Result<std::unique_ptr<Base>> ReadBase(const std::string& path, size_t most_bytes) {
  const auto unusable = [&](std::string why) {
    return tl::unexpected<Error>(Error{ErrorKind::kUnreadable, path + ": " + std::move(why)});
  };
  auto stream = OpenStream(path, StreamThreads::kInline);
  if (!stream) return tl::unexpected<Error>(stream.error());
  std::string json;
  while (true) {
    const Block block = (*stream)->Next();
    if (block.size == 0) break;
    json.append(block.data, block.size);
    if (json.size() > most_bytes) return unusable("larger than asked for");
  }
  Result<Trace> trace = Read(json, nullptr, {});
  if (!trace) return unusable(trace.error().message);
  auto base = std::make_unique<Base>(path, std::move(json), std::move(*trace));
  const Integrity& integrity = base->prepared.integrity;
  if (base->calls.size() < 5) return unusable("not of a GPU, or too few calls");
  if (integrity.lost.any() || !integrity.common_clock() || integrity.stops.any())
    return unusable("has lost something");
  return base;
}

Mutation RandomMutation(const Base& base, std::mt19937_64& random) {
  Mutation m;
  m.no_work.resize(base.trace.gpu.size());
  m.no_call.resize(base.trace.host_calls.size());
  switch (Below(random, 10)) {
    case 0:
    case 1:
      MoveClock(base, random, m);
      break;
    case 2:
    case 3:
      CutSource(base, random, m);
      break;
    case 4:
      LoseWork(base, random, m);
      MoveClock(base, random, m);
      break;
    case 5:
      LoseWork(base, random, m);
      LoseWork(base, random, m);
      break;
    default:
      LoseWork(base, random, m);
  }
  LoseNothingUnseen(base, m);
  return m;
}

Trace Merged(const Base& a, const Base& b) {
  const auto events_of = [](const std::string& json) {
    const size_t begin = json.find('[', json.find("\"traceEvents\"")) + 1;
    size_t end = begin, depth = 1;
    for (bool in_text = false; depth > 0; ++end) {
      const char c = json[end];
      if (in_text && c == '\\') ++end;
      if (c == '"') in_text = !in_text;
      if (in_text) continue;
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
    }
    return std::pair(begin, end - 1 - begin);
  };
  const auto [begin, size] = events_of(b.json);
  std::string both = a.json;
  both.insert(events_of(both).first, b.json.substr(begin, size) + ",");
  return *Read(both, nullptr, {});
}

Trace Mutated(const Base& base, const Mutation& mutation) {
  return *Read(base.json, &mutation, base.trace.span);
}

}  // namespace tacho
