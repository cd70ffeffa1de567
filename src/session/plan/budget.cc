#include "session/plan/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "session/http/flush_progress.h"

namespace tacho {
namespace {

// The most steps to record if the engine has no figures: a second or two of decoding, and about 3 s
// of flush if each step adds 50 ms.
constexpr int64_t kUnknownSteps = 64;
constexpr int64_t kUnknownWindowNs = 2'000'000'000;
// The least to record, even if it exceeds a budget that the user set.
constexpr int64_t kLeastStepsAsked = 4;
constexpr int64_t kLeastWindowNs = 100'000'000;
// A window of slow steps is never made longer than this.
constexpr int64_t kLongestWindowNs = 120'000'000'000;
// A window by steps lasts at most this multiple of its planned time, plus this slack: steps take
// longer while they are profiled, and a window without any step must end too.
constexpr int64_t kSlackOfSteps = 4;
constexpr int64_t kSlackNs = 1'000'000'000;

// If the fixed part of a flush exceeds this share of the budget, it does not count against the
// budget, because fewer steps would hardly make the flush shorter.
constexpr double kMostFixed = 0.75;
// Two sessions must differ in size by at least this factor to show the fixed part.
constexpr double kOtherSize = 1.5;

// The forecast for one session that is `times` as large as the known one. A flush sorts events and
// builds trees, so its time grows slightly faster than its events.
Forecast Scaled(const ProfileFigures& figures, double times) {
  const double few = std::log(std::max(figures.events, 2.0));
  const double many = std::log(std::max(figures.events * times, 2.0));
  return {figures.bytes * times, figures.fixed_ns + (figures.flush_ns - figures.fixed_ns) * times *
                                                        std::max(1.0, many / few)};
}

bool IsMostlyFixed(const ProfileFigures& figures, const Budget& budget) {
  return figures.fixed_ns > kMostFixed * static_cast<double>(budget.flush_ns);
}

// How many times the session of `figures` fits into the budget.
double Times(const ProfileFigures& figures, const Budget& budget, bool stalls) {
  double times = INFINITY;
  if (figures.bytes > 0) times = static_cast<double>(budget.bytes) / figures.bytes;
  ProfileFigures growing = figures;
  growing.flush_ns -= figures.fixed_ns;
  growing.fixed_ns = 0;
  if (!stalls || growing.flush_ns <= 0) return times;
  const double most = static_cast<double>(budget.flush_ns) -
                      (IsMostlyFixed(figures, budget) ? 0 : figures.fixed_ns);
  times = std::min(times, most / growing.flush_ns);
  for (int i = 0; i < 8 && Scaled(growing, times).flush_ns > most; ++i)
    times *= most / Scaled(growing, times).flush_ns;
  return times;
}

int64_t Whole(double value, int64_t least, int64_t most) {
  if (!(value < static_cast<double>(most))) return most;
  return std::max(least, static_cast<int64_t>(value));
}

int64_t StepsWithin(const Outlook& worker, const Budget& budget) {
  if (!worker.figures || worker.figures->steps <= 0) return kUnknownSteps;
  return Whole(worker.figures->steps * Times(*worker.figures, budget, worker.stalls),
               budget.asked ? kLeastStepsAsked : kLeastSteps, INT32_MAX);
}

// How long kLeastSteps take at this rate.
int64_t LeastNs(double steps_per_s) {
  return Whole(kLeastSteps / steps_per_s * 1e9, kLeastWindowNs, kLongestWindowNs);
}

int64_t TimeWithin(const Outlook& worker, const Budget& budget, int64_t most_ns) {
  if (!worker.figures || worker.figures->window_ns <= 0) return std::min(kUnknownWindowNs, most_ns);
  const bool known = worker.steps_per_s.value_or(0) > 0 && !budget.asked;
  return Whole(worker.figures->window_ns * Times(*worker.figures, budget, worker.stalls),
               std::min(known ? LeastNs(*worker.steps_per_s) : kLeastWindowNs, most_ns), most_ns);
}

// Whether the budget alone would allow fewer than kLeastSteps.
bool HoldsTooFew(const Outlook& worker, const Budget& budget) {
  if (budget.asked || !worker.figures) return false;
  const double times = Times(*worker.figures, budget, worker.stalls);
  if (worker.counts_steps)
    return worker.figures->steps > 0 && worker.figures->steps * times < kLeastSteps;
  return worker.steps_per_s.value_or(0) > 0 &&
         worker.figures->window_ns * times < static_cast<double>(LeastNs(*worker.steps_per_s));
}

void KeepDearest(std::optional<Forecast>& kept, const Forecast& other) {
  if (!kept) kept = Forecast();
  kept->bytes = std::max(kept->bytes, other.bytes);
  kept->flush_ns = std::max(kept->flush_ns, other.flush_ns);
}

std::string StepsText(int64_t steps) {
  return fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
}

}  // namespace

std::string SizeText(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  return fmt::format("{:.{}f} MB", bytes / 1e6, bytes >= 1e7 ? 0 : 1);
}

std::string Forecast::Text() const {
  return fmt::format("{} and {} of flush", SizeText(bytes),
                     SecondsText(static_cast<int64_t>(flush_ns)));
}

Forecast ForecastOfSteps(const ProfileFigures& figures, double steps) {
  return figures.steps > 0 ? Scaled(figures, steps / figures.steps) : Forecast();
}

Forecast ForecastOfTime(const ProfileFigures& figures, std::optional<double> steps_per_s,
                        int64_t window_ns) {
  const auto time_ns = static_cast<double>(window_ns);
  if (steps_per_s && figures.steps > 0)
    return ForecastOfSteps(figures, *steps_per_s * time_ns / 1e9);
  return figures.window_ns > 0 ? Scaled(figures, time_ns / figures.window_ns) : Forecast();
}

bool ProfileFigures::LearnFixed(const ProfileFigures& other) {
  const bool larger = events > other.events;
  const ProfileFigures& more = larger ? *this : other;
  const ProfileFigures& less = larger ? other : *this;
  if (less.events <= 0 || more.events < kOtherSize * less.events) return false;
  // Even if nothing else grows, the table grows with its events.
  const double each = std::max(more.table_ns / more.events,
                               (more.flush_ns - less.flush_ns) / (more.events - less.events));
  const double most = std::min(less.flush_ns, std::max(0.0, more.flush_ns - more.table_ns));
  fixed_ns = std::clamp(less.flush_ns - each * less.events, 0.0, most);
  return true;
}

WindowPlan PlanWindow(const std::vector<Outlook>& workers, const Budget& budget,
                      const AskedWindow& asked) {
  WindowPlan plan;
  plan.window_ns = asked.window_ns;
  plan.steps = asked.steps;
  plan.by_budget = !asked.steps && !asked.time;
  double slowest = INFINITY;  // in steps per second
  for (const Outlook& worker : workers)
    if (worker.steps_per_s.value_or(0) > 0) slowest = std::min(slowest, *worker.steps_per_s);
  if (plan.by_budget) {
    if (!budget.asked && slowest < INFINITY)
      plan.window_ns = std::max(plan.window_ns, LeastNs(slowest));
    for (const Outlook& worker : workers) {
      if (worker.counts_steps)
        plan.steps = std::min(plan.steps.value_or(INT64_MAX), StepsWithin(worker, budget));
      else
        plan.most_ns =
            std::min(plan.most_ns.value_or(INT64_MAX), TimeWithin(worker, budget, plan.window_ns));
    }
    plan.window_ns = std::min(plan.window_ns, plan.most_ns.value_or(INT64_MAX));
  }
  for (const Outlook& worker : workers) {
    plan.each.emplace_back();
    if (!worker.figures) continue;
    if (plan.by_budget && worker.stalls && IsMostlyFixed(*worker.figures, budget))
      plan.fixed_ns = std::max(plan.fixed_ns.value_or(0), worker.figures->fixed_ns);
    const Forecast whole = ForecastOfTime(*worker.figures, worker.steps_per_s, asked.window_ns);
    KeepDearest(plan.whole, whole);
    const Forecast in_time = ForecastOfTime(*worker.figures, worker.steps_per_s, plan.window_ns);
    const bool ends_by_steps = plan.steps && (worker.counts_steps || asked.steps);
    Forecast planned = in_time;
    if (ends_by_steps) {
      planned = ForecastOfSteps(*worker.figures, static_cast<double>(*plan.steps));
      // Steps may come faster than in the baseline: assumes at least the rate of the figures.
      std::optional<double> rate = worker.steps_per_s;
      if (worker.figures->window_ns > 0)
        rate = std::max(rate.value_or(0), worker.figures->steps * 1e9 / worker.figures->window_ns);
      const Forecast at_most = ForecastOfTime(*worker.figures, rate, plan.window_ns);
      if (!asked.steps && worker.sure && at_most.bytes < planned.bytes) planned = in_time;
    }
    plan.each.back() = planned;
    KeepDearest(plan.planned, planned);
  }
  if (plan.steps && slowest < INFINITY) {
    plan.planned_ns = Whole(static_cast<double>(*plan.steps) / slowest * 1e9, 0, kSlackNs * 3600);
    // Ends a window whose engine gets no request and so takes no step.
    if (plan.by_budget)
      plan.window_ns = std::min(plan.window_ns, kSlackOfSteps * *plan.planned_ns + kSlackNs);
  }
  if (plan.by_budget)
    plan.shortened =
        !plan.whole || (plan.planned && plan.planned->bytes < 0.99 * plan.whole->bytes);
  const bool too_few = std::ranges::any_of(
      workers, [&](const Outlook& worker) { return HoldsTooFew(worker, budget); });
  plan.over = (!plan.by_budget || plan.fixed_ns || too_few) && plan.planned &&
              (plan.planned->bytes > static_cast<double>(budget.bytes) ||
               plan.planned->flush_ns > static_cast<double>(budget.flush_ns));
  return plan;
}

std::string WindowPlan::Text(const AskedWindow& asked, const Budget& budget) const {
  const std::string bound = steps && most_ns
                                ? fmt::format("{} or {}", StepsText(*steps), SecondsText(*most_ns))
                            : steps ? StepsText(*steps)
                                    : SecondsText(window_ns);
  if (!planned)
    return by_budget ? fmt::format("what a step writes is not known: bounded to {}", bound)
                     : fmt::format("what {} will write is not known", bound);
  if (fixed_ns)
    return fmt::format(
        "a flush takes {} however few steps it holds: {} the budget of {} (--budget-flush); "
        "recorded: {}, about {} a rank",
        SecondsText(static_cast<int64_t>(*fixed_ns)),
        *fixed_ns > static_cast<double>(budget.flush_ns) ? "over" : "most of",
        SecondsText(budget.flush_ns), bound, planned->Text());
  const std::string over_text =
      over ? fmt::format(": over the budget of {} and {} (--budget-bytes, --budget-flush)",
                         SizeText(static_cast<double>(budget.bytes)), SecondsText(budget.flush_ns))
           : "";
  if (by_budget && (shortened || over)) {
    std::string text = fmt::format("about {} a rank for {}; bounded to {}: {}", whole->Text(),
                                   SecondsText(asked.window_ns), bound, planned->Text());
    if (over) text += fmt::format(", the least that shows how an engine decodes{}", over_text);
    if (planned_ns.value_or(0) > asked.window_ns)
      text += fmt::format("; they take about {}", SecondsText(*planned_ns));
    return text;
  }
  std::string text = fmt::format("about {} a rank for {}", planned->Text(),
                                 asked.steps ? StepsText(*asked.steps) : SecondsText(window_ns));
  if (over) text += ", as asked for" + over_text;
  return text;
}

}  // namespace tacho
