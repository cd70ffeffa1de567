#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/launch/launch_plan.h"
#include "control/live/liveness.h"
#include "control/live/profile_control.h"

namespace tacho {

struct AnswerJson;  // control/live/answer_json.h

// The command-line words that start an engine and its router, as `tacho launch` needs them.
struct LaunchWords {
  uint16_t port = 0;  // the default port
  // Found in $PATH and started as "PROGRAM serve"; "": there is only the module.
  std::string_view program;
  std::string_view module, model_option;  // for `python -m MODULE`
  // Options whose values, multiplied, give the number of GPUs that a server uses.
  std::vector<std::string_view> tensor_parallel, pipeline_parallel, data_parallel;
  std::string_view shares_gpus;  // the flag that lets data-parallel ranks share GPUs; "": none
  // Environment variable for the API key, if no option takes it; "": none.
  std::string_view key_variable;
  // An option that guards the profiler if it gives the only key; "": none.
  std::string_view only_key_option;
  std::string_view folder_variable;  // the variable that names the trace folder
  std::string_view router;           // the router's program
  std::vector<std::string> router_begin, router_options;  // words that start every router
};

// What an engine can do and reports, as far as this differs by kind: one constant object for each
// kind. What differs by version is data (EngineRule). This base class uses only those rules, which
// is enough for an engine that rules/engine_versions.rules describes; vllm/ and sglang/ know more.
class EngineType {
 public:
  explicit EngineType(EngineKind kind, std::string_view name) : kind_(kind), name_(name) {}
  virtual ~EngineType() = default;

  [[nodiscard]] EngineKind kind() const { return kind_; }
  [[nodiscard]] std::string_view name() const { return name_; }  // as in rules and --json: "vllm"
  [[nodiscard]] virtual std::string_view title() const { return name_; }  // for sentences: "vLLM"

  // Logs. Whether only this engine writes such a line. The second argument is the process that the
  // line names as its writer.
  [[nodiscard]] virtual bool WroteLine(std::string_view, std::string_view) const { return false; }
  // The engine's version if the line names it, else "".
  [[nodiscard]] virtual std::string_view VersionInLine(std::string_view) const { return ""; }

  // Launching. The words that start it; null for engines that `tacho launch` does not start.
  [[nodiscard]] virtual const LaunchWords* Launch() const { return nullptr; }
  // The trace folder that the engine's own command line names; or "".
  [[nodiscard]] virtual std::string FolderInWords(const std::vector<std::string>&) const {
    return "";
  }
  // Whether the process with this pid was started with this trace folder.
  [[nodiscard]] virtual bool WasGivenFolder(int64_t, const std::string&) const { return false; }
  // Whether the engine logs its trace folder when it starts.
  [[nodiscard]] virtual bool LogsFolder() const { return false; }
  // Whether a command line with this word starts the engine. The second argument is the last path
  // element of the word.
  [[nodiscard]] virtual bool IsProgram(std::string_view, std::string_view) const { return false; }
  // Adds findings about what makes profiling harder in a planned start. The bool says whether the
  // engine's profiler configuration is valid.
  virtual void CheckLaunch(const LaunchPlan&, const ProfilerFacts&, bool,
                           std::vector<Finding>&) const {}
  virtual void CheckVariables(const LaunchPlan&, std::vector<Finding>&) const {}

  // Probing. Whether an engine of this kind gave these answers.
  [[nodiscard]] virtual bool Answers(const AnswerJson& json) const;
  // Whether the engine's metrics contain its name; used if nothing else shows the kind.
  [[nodiscard]] virtual bool IsNamedBy(std::string_view) const { return false; }
  virtual void ReadFacts(const AnswerJson& json, EngineFacts& facts) const;
  // Adds the facts that the engine's process with this pid on this host shows.
  virtual void AddFactsOfProcess(int64_t, EngineFacts&) const {}
  // Whether a GET of the start route, which takes POST, is harmless and shows that the route
  // exists.
  [[nodiscard]] virtual bool ShowsStartToGet() const { return false; }
  // The route that shows, without running the model, that the engine lives.
  [[nodiscard]] virtual std::string_view LifeRoute() const { return "/health"; }
  // Whether a 503 from LifeRoute() means that the engine behind its server is dead.
  [[nodiscard]] virtual bool DiesBy503() const { return false; }
  // Sends a GET to a route and returns the HTTP status.
  using AskRoute = std::function<Result<int>(const std::string& route)>;
  [[nodiscard]] virtual NotReady WhyNotReady(const AskRoute& ask) const;

  // Profiling; see the functions PlanStart, KeyNamesFiles, FindObstacle and FindRisks.
  [[nodiscard]] virtual Result<ControlRequest> PlanStart(const Worker& worker,
                                                         const EngineFacts& facts,
                                                         const ProfileOptions& options) const;
  [[nodiscard]] virtual bool KeyNamesFiles(const EngineFacts& facts) const;
  // Whether a stop may be sent at any time: it ends a session that was left running, and otherwise
  // does no harm.
  [[nodiscard]] virtual bool MayBeStoppedFirst() const { return false; }
  // Judges an answer other than 200 as this engine means it. Returns false if the engine gives such
  // answers no meaning of its own. The int is the status; the bool is true for a stop.
  virtual bool JudgeFailure(const ControlRequest&, const EngineFacts&, int, bool,
                            ControlOutcome&) const {
    return false;
  }
  [[nodiscard]] virtual std::optional<Finding> FindObstacle(const Worker& worker,
                                                            const EngineFacts& facts,
                                                            const ProfileOptions& options) const;
  virtual void AddRisks(const Worker&, const EngineFacts&, const ProfileOptions&,
                        std::vector<Finding>&) const {}

  // Sleeping; see the function PlanSleep.
  [[nodiscard]] virtual ControlRequest PlanSleep(const std::string& url, bool sleep,
                                                 int64_t level) const;
  // Whether a request to sleep or wake up can crash the engine if it is in the wrong state. Such an
  // engine does not report its state.
  [[nodiscard]] virtual bool MayDieOfSleep() const { return false; }

 private:
  const EngineKind kind_;
  const std::string_view name_;
};

// For kUnknown: a type that knows nothing.
const EngineType& TypeOf(EngineKind kind);
// The kind whose name() is `name`; kUnknown if there is none.
EngineKind KindNamed(std::string_view name);
// All kinds except kUnknown; vLLM is first.
const std::vector<const EngineType*>& EngineTypes();
// The types that `tacho launch` can start.
std::vector<const EngineType*> LaunchedTypes();

// Defined in vllm/ and sglang/.
const EngineType& VllmType();
const EngineType& SglangType();

}  // namespace tacho
