// Laws that the analyses of device time obey on any trace. They are checked on random traces, and
// against a naive second implementation that looks at every nanosecond and every pair of items.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>

#include "analysis/device/device_time.h"
#include "analysis/device/idle.h"
#include "analysis/device/kernels.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

constexpr int64_t kLength = 300;  // approximate length of a random trace

struct Piece {
  SliceKind kind;
  std::string name, device, stream;
  int64_t start, duration, correlation;
};
struct Call {
  std::string name;
  int64_t start, duration, correlation;
};
struct Recipe {
  std::vector<Piece> pieces;
  std::vector<Call> calls;
  std::vector<Interval> steps;        // steps of the engine, ordered and disjoint
  std::vector<Interval> overheads;    // on the only thread that makes calls
  bool names_thread = false;          // whether an overhead names its thread
  std::optional<InFlight> in_flight;  // absent: unknown
};

// Several devices and streams with overlapping, empty and simultaneous pieces, graph launches and
// orphans. Every other recipe has steps, every third the times of requests, and most have
// overheads.
Recipe RandomRecipe(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  Recipe recipe;
  std::vector<int64_t> starts(kLength);  // distinct, so that the calls' tree has one shape
  std::iota(starts.begin(), starts.end(), 0);
  std::ranges::shuffle(starts, random);
  const int64_t calls = below(20);
  for (int64_t i = 0; i < calls; ++i) {
    recipe.calls.push_back({below(4) == 0 ? "cudaGraphLaunch" : "cudaLaunchKernel",
                            starts[static_cast<size_t>(i)], below(20), i});
  }
  const std::string names[] = {"ampere_sgemm_a", "ncclDevKernel_AllReduce", "mystery",
                               "vllm::rms_norm_kernel"};
  for (int64_t n = below(40); n > 0; --n) {
    const int64_t kind = below(8);
    recipe.pieces.push_back({.kind = kind == 0   ? SliceKind::kMemcpy
                                     : kind == 1 ? SliceKind::kMemset
                                                 : SliceKind::kKernel,
                             .name = kind < 2 ? "Memcpy DtoD" : names[below(4)],
                             .device = std::to_string(below(2)),
                             .stream = std::to_string(7 + below(3)),
                             .start = below(kLength),
                             .duration = below(3) == 0 ? 0 : below(25),
                             .correlation = below(25)});
  }
  for (int64_t at = below(60); seed % 2 == 1 && at < kLength; at += 1 + below(60)) {
    const int64_t start = at;
    recipe.steps.push_back({TimeNs{start}, TimeNs{at += below(40)}});
  }
  std::vector<Interval> in_flight;
  for (int64_t n = below(5); n > 0; --n) {
    const int64_t start = below(kLength);
    in_flight.push_back({TimeNs{start}, TimeNs{start + below(100)}});
  }
  if (seed % 3 == 1) recipe.in_flight = InFlight{IntervalSet(std::move(in_flight)), {}};
  recipe.names_thread = seed % 4 < 2;
  for (int64_t n = seed % 5 == 0 ? 0 : below(8); n > 0; --n) {
    const int64_t start = below(kLength);
    recipe.overheads.push_back({TimeNs{start}, TimeNs{start + below(40)}});
  }
  return recipe;
}

IntervalSet Scaled(const IntervalSet& set, int64_t scale) {
  std::vector<Interval> scaled;
  for (const Interval& when : set.intervals()) {
    scaled.push_back({TimeNs{when.start.ns * scale}, TimeNs{when.end.ns * scale}});
  }
  return IntervalSet(std::move(scaled));
}

Trace Build(const Recipe& recipe, int64_t scale = 1) {
  TraceBuilder builder;
  for (const Piece& p : recipe.pieces) {
    const TraceBuilder::OnGpu at{.device = p.device,
                                 .stream = p.stream,
                                 .start = p.start * scale,
                                 .duration = p.duration * scale,
                                 .correlation = p.correlation};
    if (p.kind == SliceKind::kMemcpy) builder.Memcpy(p.name, at);
    if (p.kind == SliceKind::kMemset) builder.Memset(p.name, at);
    if (p.kind == SliceKind::kKernel) builder.Kernel(p.name, at);
  }
  for (const Call& c : recipe.calls) {
    builder.Host(
        "cuda_runtime", c.name,
        {.start = c.start * scale, .duration = c.duration * scale, .correlation = c.correlation});
  }
  for (const Interval& overhead : recipe.overheads) {
    TraceBuilder::OnHost at{.start = overhead.start.ns * scale,
                            .duration = overhead.length().ns * scale};
    if (!recipe.names_thread) at.pid = "-1", at.tid = "0";
    builder.Host("overhead", "Command Buffer Full", at);
  }
  for (const Interval& step : recipe.steps) {
    // A step without a request of ours in flight is made empty: otherwise it would be of other
    // requests.
    const bool empty = recipe.in_flight && !recipe.in_flight->when.Touches(step);
    builder.Host(
        "user_annotation",
        empty ? "execute_context_0(0)_generation_0(0)" : "execute_context_0(0)_generation_1(1)",
        {.start = step.start.ns * scale, .duration = step.length().ns * scale});
  }
  return std::move(builder).Finish();
}

