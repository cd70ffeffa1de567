#include "load/drive/drive.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "load/drive/body_feed.h"
#include "load/drive/flights.h"
#include "load/drive/lanes.h"
#include "load/drive/loop_watch.h"
#include "load/drive/paces.h"
#include "load/drive/request_body.h"
#include "load/plan/numbered_plan.h"

namespace tacho {
namespace {

constexpr size_t kFirstBodies = 64;
// After this many sends, the loop writes them and reads answers before it sends more: a thousand
// sends in one go would delay each other.
constexpr int kSendsATurn = 4;
constexpr std::chrono::milliseconds kGuardEvery{100};
// If the client is later than this, the time at which it finds bytes does not show when they came.
constexpr int64_t kMostLagNs = 2 * kNsPerMs;

std::string FreshPrefix() { return fmt::format("tacho-{:08x}-", FreshSalt() & 0xffffffff); }

class Driver : public std::enable_shared_from_this<Driver> {
 public:
  Driver(HttpClient& client, const LoadPlan& plan, const std::vector<DriveTarget>& targets,
         std::vector<std::string> addresses, DriveProgress& progress, const DriveOptions& options)
      : client_(client),
        plan_(plan),
        targets_(targets),
        progress_(progress),
        id_prefix_(options.id_prefix.empty() ? FreshPrefix() : options.id_prefix),
        real_time_(options.real_time),
        open_loop_(plan.options.OpenLoop()),
        requests_(plan),
        lanes_(requests_, plan.options, targets.size()),
        body_order_(requests_, lanes_),
        bodies_(std::make_unique<BodyFeed>([this] { return body_order_.Next(); },
                                           [this](uint64_t index) {
                                             return BodyOf(targets_[lanes_.TargetOf(index)],
                                                           requests_[index],
                                                           requests_.SaltOf(index), IdOf(index));
                                           })),
        paces_(requests_, lanes_),
        flights_(
            client, targets, std::move(addresses), progress,
            [this](int64_t at_ns, std::function<void()> job) {
              After(at_ns, [job = std::move(job)](Driver&) { job(); });
            },
            [this](RequestRecord record, int64_t retry_after_s) {
              OnEnd(std::move(record), retry_after_s);
            }) {}

  LoadRecords Run(std::stop_token stop) {
    bodies_->WaitForFirst(std::min(kFirstBodies, plan_.requests.size()));
    std::future<void> over = over_.get_future();
    client_.Post([self = shared_from_this()] { self->Begin(); });
    const std::stop_callback on_stop(
        stop, [this] { client_.Post([self = shared_from_this()] { self->EndAll("stopped"); }); });
    while (over.wait_for(kGuardEvery) != std::future_status::ready) {
      priority_.EaseIfStuck(MonotonicNs());
    }
    bodies_.reset();  // the feed's thread reads the plan, which may be destroyed before this object
    if (records_.client.lag_p99_ns > kMostLagNs) {
      for (RequestRecord& record : records_.requests) record.all_unsure = !record.by_kernel;
    }
    std::sort(records_.requests.begin(), records_.requests.end(),
              [](const RequestRecord& a, const RequestRecord& b) { return a.index < b.index; });
    return std::move(records_);
  }

 private:
  std::string IdOf(uint64_t index) const { return fmt::format("{}{}", id_prefix_, index); }

  void Begin() {
    start_ns_ = MonotonicNs();
    records_.started_ns = start_ns_;
    records_.clocks.push_back(ReadClocks());
    if (real_time_) priority_.Raise();
    watch_.Begin(start_ns_);
    Tick(start_ns_ + LoopWatch::kPeriodNs);
    if (plan_.options.duration_ns && !plan_.options.until_stopped) {
      After(start_ns_ + *plan_.options.duration_ns, [](Driver& self) { self.EndSending(); });
    }
    Pump();
    EndIfOver();
  }

  // Calls `job` at `at_ns`, unless the load has ended by then.
  void After(int64_t at_ns, std::function<void(Driver&)> job) {
    client_.At(at_ns, [weak = weak_from_this(), job = std::move(job)] {
      const auto self = weak.lock();
      if (self && !self->finished_) job(*self);
    });
  }

  // Sends requests that are due and for which their lane has a free place; the lanes take turns.
  void Pump() {
    for (int sends = 0; !paces_.NobodysTurn(); ++sends) {
      if (sends == kSendsATurn)
        return client_.Post([weak = weak_from_this()] {
          const auto self = weak.lock();
          if (self && !self->finished_) self->Pump();
        });
      Pace& pace = paces_.NextInTurn();
      if (SendNext(pace)) paces_.TakesTurn(pace);
    }
  }

