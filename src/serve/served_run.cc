#include "serve/served_run.h"

#include "base/monotonic_clock.h"
#include "serve/meta_json.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

constexpr int64_t kProgressEveryNs = 100'000'000;

}  // namespace

ServedRun::ServedRun(ServedRunInfo info, const Classifier& classifier)
    : info_(std::move(info)),
      classifier_(classifier),
      view_(info_.paths),
      events_([this](const std::vector<size_t>& ranks) { return RankEntries(ranks); }) {
  if (info_.start.kind == ServedStart::Kind::kTime) start_ = FindStart(info_.start, {});
  SendProgress();
}

void ServedRun::SendProgress() {
  JsonWriter json;
  json.BeginRow();
  WriteReadJson(json, *this);
  json.End();
  events_.SendProgress(std::move(json).Finish());
}

std::vector<std::string> ServedRun::RankEntries(const std::vector<size_t>& ranks) const {
  const std::vector<RankEntry> entries = view_.entries();
  std::vector<std::string> texts;
  for (const size_t rank : ranks) {
    JsonWriter json;
    json.BeginObject();
    json.Field("rank", rank);
    WriteRankJson(json, entries[rank], nullptr);
    json.End();
    texts.push_back(std::move(json).Finish());
  }
  return texts;
}

void ServedRun::SendRanks(const std::vector<size_t>& changed) {
  events_.SendRanks(changed);
  SendProgress();
}

void ServedRun::Begin(size_t rank) { view_.Begin(rank); }

void ServedRun::AddBytes(uint64_t stored_bytes) {
  read_bytes_ += stored_bytes;
  int64_t due = progress_due_ns_;
  const int64_t now = MonotonicNs();
  if (now >= due && progress_due_ns_.compare_exchange_strong(due, now + kProgressEveryNs))
    SendProgress();
}

void ServedRun::Add(size_t rank, std::unique_ptr<ViewedRank> read) {
  SendRanks(view_.Add(std::move(read), rank));
}

size_t ServedRun::Append(std::string path) { return view_.Append(std::move(path)); }

void ServedRun::Fail(size_t rank, std::string why) { SendRanks(view_.Fail(std::move(why), rank)); }

void ServedRun::Finish(std::shared_ptr<const RunAnalysis> run) {
  view_.Finish();
  std::optional<StartPlace> start;
  if (info_.start.kind != ServedStart::Kind::kNowhere)
    start = FindStart(info_.start, view_.ranks());
  {
    const std::lock_guard lock(mutex_);
    analysis_ = std::move(run);
    start_ = std::move(start);
  }
  SendDone();
}

void ServedRun::Finish(Error why) {
  view_.Finish();
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(why);
  }
  SendDone();
}

void ServedRun::SendDone() {
  SendProgress();
  events_.Send("done", "{}");
}

void ServedRun::Gone(const std::string& path, const std::string& why) {
  JsonWriter json;
  json.BeginRow();
  json.Fields("path", path, "why", why);
  json.End();
  events_.Send("gone", std::move(json).Finish());
}

std::shared_ptr<const RunAnalysis> ServedRun::analysis() const {
  const std::lock_guard lock(mutex_);
  return analysis_;
}

std::optional<StartPlace> ServedRun::start() const {
  const std::lock_guard lock(mutex_);
  return start_;
}

std::optional<Error> ServedRun::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace tacho