struct Results {
  std::vector<DeviceTime> devices;
  KernelTable kernels;
  IdleTable idle;
  std::vector<IdleStretch> stretches = {};
};

Results Analyze(const Trace& trace, const Scope& scope = {},
                const std::optional<InFlight>& in_flight = {}) {
  static const Classifier classifier = *Classifier::Create();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), classifier, scope);
  std::vector<IdleStretch> stretches;
  IdleTable idle = AttributeIdle(TrackIndex(trace), work, LinkLaunches(trace), scope,
                                 in_flight ? &*in_flight : nullptr, 50,
                                 [&](const IdleStretch& stretch) { stretches.push_back(stretch); });
  return {DecomposeDeviceTime(work, scope), TabulateKernels(trace, work, classifier, scope),
          std::move(idle), std::move(stretches)};
}

// All figures of a device that are durations or counts, by name.
std::map<std::string, int64_t> Figures(const DeviceTime& t) {
  std::map<std::string, int64_t> figures{{"window", t.window.length().ns},
                                         {"busy", t.busy.ns},
                                         {"idle", t.idle.ns},
                                         {"compute", t.compute.ns},
                                         {"exposed_comm", t.exposed_comm.ns},
                                         {"exposed_copy", t.exposed_copy.ns},
                                         {"kernel_sum", t.kernel_sum.ns},
                                         {"kernel_busy", t.kernel_busy.ns},
                                         {"comm_busy", t.comm_busy.ns},
                                         {"copy_busy", t.copy_busy.ns},
                                         {"# events", static_cast<int64_t>(t.gpu_events)}};
  for (size_t i = 0; i < t.by_kinds.size(); ++i)
    figures[fmt::format("kinds {}", i)] = t.by_kinds[i].ns;
  for (size_t i = 0; i < t.by_concurrency.size(); ++i) {
    figures[fmt::format("concurrency {}", i)] = t.by_concurrency[i].ns;
  }
  for (const StreamTime& s : t.streams) {
    figures["# events " + s.stream] = static_cast<int64_t>(s.events);
    figures["# overlaps " + s.stream] = static_cast<int64_t>(s.overlaps);
    figures["sum " + s.stream] = s.sum.ns;
    figures["busy " + s.stream] = s.busy.ns;
    for (const CategoryRow& row : s.categories) {
      figures["# " + row.category + s.stream] = static_cast<int64_t>(row.count);
      figures[row.category + s.stream] = row.total.ns;
    }
  }
  return figures;
}

std::string Dump(const Results& results) {
  std::string out;
  for (const DeviceTime& time : results.devices) {
    out +=
        fmt::format("device {} gaps {} {}\n", time.device, time.gaps.count, time.gaps.largest.ns);
    for (const auto& [name, value] : Figures(time)) out += fmt::format("  {} {}\n", name, value);
  }
  for (const KernelRow& row : results.kernels.rows) {
    out += fmt::format("{} {} {} {} {} {} {}\n", row.name, row.device, row.stats.count,
                       row.stats.total.ns, row.stats.min.ns, row.stats.p50.ns, row.stats.p99.ns);
  }
  for (const IdleCauseRow& row : results.idle.causes) {
    out += fmt::format("{} {} {}\n", IdleCauseId(row.cause), row.total.ns, row.count);
  }
  for (const IdleGap& gap : results.idle.gaps) {
    out += fmt::format("{} {} {} {} {} {} {} {}\n", gap.device, gap.when.start.ns, gap.when.end.ns,
                       gap.before, gap.after, IdleCauseId(gap.cause), gap.host, gap.host_track);
  }
  return out;
}

// What a device does in each nanosecond, found by brute force.
struct Naive {
  std::map<std::string, int64_t> figures;
  std::map<std::string, int64_t> causes;
  std::map<int64_t, std::string> cause_at;  // of each idle nanosecond
};

