#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Plans how long a recording may be before it costs its engines too much. Pure functions. The size
// of a trace and the time of its flush grow with the number of its steps (vLLM 0.32 on a CPU: about
// 50 us of flush for each event, from 7,000 to 231,000 events, nearly all of it for vLLM's table of
// averages).

// What one profiling session of a rank recorded, and what it cost.
struct ProfileFigures {
  double steps = 0;  // engine steps; 0: its trace does not name steps
  double events = 0;
  double bytes = 0;      // the size of its trace file
  double window_ns = 0;  // from its first event to its last
  double flush_ns = 0;   // from its last event until everything was written
  double table_ns = 0;   // the part of flush_ns that vLLM spends on its table (profiler_out)
  double fixed_ns = 0;   // the part of flush_ns that does not grow with the steps, as far as known

  // Sets fixed_ns by a straight line through this session and another session of the same engine.
  // Returns false if the two sessions are too similar in size.
  bool LearnFixed(const ProfileFigures& other);
};

// What one rank's recording may cost.
struct Budget {
  uint64_t bytes = 100'000'000;
  int64_t flush_ns = 5'000'000'000;
  bool asked = false;  // the user set it: then it may hold fewer than kLeastSteps
};
// The fewest steps that show how an engine decodes: 16 decode steps, even if every other step is a
// prefill. tacho's own budget always allows this many, whatever they cost.
constexpr int64_t kLeastSteps = 32;

// What a rank's session will write, and what its flush will cost.
struct Forecast {
  double bytes = 0, flush_ns = 0;
  std::string Text() const;  // "40 MB and 3.1 s of flush"
};
Forecast ForecastOfSteps(const ProfileFigures& figures, double steps);
Forecast ForecastOfTime(const ProfileFigures& figures, std::optional<double> steps_per_s,
                        int64_t window_ns);

// What is known about a worker before its start.
struct Outlook {
  std::optional<ProfileFigures> figures;  // of its most expensive rank
  std::optional<double> steps_per_s;      // from the engine's counters, without profiling
  bool counts_steps = false;  // its engine can end a session after a given number of steps
  bool stalls = true;         // a flush holds up the engine
  bool sure = true;           // steps_per_s is from a baseline in which some requests ended
};

struct AskedWindow {
  std::optional<int64_t> steps;
  bool time = false;      // the window's length was asked for, by a time or by a number of requests
  int64_t window_ns = 0;  // the longest window
};

struct WindowPlan {
  std::optional<int64_t> steps;  // engines that count steps end their sessions after this many
  int64_t window_ns = 0;         // at most, counted from when the last profiler runs
  // For engines that cannot count steps: the longest time of each engine's session, from its own
  // start; absent: until the window ends.
  std::optional<int64_t> most_ns;
  bool by_budget = false;  // nothing was asked for: the budget bounds it
  bool shortened = false;  // the budget makes the window shorter
  // The plan exceeds the budget, because of what was asked for, fixed_ns or kLeastSteps.
  bool over = false;
  // The time that a flush takes whatever its steps; set if it is most of the budget or exceeds it.
  std::optional<double> fixed_ns;
  std::vector<std::optional<Forecast>> each;  // for one rank of each worker, in the workers' order
  std::optional<Forecast> whole;      // of the most expensive rank, if the budget set no bound
  std::optional<Forecast> planned;    // of the most expensive rank, for this plan
  std::optional<int64_t> planned_ns;  // how long `steps` take

  // What the user is told before the recording starts: "about 380 MB and 25.0 s of flush a rank for
  // 10.0 s; bounded to 512 steps: 40 MB and 3.1 s of flush".
  std::string Text(const AskedWindow& asked, const Budget& budget) const;
};

// Plans exactly what was asked for. If nothing was asked for, the budget bounds the window: by
// steps if engines count them, else by time. The window has few steps if it is not known how much a
// worker writes.
WindowPlan PlanWindow(const std::vector<Outlook>& workers, const Budget& budget,
                      const AskedWindow& asked);

// "380 MB", "1.2 GB", "0.4 MB".
std::string SizeText(double bytes);

}  // namespace tacho
