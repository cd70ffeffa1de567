#include "analysis/ranks/sessions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "analysis/ranks/recordings.h"

namespace tacho {
namespace {

// In one session, ranks start and stop less than this time apart. A user who restarts the profilers
// by hand takes longer.
constexpr DurationNs kApart{1'000'000'000};

size_t Digits(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

// Whether `text` starts with a date: "20261121-222238".
bool StartsWithDate(std::string_view text) {
  return Digits(text) == 8 && text.substr(8).starts_with('-') && Digits(text.substr(9)) == 6;
}

// The last "tacho-20261121-222238" in `path`; "" if there is none.
std::string KeyOfTacho(std::string_view path) {
  constexpr std::string_view kOurs = "tacho-";
  constexpr size_t kOursSize = kOurs.size() + 15;
  for (size_t at = path.rfind(kOurs); at != std::string_view::npos && path.size() > 0;
       at = at == 0 ? std::string_view::npos : path.rfind(kOurs, at - 1)) {
    if (StartsWithDate(path.substr(at + kOurs.size()))) {
      return std::string(path.substr(at, kOursSize));
    }
  }
  return "";
}

// Disjoint sets of indexes (union-find).
class Sets {
 public:
  explicit Sets(size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  size_t Of(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(size_t a, size_t b) { parent_[Of(a)] = Of(b); }

 private:
  std::vector<size_t> parent_;
};

}  // namespace

std::string SessionKey(std::string_view path) {
  if (std::string ours = KeyOfTacho(path); !ours.empty()) return ours;
  // SGLang's form: "prefix-1795263589.7707117-TP-0-DP-1.trace.json.gz".
  const std::string_view file = path.substr(path.find_last_of("/:") + 1);
  const size_t rank = file.find("-TP-");
  if (rank == std::string_view::npos) return "";
  const std::string_view key = file.substr(0, rank);
  const std::string_view time = key.substr(key.rfind('-') + 1);  // npos + 1 is 0
  const size_t seconds = Digits(time);
  const bool is_time = seconds >= 10 && time.substr(seconds).starts_with('.') &&
                       seconds + 1 + Digits(time.substr(seconds + 1)) == time.size();
  return is_time ? std::string(key) : "";
}

std::optional<std::vector<std::vector<size_t>>> SessionsByName(
    const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<size_t>> by_key;  // keys hold dates, which sort as text
  for (size_t i = 0; i < paths.size(); ++i) by_key[KeyOfTacho(paths[i])].push_back(i);
  if (by_key.empty() || by_key.begin()->first.empty()) return std::nullopt;
  std::vector<std::vector<size_t>> sessions;
  for (auto& [key, traces] : by_key) sessions.push_back(std::move(traces));
  return sessions;
}

std::vector<std::vector<size_t>> SessionsOf(const std::vector<RankInput>& traces) {
  std::vector<std::string> paths;
  for (const RankInput& trace : traces) paths.push_back(trace.path);
  if (auto sessions = SessionsByName(paths)) return *std::move(sessions);
  const std::vector<std::optional<Interval>> times = RecordedTimes(traces);
  Sets sets(traces.size());
  std::map<std::string, size_t> by_key, by_id;
  std::vector<bool> is_told(traces.size());
  std::vector<size_t> by_start;
  const auto join_same = [&](std::map<std::string, size_t>& first, const std::string& name,
                             size_t i) {
    if (name.empty()) return;
    is_told[i] = true;
    sets.Join(i, first.try_emplace(name, i).first->second);
  };
  for (size_t i = 0; i < traces.size(); ++i) {
    const std::string key = SessionKey(traces[i].path);
    join_same(by_key, key, i);
    if (!times[i]) continue;
    if (key.empty()) join_same(by_id, traces[i].trace_id, i);
    is_told[i] = true;
    by_start.push_back(i);
  }
  std::ranges::stable_sort(by_start, {}, [&](size_t i) { return times[i]->start; });
  TimeNs reach;
  for (size_t k = 0; k < by_start.size(); ++k) {
    const Interval& when = *times[by_start[k]];
    if (k > 0 && when.start.ns < AddSaturated(reach.ns, kApart.ns))
      sets.Join(by_start[k], by_start[k - 1]);
    reach = k == 0 ? when.end : std::max(reach, when.end);
  }

  struct Session {
    std::optional<TimeNs> end;
    std::vector<size_t> traces;
  };
  std::map<size_t, Session> by_set;
  for (size_t i = 0; i < traces.size(); ++i) {
    if (!is_told[i]) continue;
    Session& session = by_set[sets.Of(i)];
    session.traces.push_back(i);
    if (times[i]) session.end = std::max(session.end.value_or(times[i]->end), times[i]->end);
  }
  std::vector<Session> sessions;
  for (auto& [set, session] : by_set) sessions.push_back(std::move(session));
  if (sessions.empty()) sessions.emplace_back();
  std::ranges::sort(sessions, {}, [](const Session& s) { return std::pair(s.end, s.traces); });
  std::vector<std::vector<size_t>> result;
  for (Session& session : sessions) {
    for (size_t i = 0; i < traces.size(); ++i) {
      if (!is_told[i]) session.traces.push_back(i);
    }
    std::ranges::sort(session.traces);
    result.push_back(std::move(session.traces));
  }
  return result;
}

std::vector<bool> SessionChoice::IsChosen() const {
  std::vector<bool> is_chosen(paths.size(), false);
  if (chosen())
    for (const size_t trace : sessions[*chosen()]) is_chosen[trace] = true;
  return is_chosen;
}

SessionChoice ChooseSession(const std::string& asked, std::vector<std::vector<size_t>> sessions,
                            std::vector<std::string> paths) {
  SessionChoice choice{std::move(sessions), std::move(paths), {}};
  for (size_t i = 0; i < choice.sessions.size(); ++i) {
    const bool is_it = asked == "latest"
                           ? i + 1 == choice.sessions.size()
                           : std::ranges::any_of(choice.sessions[i], [&](size_t trace) {
                               return choice.paths[trace].find(asked) != std::string::npos;
                             });
    if (is_it) choice.matches.push_back(i);
  }
  return choice;
}

}  // namespace tacho