  // Sends the lane's next request if it is due and the lane has a free place. If it is not due yet,
  // schedules another try. Returns false if nothing was sent.
  bool SendNext(Pace& pace) {
    if (ending_ || !pace.HasRoom()) return false;
    const auto next = paces_.NextOf(pace);
    if (!next) return false;
    const uint64_t index = *next;
    const int64_t at = start_ns_ + requests_.AtNsOf(index), now = MonotonicNs();
    if (at > now) {
      if (std::exchange(pace.due_at_ns, at) != at) {
        After(at, [lane = pace.lane](Driver& self) {
          self.paces_.TakesTurn(self.paces_[lane]);
          self.Pump();
        });
      }
      return false;
    }
    ++pace.cursor;
    const int64_t free_since = pace.TakePlace();
    if (open_loop_) {
      Send(index, at, std::max(at, free_since));
    } else if (free_since == 0) {
      // A user's first request. Users begin one after the other.
      Send(index, now, now);
    } else {
      SendLater(index, free_since + requests_[index].think_ns);
    }
    return true;
  }

  void SendLater(uint64_t index, int64_t at_ns) {
    bodies_->Announce(index);
    const auto send = [index, at_ns](Driver& self) {
      if (!self.ending_) return self.Send(index, at_ns, at_ns);
      ++self.paces_.Of(index).resting;
      self.paces_.FreePlace(self.paces_.Of(index), at_ns);
      self.EndIfOver();
    };
    if (at_ns <= MonotonicNs()) return send(*this);
    After(at_ns, send);
  }

  void Send(uint64_t index, int64_t intended_ns, int64_t admitted_ns) {
    const PlannedRequest& request = requests_[index];
    RequestRecord record;
    record.index = index;
    record.id = IdOf(index);
    record.scenario = request.scenario;
    record.in_session = requests_.InSession(index);
    record.session = requests_.SessionOf(index);
    record.turn = request.turn;
    record.intended_ns = intended_ns;
    record.admitted_ns = admitted_ns;
    record.planned_prompt_tokens = request.prompt_tokens;
    record.planned_output_tokens = request.output_tokens;
    std::string body = bodies_->Take(index);
    if (request.turn == 0) body_order_.Sent(lanes_.LaneOf(index));
    if (requests_.HasFollower(index)) bodies_->Announce(index + 1);
    flights_.Start(std::move(record), lanes_.TargetOf(index), std::move(body));
  }

  void OnEnd(RequestRecord record, int64_t retry_after_s) {
    // After a broken answer the user pauses just as after a missing one.
    const bool failed =
        record.status == RequestStatus::kFailed || record.status == RequestStatus::kPartial;
    const uint64_t index = record.index;
    Pace& pace = paces_.Of(index);
    pace.failures.Count(failed, MonotonicNs());
    const int64_t ended_ns = record.ended_ns;
    const int64_t pause_ns = failed ? pace.failures.PauseNs(retry_after_s) : 0;
    // Use `record` before this line. Once the record is stored the load may end, and the records
    // may then belong to another thread.
    records_.requests.push_back(std::move(record));
    ++pace.resting;
    const bool more = requests_.HasFollower(index) || !paces_.AreThrough();
    if (failed && more && paces_.AreHopeless(MonotonicNs())) return GiveUp();
    GoOn(index, ended_ns, pause_ns);
    EndIfOver();
  }

  void GiveUp() {
    const RequestRecord& last = records_.requests.back();
    EndAll(fmt::format("given up after {} failures and no success between, the last{}: {}",
                       paces_.FailuresInVain(MonotonicNs()),
                       paces_.count() > 1 ? ", at " + last.url : "", last.error));
  }

  // Starts the request that had to wait for request `index` to end.
  void GoOn(uint64_t index, int64_t ended_ns, int64_t pause_ns) {
    if (!ending_ && requests_.HasFollower(index)) {
      --paces_.Of(index).resting;
      return SendLater(index + 1, ended_ns + std::max(requests_[index + 1].think_ns, pause_ns));
    }
    if (!ending_ && !open_loop_ && pause_ns > 0) {
      // The user pauses before the next request and keeps the lane's place meanwhile.
      return After(ended_ns + pause_ns, [index, at = ended_ns + pause_ns](Driver& self) {
        self.FreePlace(index, at);
        self.EndIfOver();
      });
    }
    FreePlace(index, ended_ns);
  }
  void FreePlace(uint64_t index, int64_t at_ns) {
    paces_.FreePlace(paces_.Of(index), at_ns);
    Pump();
  }