Naive LookAtEachNanosecond(const Recipe& recipe, const DeviceTime& time, const Scope& scope,
                           Requests requests) {
  const int64_t begin = time.window.start.ns, end = time.window.end.ns;
  Naive naive;
  std::vector<const Piece*> mine;
  for (const Piece& piece : recipe.pieces) {
    if (piece.device == time.device) mine.push_back(&piece);
  }
  const auto call_of = [&](const Piece& piece) -> const Call* {
    const auto found = std::ranges::find(recipe.calls, piece.correlation, &Call::correlation);
    return found == recipe.calls.end() ? nullptr : &*found;
  };
  std::vector<bool> busy;
  auto& figures = naive.figures;
  for (int64_t t = begin; t < end; ++t) {
    int kernels = 0, comm = 0, copies = 0, memsets = 0;
    for (const Piece* p : mine) {
      if (t < p->start || t >= p->start + p->duration) continue;
      if (p->kind == SliceKind::kMemcpy) ++copies;
      if (p->kind == SliceKind::kMemset) ++memsets;
      if (p->kind == SliceKind::kKernel) ++(p->name.starts_with("nccl") ? comm : kernels);
    }
    const int all = kernels + comm + copies + memsets;
    busy.push_back(all > 0);
    figures["kernel_sum"] += kernels + comm;
    figures["busy"] += all > 0 ? 1 : 0;
    figures["compute"] += kernels + memsets > 0 ? 1 : 0;
    figures["exposed_comm"] += kernels + memsets == 0 && comm > 0 ? 1 : 0;
    figures["exposed_copy"] += kernels + memsets + comm == 0 && copies > 0 ? 1 : 0;
    figures["kernel_busy"] += kernels + comm > 0 ? 1 : 0;
    figures["comm_busy"] += comm > 0 ? 1 : 0;
    figures["copy_busy"] += copies > 0 ? 1 : 0;
    ++figures[fmt::format("concurrency {}", std::min(all, 8))];
  }
  const auto is_busy = [&](int64_t t) {
    return std::ranges::any_of(
        mine, [&](const Piece* p) { return p->start <= t && t < p->start + p->duration; });
  };
  // The pause that ends a step is longer than the whole trace, so a step lasts to the last launch
  // before the next step. All calls are launches, also those without work.
  const auto between_steps = [&](int64_t t) {
    for (size_t i = 1; i < recipe.steps.size(); ++i) {
      int64_t last = recipe.steps[i - 1].end.ns;
      const int64_t next = recipe.steps[i].start.ns;
      for (const Call& call : recipe.calls) {
        if (call.start >= recipe.steps[i - 1].end.ns && call.start < next)
          last = std::max(last, call.start + call.duration);
      }
      if (last <= t && t < next) return true;
    }
    return false;
  };
  // For each idle nanosecond: search back for the begin of its gap and forward for its end, also
  // beyond the window.
  for (int64_t t = begin; t < end; ++t) {
    if (busy[static_cast<size_t>(t - begin)]) continue;
    constexpr int64_t kFar = 2 * kLength;
    int64_t a = t, b = t + 1;
    while (a > -kFar && !is_busy(a - 1)) --a;
    while (b < (scope.window ? kFar : end) && !is_busy(b)) ++b;
    const Call* call = nullptr;
    for (const Piece* p : mine) {
      if (p->start != b) continue;
      const Call* other = call_of(*p);
      if (other != nullptr && (call == nullptr || other->start < call->start)) call = other;
    }
    std::string cause = "unknown";
    if (call != nullptr) {
      const bool began = std::ranges::any_of(mine, [&](const Piece* p) {
        return p->correlation == call->correlation && p->start < b;
      });
      if (began) {
        cause = "in-graph";
      } else if (call->start + call->duration <= a) {
        cause = "queued";
      } else if (t < call->start) {
        cause = between_steps(t) ? "between-steps" : "host-late";
      } else {
        cause = t < call->start + call->duration ? "in-launch-call" : "launch-latency";
      }
      const bool is_hosts =
          cause == "host-late" || cause == "between-steps" || cause == "in-launch-call";
      const auto lasts = [&](const Interval& overhead) {
        return overhead.start.ns <= t && t < overhead.end.ns;
      };
      if (is_hosts && std::ranges::any_of(recipe.overheads, lasts)) cause = "profiler";
    }
    const bool served = requests != Requests::kKnown ||
                        recipe.in_flight->when.Covered({TimeNs{t}, TimeNs{t + 1}}) == DurationNs{1};
    ++naive.causes[served ? cause : "no-request"];
    naive.cause_at[t] = served ? cause : "no-request";
  }
  return naive;
}

