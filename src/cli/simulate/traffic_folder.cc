#include "cli/simulate/traffic_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cli/options/output_file.h"
#include "load/drive/drive.h"
#include "run/read_requests.h"
#include "simulate/trace/trace_writer.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

using simulate::KnownRequest;
using simulate::KnownToken;
using simulate::KnownTraffic;
using simulate::KnownTrafficOptions;
using simulate::TrafficFront;

// The client's steady clock began at this Unix time.
constexpr int64_t kClientBootNs = 1'795'000'000'000'000'000;
constexpr uint16_t kRouterPort = 30'000, kFirstPort = 8'000;

std::string UrlAt(uint16_t port) { return fmt::format("http://127.0.0.1:{}", port); }

std::string WorkerUrl(const KnownTraffic& traffic, int64_t engine) {
  const bool together = traffic.options.front == TrafficFront::kDataParallel;
  return UrlAt(static_cast<uint16_t>(kFirstPort + (together ? 0 : engine)));
}

RequestRecord RecordOf(const KnownTraffic& traffic, const KnownRequest& request, uint64_t index) {
  const auto steady = [](int64_t unix_ns) { return unix_ns - kClientBootNs; };
  RequestRecord out;
  out.index = index;
  out.id = request.id;
  out.scenario = request.scenario;
  out.url = traffic.options.front == TrafficFront::kRouter ? UrlAt(kRouterPort)
                                                           : WorkerUrl(traffic, request.engine);
  out.intended_ns = out.admitted_ns = steady(request.intended_ns);
  out.handed_ns = steady(request.handed_ns);
  out.sent_ns = steady(request.sent_ns);
  out.ended_ns = steady(request.ended_ns);
  out.planned_prompt_tokens = request.prompt_tokens;
  out.planned_output_tokens = request.output_tokens;
  out.attempts = 1;
  out.status = !request.failed          ? RequestStatus::kDone
               : request.tokens.empty() ? RequestStatus::kFailed
                                        : RequestStatus::kPartial;
  out.http_status = request.arrived_ns == 0 ? 503 : 200;
  out.output_tokens = static_cast<int64_t>(request.tokens.size());
  if (request.failed) out.error = "the connection ended";
  if (request.arrived_ns != 0) out.server_id = "cmpl-" + request.id;
  if (!request.failed) {
    out.prompt_tokens = request.prompt_tokens;
    if (traffic.options.cached > 0) out.cached_tokens = request.cached_tokens;
    out.finish_reason = "length";
  }
  if (request.tokens.empty()) return out;
  out.counted_by = TokenCounts::kUsage;
  for (const KnownToken& token : request.tokens) {
    const int64_t seen = steady(token.seen_ns);
    if (out.chunk_ns.empty() || out.chunk_ns.back() != seen) {
      out.chunk_ns.push_back(seen);
      out.chunk_tokens.push_back(0);
    }
    ++out.chunk_tokens.back();
  }
  out.first_byte_ns = out.first_token_ns = out.chunk_ns.front();
  out.last_token_ns = out.chunk_ns.back();
  return out;
}

int64_t Workers(const KnownTraffic& traffic) {
  return traffic.options.front == TrafficFront::kDataParallel ? 1 : traffic.options.engines;
}

// The path of a rank's trace below the run folder.
std::string TracePath(const KnownTraffic& traffic, int64_t engine, int64_t rank) {
  return fmt::format("traces/{}/{}", simulate::TrafficWorker(traffic, engine),
                     simulate::KnownTraceName(traffic.engines[static_cast<size_t>(engine)], rank));
}

