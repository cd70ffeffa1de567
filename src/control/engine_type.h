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

// The words with which an engine and its router are started, as `tacho launch` needs them.
struct LaunchWords {
  uint16_t port = 0;         // the usual one
  std::string_view program;  // in $PATH, started as "PROGRAM serve"; "": only the module
  std::string_view module, model_option;  // for python -m
  // Options whose values, multiplied, are the number of GPUs of a server.
  std::vector<std::string_view> tensor_parallel, pipeline_parallel, data_parallel;
  std::string_view shares_gpus;      // the flag with which data-parallel ranks share GPUs; "": none
  std::string_view key_variable;     // variable with the API key, if no option has it; "": none
  std::string_view only_key_option;  // guards the profiler if it is the only key; "": none
  std::string_view folder_variable;  // the variable that names the folder of traces
  std::string_view router;           // its program
  std::vector<std::string> router_begin, router_options;  // words of every router
};

// What an engine can do and says, where it differs by kind: one constant object for each kind. What
// differs by version is data (EngineRule). This base goes by the rules alone, which is enough for
// an engine that rules/engine_versions.rules describes; vllm/ and sglang/ know more.
class EngineType {
 public:
  explicit EngineType(EngineKind kind, std::string_view name) : kind_(kind), name_(name) {}
  virtual ~EngineType() = default;

  [[nodiscard]] EngineKind kind() const { return kind_; }
  [[nodiscard]] std::string_view name() const { return name_; }  // as in rules and --json: "vllm"
  [[nodiscard]] virtual std::string_view title() const { return name_; }  // in sentences: "vLLM"

  // Its log. Whether only this engine writes such a line. Second argument: the process that the
  // line names as its writer.
  [[nodiscard]] virtual bool WroteLine(std::string_view, std::string_view) const { return false; }
  // The engine's version that the line names; "" if it names none.
  [[nodiscard]] virtual std::string_view VersionInLine(std::string_view) const { return ""; }

  // Launching. Null for engines that `tacho launch` does not start.
  [[nodiscard]] virtual const LaunchWords* Launch() const { return nullptr; }
  // The folder of traces that the engine's own command line names; or "".
  [[nodiscard]] virtual std::string FolderInWords(const std::vector<std::string>&) const {
    return "";
  }
  // Whether the started process was given this folder for its traces.
  [[nodiscard]] virtual bool WasGivenFolder(int64_t, const std::string&) const { return false; }
  // Whether the engine logs the folder of its traces when it starts.
  [[nodiscard]] virtual bool LogsFolder() const { return false; }
  // Whether a command line with this word starts the engine. `program`: the word's last part.
  [[nodiscard]] virtual bool IsProgram(std::string_view, std::string_view) const { return false; }
  // Adds findings about a planned start that hinders profiling. The bool: its profiler
  // configuration is valid.
  virtual void CheckLaunch(const LaunchPlan&, const ProfilerFacts&, bool,
                           std::vector<Finding>&) const {}
  virtual void CheckVariables(const LaunchPlan&, std::vector<Finding>&) const {}

  // Probing. Whether these are the answers of such an engine.
  [[nodiscard]] virtual bool Answers(const AnswerJson& json) const;
  // Whether the engine's metrics have its name, where nothing else shows the kind.
  [[nodiscard]] virtual bool IsNamedBy(std::string_view) const { return false; }
  virtual void ReadFacts(const AnswerJson& json, EngineFacts& facts) const;
  // Adds what one of the engine's processes on this host shows.
  virtual void AddFactsOfProcess(int64_t, EngineFacts&) const {}
  // Whether a GET of its POST route for starts is harmless, and shows that the route exists.
  [[nodiscard]] virtual bool ShowsStartToGet() const { return false; }
  // The route that shows that the engine lives, without a step of the model.
  [[nodiscard]] virtual std::string_view LifeRoute() const { return "/health"; }
  // Whether a 503 from LifeRoute() means that the engine behind the server is dead.
  [[nodiscard]] virtual bool DiesBy503() const { return false; }
  // Returns the HTTP status of a GET.
  using AskRoute = std::function<Result<int>(const std::string& route)>;
  [[nodiscard]] virtual NotReady WhyNotReady(const AskRoute& ask) const;

  // Profiling; see PlanStart, KeyNamesFiles, FindObstacle and FindRisks.
  [[nodiscard]] virtual Result<ControlRequest> PlanStart(const Worker& worker,
                                                         const EngineFacts& facts,
                                                         const ProfileOptions& options) const;
  [[nodiscard]] virtual bool KeyNamesFiles(const EngineFacts& facts) const;
  // Whether a stop may be sent at any time: it ends a session that was left running, and else does
  // no harm.
  [[nodiscard]] virtual bool MayBeStoppedFirst() const { return false; }
  // Judges an answer other than 200 in the engine's own dialect; returns false if the engine has no
  // dialect.
  virtual bool JudgeFailure(const ControlRequest&, const EngineFacts&, int, bool,
                            ControlOutcome&) const {
    return false;
  }
  [[nodiscard]] virtual std::optional<Finding> FindObstacle(const Worker& worker,
                                                            const EngineFacts& facts,
                                                            const ProfileOptions& options) const;
  virtual void AddRisks(const Worker&, const EngineFacts&, const ProfileOptions&,
                        std::vector<Finding>&) const {}

  // Sleeping; see PlanSleep.
  [[nodiscard]] virtual ControlRequest PlanSleep(const std::string& url, bool sleep,
                                                 int64_t level) const;
  // Whether a request to sleep or wake can end an engine that is in the wrong state; it does not
  // report its state.
  [[nodiscard]] virtual bool MayDieOfSleep() const { return false; }

 private:
  const EngineKind kind_;
  const std::string_view name_;
};

// For kUnknown a type without any knowledge.
const EngineType& TypeOf(EngineKind kind);
// The kind with this name(); kUnknown for any other.
EngineKind KindNamed(std::string_view name);
// All kinds but kUnknown, vLLM first.
const std::vector<const EngineType*>& EngineTypes();
// The types that `tacho launch` starts.
std::vector<const EngineType*> LaunchedTypes();

// vllm/ and sglang/
const EngineType& VllmType();
const EngineType& SglangType();

}  // namespace tacho