class OnRandomTraces : public testing::TestWithParam<uint32_t> {
 protected:
  Recipe recipe_ = RandomRecipe(GetParam());
  Trace trace_ = Build(recipe_);
};

TEST_P(OnRandomTraces, TimesAddUp) {
  const Results results = Analyze(trace_, {}, recipe_.in_flight);
  DurationNs window, busy;
  for (const DeviceTime& time : results.devices) {
    EXPECT_EQ(time.busy + time.idle, time.window.length());
    EXPECT_EQ(time.compute + time.exposed_comm + time.exposed_copy + time.idle,
              time.window.length());
    for (const StreamTime& stream : time.streams) {
      EXPECT_EQ(std::accumulate(stream.by_kind.begin(), stream.by_kind.end(), DurationNs{}),
                stream.sum);
      CategoryRow all;
      for (const CategoryRow& row : stream.categories) {
        all.total += row.total;
        all.count += row.count;
      }
      EXPECT_EQ(all.total, stream.sum);
      EXPECT_EQ(all.count, stream.events);
    }
    EXPECT_EQ(std::accumulate(time.by_kinds.begin(), time.by_kinds.end(), DurationNs{}),
              time.window.length());
    EXPECT_EQ(std::accumulate(time.by_concurrency.begin(), time.by_concurrency.end(), DurationNs{}),
              time.window.length());
    window += time.window.length();
    busy += time.busy;
  }
  EXPECT_EQ(results.idle.window, window);
  EXPECT_EQ(results.idle.busy, busy);
  for (const IdleCauseRow& row : results.idle.causes) busy += row.total;
  EXPECT_EQ(busy, window);
  DurationNs kernels;
  for (const CategoryRow& row : results.kernels.categories) kernels += row.total;
  EXPECT_EQ(kernels, results.kernels.total);
}

TEST_P(OnRandomTraces, TheNaiveWayAgrees) {
  for (const Scope& scope : {Scope{}, WindowScope(40, 170)}) {
    const Results results = Analyze(trace_, scope, recipe_.in_flight);
    std::map<std::string, int64_t> causes;
    for (const DeviceTime& time : results.devices) {
      const Naive naive = LookAtEachNanosecond(recipe_, time, scope, results.idle.requests);
      const auto figures = Figures(time);
      for (const auto& [name, value] : naive.figures) {
        EXPECT_EQ(figures.at(name), value) << name << " of device " << time.device;
      }
      for (const auto& [cause, ns] : naive.causes) causes[cause] += ns;
      std::map<int64_t, std::string> cause_at;
      for (const IdleStretch& stretch : results.stretches) {
        if (stretch.device != static_cast<size_t>(&time - results.devices.data())) continue;
        for (int64_t t = stretch.when.start.ns; t < stretch.when.end.ns; ++t) {
          EXPECT_TRUE(cause_at.emplace(t, IdleCauseId(stretch.cause)).second) << "twice at " << t;
        }
      }
      EXPECT_EQ(cause_at, naive.cause_at) << "device " << time.device;
    }
    std::map<std::string, int64_t> found;
    for (const IdleCauseRow& row : results.idle.causes) {
      found[std::string(IdleCauseId(row.cause))] = row.total.ns;
    }
    EXPECT_EQ(found, causes);
  }
}

TEST_P(OnRandomTraces, OverlapsByPairs) {
  const Results results = Analyze(trace_, {}, recipe_.in_flight);
  for (const DeviceTime& time : results.devices) {
    for (const StreamTime& stream : time.streams) {
      std::vector<const Piece*> pieces;
      for (const Piece& p : recipe_.pieces) {
        if (p.device == time.device && p.stream == stream.stream) pieces.push_back(&p);
      }
      std::ranges::sort(pieces, [](const Piece* a, const Piece* b) {
        return std::pair(a->start, a->duration) < std::pair(b->start, b->duration);
      });
      uint64_t overlaps = 0;
      for (size_t i = 0; i < pieces.size(); ++i) {
        overlaps += std::any_of(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(i),
                                [&](const Piece* before) {
                                  return before->start + before->duration > pieces[i]->start;
                                })
                        ? 1
                        : 0;
      }
      EXPECT_EQ(stream.overlaps, overlaps) << time.device << " " << stream.stream;
    }
  }
}

