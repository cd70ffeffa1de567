#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// How long a recording may be before it costs its engines too much. Pure functions. The size of a
// trace and the time of its flush grow with the steps in it (vLLM 0.32 on a CPU: about 50 us of
// flush an event from 7,000 to 231,000 events, nearly all of it for its table).

// What one session of a rank's profiler recorded and cost.
struct ProfileFigures {
  double steps = 0;  // engine steps; 0: nothing names them
  double events = 0;
  double bytes = 0;      // the size of its file
  double window_ns = 0;  // from its first event to its last
  double flush_ns = 0;   // from its last event until all was written
  double table_ns = 0;   // the part of flush_ns for vLLM's table (profiler_out)
  double fixed_ns = 0;   // the part of flush_ns that does not depend on the steps, as far as known

  // Sets fixed_ns by a straight line through this session and another one of the same engine.
  // Returns false if their sizes are too similar.
  bool LearnFixed(const ProfileFigures& other);
};

// The budget of one rank.
struct Budget {
  uint64_t bytes = 100'000'000;
  int64_t flush_ns = 5'000'000'000;
  bool asked = false;  // set by the user: it may hold fewer than kLeastSteps
};
// The fewest steps that show how an engine decodes: 16 decode steps even if every other step
// prefills. tacho's own budget allows so many, whatever they cost.
constexpr int64_t kLeastSteps = 32;

// What a rank's session will write and cost.
struct Forecast {
  double bytes = 0, flush_ns = 0;
  std::string Text() const;  // "40 MB and 3.1 s of flush"
};
Forecast ForecastOfSteps(const ProfileFigures& figures, double steps);
Forecast ForecastOfTime(const ProfileFigures& figures, std::optional<double> steps_per_s,
                        int64_t window_ns);

// What is known of a worker before its start.
struct Outlook {
  std::optional<ProfileFigures> figures;  // of its most expensive rank
  std::optional<double> steps_per_s;      // by the engine's counters, without profiling
  bool counts_steps = false;              // its engine can end a session after a number of steps
  bool stalls = true;                     // a flush holds up the engine
  bool sure = true;                       // steps_per_s is from a baseline in which requests ended
};

struct AskedWindow {
  std::optional<int64_t> steps;
  bool time = false;      // the window's length was asked for: its time, or a number of requests
  int64_t window_ns = 0;  // at most
};

struct WindowPlan {
  std::optional<int64_t> steps;  // after which engines that count end their sessions by themselves
  int64_t window_ns = 0;         // at most, from when the last profiler runs
  // How long engines that cannot count may record, each from its own start; absent: until the end.
  std::optional<int64_t> most_ns;
  bool by_budget = false;  // nothing was asked for: the budget bounds it
  bool shortened = false;  // the budget makes it shorter
  bool over = false;       // what was asked for, fixed_ns or kLeastSteps exceed the budget
  // The time of a flush that does not depend on the steps, if that is most of the budget or more.
  std::optional<double> fixed_ns;
  std::vector<std::optional<Forecast>> each;  // for a rank of each worker, in the workers' order
  std::optional<Forecast> whole;              // of the most expensive rank, without a bound
  std::optional<Forecast> planned;            // of the most expensive rank
  std::optional<int64_t> planned_ns;          // how long `steps` take

  // The text before the start: "about 380 MB and 25.0 s of flush a rank for 10.0 s; bounded to 512
  // steps: 40 MB and 3.1 s of flush".
  std::string Text(const AskedWindow& asked, const Budget& budget) const;
};

// Plans exactly what was asked for. If nothing was asked for, the budget bounds the window: by
// steps if engines count them, else by time. If nothing is known of what a worker writes, the
// window has few steps.
WindowPlan PlanWindow(const std::vector<Outlook>& workers, const Budget& budget,
                      const AskedWindow& asked);

// "380 MB", "1.2 GB", "0.4 MB".
std::string SizeText(double bytes);

}  // namespace tacho