void WriteWorker(JsonWriter& json, const KnownTraffic& traffic, int64_t worker,
                 const RequestTable* requests) {
  const KnownTrafficOptions& o = traffic.options;
  const bool together = o.front == TrafficFront::kDataParallel;
  const simulate::TraceSource& source = traffic.engines[static_cast<size_t>(worker)].sources[0];
  json.BeginObject();
  json.Fields("name", simulate::TrafficWorker(traffic, worker), "url", WorkerUrl(traffic, worker),
              "engine", NameOf(o.run.engine), "engine_version", source.version, "tensor_parallel",
              o.run.ranks, "data_parallel", together ? o.engines : 1, "clock_offset_ns",
              traffic.stated_offset_ns[static_cast<size_t>(worker)], "clock_error_ns",
              o.clock_error_ns);
  json.BeginArray("ranks");
  for (int64_t engine = together ? 0 : worker; engine < (together ? o.engines : worker + 1);
       ++engine) {
    for (int64_t rank = 0; rank < o.run.ranks; ++rank) {
      json.BeginRow();
      json.Fields("name", fmt::format("{} rank {}", simulate::TrafficWorker(traffic, worker), rank),
                  "engine", together ? engine : 0, "rank", rank, "proven", true);
      json.List("files", std::vector{TracePath(traffic, engine, rank)});
      json.End();
    }
  }
  json.End();
  const auto when =
      requests == nullptr ? std::nullopt : InFlightAt(*requests, static_cast<uint32_t>(worker));
  if (when) {
    json.BeginObject("in_flight");
    json.Fields("uncertainty_ns", when->uncertainty, "shared", when->shared);
    json.BeginList("unix_ns");
    for (const Interval& interval : when->when.intervals())
      json.List({}, std::vector{interval.start, interval.end});
    json.End();
    json.End();
  }
  json.End();
}

std::string RunJson(const KnownTraffic& traffic, const RequestTable* requests) {
  const int64_t ranks = traffic.options.engines * traffic.options.run.ranks;
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, TACHO_VERSION);
  json.Fields("command", "tacho simulate trace --traffic", "exit_status", 0, "complete", true,
              "interrupted", false, "via", "http");
  json.Row("clocks", "monotonic_ns", 0, "unix_ns", kClientBootNs);
  json.Row("proof", "proven", ranks, "ranks", ranks);
  if (traffic.options.front == TrafficFront::kRouter) json.Field("router", UrlAt(kRouterPort));
  json.BeginArray("workers");
  for (int64_t worker = 0; worker < Workers(traffic); ++worker)
    WriteWorker(json, traffic, worker, requests);
  json.End();
  for (const char* list : {"missing", "troubles", "remarks", "findings"})
    json.List(list, std::vector<std::string>());
  json.End();
  return std::move(json).Finish();
}

}  // namespace

std::string TrafficRecords(const KnownTraffic& traffic) {
  LoadRecords records;
  records.clocks = {{0, kClientBootNs}};
  for (const KnownRequest& request : traffic.requests)
    records.requests.push_back(RecordOf(traffic, request, records.requests.size()));
  return RecordsAsJsonLines(records);
}

std::string TrafficRunJson(const KnownTraffic& traffic) {
  const RequestTable requests = RequestsOf(TrafficRecords(traffic), RunJson(traffic, nullptr));
  return RunJson(traffic, &requests);
}

Result<std::string> WriteTrafficFolder(const KnownTraffic& traffic, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::exists(folder + "/truth.json", failed)) fs::remove_all(folder + "/traces", failed);
  std::string said;
  const auto write = [&](const std::string& name, const std::string& text) -> Result<void> {
    TACHO_RETURN_IF_ERROR(WriteFile(folder + "/" + name, text));
    said += folder + "/" + name + "\n";
    return {};
  };
  for (int64_t engine = 0; engine < traffic.options.engines; ++engine) {
    const simulate::KnownRun& run = traffic.engines[static_cast<size_t>(engine)];
    for (const simulate::TraceSource& source : run.sources) {
      const std::string path = folder + "/" + TracePath(traffic, engine, source.rank);
      TACHO_ASSIGN_OR_RETURN(const auto file, OutputFile::Open(path, {}));
      simulate::WriteKinetoTrace(source, run.recording, *file);
      TACHO_RETURN_IF_ERROR(file->Finish());
      said += path + "\n";
    }
  }
  TACHO_RETURN_IF_ERROR(write("requests.jsonl", TrafficRecords(traffic)));
  TACHO_RETURN_IF_ERROR(write("run.json", TrafficRunJson(traffic)));
  TACHO_RETURN_IF_ERROR(write("truth.json", simulate::TrafficTruth(traffic)));
  return said;
}

}  // namespace tacho