TEST_P(OnRandomTraces, TheOrderOfTheFileDoesNotMatter) {
  std::mt19937 random(GetParam());
  const std::string before = Dump(Analyze(trace_, {}, recipe_.in_flight));
  for (int i = 0; i < 3; ++i) {
    std::ranges::shuffle(recipe_.pieces, random);
    std::ranges::shuffle(recipe_.calls, random);
    std::ranges::shuffle(recipe_.steps, random);
    std::ranges::shuffle(recipe_.overheads, random);
    EXPECT_EQ(Dump(Analyze(Build(recipe_), {}, recipe_.in_flight)), before);
  }
}

TEST_P(OnRandomTraces, TwoHalvesMakeTheWhole) {
  const int64_t middle = 20 + GetParam() % 200;
  const auto part = [&](int64_t begin, int64_t end) {
    return Analyze(trace_, WindowScope(begin, end), recipe_.in_flight);
  };
  const Results whole = part(10, 260), first = part(10, middle), second = part(middle, 260);
  ASSERT_EQ(first.devices.size(), whole.devices.size());
  ASSERT_EQ(second.devices.size(), whole.devices.size());
  for (size_t i = 0; i < whole.devices.size(); ++i) {
    auto sum = Figures(first.devices[i]);
    for (const auto& [name, value] : Figures(second.devices[i])) sum[name] += value;
    EXPECT_EQ(sum, Figures(whole.devices[i]));
  }
  EXPECT_EQ(first.idle.busy + second.idle.busy, whole.idle.busy);
  std::map<IdleCause, int64_t> causes, of_whole;
  for (const Results* half : {&first, &second}) {
    for (const IdleCauseRow& row : half->idle.causes) causes[row.cause] += row.total.ns;
  }
  for (const IdleCauseRow& row : whole.idle.causes) of_whole[row.cause] += row.total.ns;
  EXPECT_EQ(causes, of_whole);
  EXPECT_EQ(first.kernels.total + second.kernels.total, whole.kernels.total);
  EXPECT_EQ(first.kernels.shorter_than_10us + second.kernels.shorter_than_10us,
            whole.kernels.shorter_than_10us);
}

TEST_P(OnRandomTraces, LongerTimesScaleAll) {
  std::optional<InFlight> in_flight;
  if (recipe_.in_flight) in_flight = InFlight{Scaled(recipe_.in_flight->when, 1000), {}};
  const Results one = Analyze(trace_, {}, recipe_.in_flight),
                thousand = Analyze(Build(recipe_, 1000), {}, in_flight);
  ASSERT_EQ(one.devices.size(), thousand.devices.size());
  for (size_t i = 0; i < one.devices.size(); ++i) {
    auto scaled = Figures(one.devices[i]);
    for (auto& [name, value] : scaled) value *= name.starts_with('#') ? 1 : 1000;
    EXPECT_EQ(scaled, Figures(thousand.devices[i]));
    EXPECT_EQ(one.devices[i].gaps.count, thousand.devices[i].gaps.count);
  }
  ASSERT_EQ(one.idle.causes.size(), thousand.idle.causes.size());
  for (size_t i = 0; i < one.idle.causes.size(); ++i) {
    EXPECT_EQ(one.idle.causes[i].cause, thousand.idle.causes[i].cause);
    EXPECT_EQ(one.idle.causes[i].total.ns * 1000, thousand.idle.causes[i].total.ns);
    EXPECT_EQ(one.idle.causes[i].count, thousand.idle.causes[i].count);
  }
}

TEST_P(OnRandomTraces, GapsListedAreTheGapsCounted) {
  const Results results = Analyze(trace_, {}, recipe_.in_flight);
  uint64_t gaps = 0;
  DurationNs largest, listed;
  for (const DeviceTime& time : results.devices) {
    gaps += time.gaps.count;
    largest = std::max(largest, time.gaps.largest);
  }
  for (const IdleGap& gap : results.idle.gaps) listed += gap.when.length();
  EXPECT_EQ(results.idle.gaps.size(), std::min<uint64_t>(gaps, 50));
  if (gaps > 0) {
    EXPECT_EQ(results.idle.gaps.front().when.length(), largest);
  }
  if (gaps <= 50) {
    EXPECT_EQ(listed, results.idle.window - results.idle.busy);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OnRandomTraces, testing::Range(0u, 150u));

}  // namespace
}  // namespace tacho