  void EndSending() {
    ending_ = true;
    if (plan_.options.grace_ns <= 0) return EndAll("");
    After(MonotonicNs() + plan_.options.grace_ns, [](Driver& self) { self.EndAll(""); });
    EndIfOver();
  }

  // Cancels the requests in flight. `why` is "" if the load ends as planned.
  void EndAll(std::string why) {
    if (finished_) return;
    ending_ = true;
    if (records_.ended_early.empty()) {
      records_.broken_off = !why.empty();
      records_.ended_early = std::move(why);
    }
    flights_.CancelAll("cancelled at the end of the load");
    EndIfOver();
  }

  void EndIfOver() {
    if (finished_ || !flights_.empty()) return;
    if (!ending_) {
      if (!paces_.AreThrough()) return;
      if (!plan_.options.requests && !open_loop_) {
        records_.ended_early = "all requests of the dataset were sent before the time was up";
      }
    }
    finished_ = true;
    // Keeps this object alive until its callers have returned.
    client_.Post([self = shared_from_this()] {});
    records_.ended_ns = MonotonicNs();
    records_.clocks.push_back(ReadClocks());
    records_.client = watch_.End(records_.ended_ns);
    records_.client.priority = priority_.priority();
    priority_.Restore();
    progress_.waiting = 0;
    over_.set_value();
  }

  void Tick(int64_t due_ns) {
    After(due_ns, [due_ns](Driver& self) {
      const int64_t now = MonotonicNs();
      self.priority_.Look(now);
      if (self.watch_.Look(due_ns, now)) {
        self.records_.clocks.push_back(ReadClocks());
        self.flights_.GiveUpStalled(now);
      }
      self.TellWaiting(now);
      self.Tick(std::max(due_ns + LoopWatch::kPeriodNs, now));
    });
  }

  void TellWaiting(int64_t now) {
    if (!open_loop_) return;
    const auto due = std::upper_bound(
        plan_.requests.begin(), plan_.requests.end(), now - start_ns_,
        [](int64_t at, const PlannedRequest& request) { return at < request.at_ns; });
    // Counts the due requests that wait for a place. An open loop has only lane 0. Later turns of a
    // conversation are not counted, because they wait for earlier turns and not for a place.
    const auto next = plan_.requests.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(
                                                   paces_[0].cursor, plan_.requests.size()));
    progress_.waiting = next < due
                            ? static_cast<uint64_t>(std::count_if(
                                  next, due, [](const PlannedRequest& r) { return r.turn == 0; }))
                            : 0;
  }

  HttpClient& client_;
  const LoadPlan& plan_;
  const std::vector<DriveTarget>& targets_;
  DriveProgress& progress_;
  const std::string id_prefix_;
  const bool real_time_, open_loop_;
  const NumberedPlan requests_;
  const Lanes lanes_;
  BodyOrder body_order_;
  std::unique_ptr<BodyFeed> bodies_;
  std::promise<void> over_;
  ThreadPriority priority_;
  // Only the client's thread uses these.
  LoopWatch watch_;
  Paces paces_;
  LoadRecords records_;
  Flights flights_;
  int64_t start_ns_ = 0;
  bool ending_ = false, finished_ = false;
};

}  // namespace

void LoadRecords::MarkFlush(int64_t from_ns, int64_t to_ns) {
  if (to_ns <= from_ns) return;
  flush_from_ns = from_ns;
  flush_to_ns = to_ns;
  for (RequestRecord& request : requests)
    request.met_flush =
        request.sent_ns != 0 && request.sent_ns < to_ns && request.ended_ns > from_ns;
}

Result<LoadRecords> Drive(HttpClient& client, const LoadPlan& plan,
                          const std::vector<DriveTarget>& targets, DriveProgress& progress,
                          std::stop_token stop, const DriveOptions& options) {
  if (targets.empty()) return Fail(ErrorKind::kUsage, "no server to send to");
  std::vector<std::string> addresses;
  for (const DriveTarget& target : targets) {
    TACHO_ASSIGN_OR_RETURN(auto address, AddressOf(target));
    addresses.push_back(std::move(address));
  }
  const auto driver =
      std::make_shared<Driver>(client, plan, targets, std::move(addresses), progress, options);
  return driver->Run(stop);
}

}  // namespace tacho
