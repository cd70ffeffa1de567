#include "control/log/log_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/utf8.h"
#include "base/words.h"
#include "control/engine_type.h"
#include "control/launch/launch_checks.h"
#include "control/log/log_line.h"
#include "control/log/log_rules.h"
#include "control/log/log_sessions.h"

namespace tacho {
namespace {

constexpr size_t kMostShown = 300, kMostVariables = 16;

bool Has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// The text for a screen: at most kMostShown bytes, without control characters.
std::string Shown(std::string_view text) {
  text = Trim(text);
  size_t end = std::min(text.size(), kMostShown);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  std::string shown = ValidUtf8(text.substr(0, end));
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return end < text.size() ? shown + "..." : shown;
}

struct Hit {
  uint64_t line = 0;
  std::string process, text, engine;
};

class LogReader {
 public:
  LogReader(EngineKind kind, std::string_view version, uint64_t lines_before)
      : kind_(kind),
        version_(version),
        hits_(TheLogTable().findings.size()),
        recent_(hits_.size()),
        lines_(lines_before),
        failures_(lines_before) {}

  void Take(std::string_view raw) {
    lines_.ReadAll(raw, [&](LogLine line) {
      failures_.Take(line);
      TakeOne(std::move(line));
    });
  }

  LogReport Finish() {
    CutShort();
    LogReport report{.failures = failures_.Finish(),
                     .findings = {},
                     .lines = {},
                     .engine = kind_,
                     .is_known = is_known_ || kind_ != EngineKind::kUnknown};
    if (report.failures.end) TakeEnd(*report.failures.end);
    const std::optional<Version> version = ParseVersion(version_);
    std::vector<std::pair<uint64_t, Finding>> found;
    std::set<FindingId> seen;
    for (size_t i = 0; i < hits_.size(); ++i) {
      const LogRule& rule = TheLogTable().findings[i];
      const LogRule::Remedy* const remedy = hits_[i] ? rule.RemedyFor(kind_, version) : nullptr;
      if (remedy == nullptr || !seen.insert(rule.id).second) continue;
      found.emplace_back(hits_[i]->line,
                         FindingAt(*hits_[i], rule.id, std::string(rule.meaning),
                                   std::string(remedy->text == "{enable}"
                                                   ? EngineRule(remedy->engine, version_, "enable")
                                                   : remedy->text)));
    }
    // kWaitsForFlush is the engine's own line about the same flush. Its remedy, "nothing to do",
    // would contradict that of kFlushLong.
    if (seen.contains(FindingId::kFlushLong))
      std::erase_if(found,
                    [](const auto& one) { return one.second.id == FindingId::kWaitsForFlush; });
    AddVariables(found);
    AddConfigError(found);
    std::ranges::stable_sort(found, {}, &std::pair<uint64_t, Finding>::first);
    for (auto& [line, finding] : found) {
      report.lines.push_back(line);
      report.findings.push_back(std::move(finding));
    }
    return report;
  }

 private:
  using Found = std::vector<std::pair<uint64_t, Finding>>;

  void TakeOne(LogLine line) {
    line_ = std::move(line);
    const std::string_view text = line_.text;
    if (text.empty() || line_.Says(LogSign::kRequest)) return;
    LearnEngine(text);
    FollowTraceback(text);
    FollowSessions();
    ReadConfigError(text);
    ReadVariables(text);
    place_.nsys |= HasOneOf(text, {"nsys", ".qdstrm", "Capture range "});
    place_.npu |= HasOneOf(text, {"torch_npu", "vllm_ascend", "device_config=npu"});
    place_.gpu = !place_.npu;
    is_known_ |= IsKnown(text);
    place_.profiler = in_profiler_ || Has(text, "rofiler");
    const std::vector<LogRule>& rules = TheLogTable().findings;
    for (size_t i = 0; i < rules.size(); ++i)
      if (IsWanted(recent_[i]) && rules[i].Matches(text, place_)) {
        recent_[i] = Here();
        if (!hits_[i]) hits_[i] = recent_[i];
      }
    if (line_.traceback == TracebackPart::kException && IsOfTraceback()) in_profiler_ = false;
  }

  // Whether an engine, a router or nsys wrote the line. It is not enough that the line names one of
  // them, because any text may do that.
  bool IsKnown(std::string_view text) const {
    return !line_.time.empty() || Has(line_.process, " pid=") || IsOfUvicorn(text) ||
           IsOfRouter(text) || HasOneOf(text.substr(0, 16), {"Generating '", "Capture range "}) ||
           (text.starts_with("  File \"") && HasOneOf(text, {"/vllm/", "/sglang/"})) ||
           (ComplaintAt(text) != text.npos &&
            HasOneOf(text.substr(0, ComplaintAt(text)), {"vllm", "sglang", "api_server.py"}));
  }

  // Whether a rule needs a new recent hit: it has none, or an engine has served or started since.
  bool IsWanted(const std::optional<Hit>& hit) const {
    return !hit || hit->line <= std::max(failures_.AliveUntil(hit->engine),
                                         failures_.AliveUntil(line_.engine));
  }

  // Prefers hits in the lines that report the engine's end. Also adds hits in the failure that
  // caused the end.
  void TakeEnd(const EngineEnd& end) {
    const auto is_before = [&](const Hit& hit) { return hit.line <= end.alive_until; };
    const std::vector<LogRule>& rules = TheLogTable().findings;
    for (size_t i = 0; i < rules.size(); ++i) {
      if (recent_[i] && is_before(*hits_[i]) && !is_before(*recent_[i]) &&
          recent_[i]->line <= end.last_line)
        hits_[i] = recent_[i];
      if (!rules[i].when.cause) continue;
      for (const auto& [line, text] : {std::pair{end.cause.led_line, end.cause.led_to},
                                       std::pair{end.cause.line, end.cause.text}})
        if (const auto first = text.substr(0, text.find('\n')); rules[i].patterns.Fit(first))
          hits_[i] = Hit{line, end.cause.process, Shown(first), ""};
    }
  }

  Hit Here() const { return {line_.number, line_.process, Shown(line_.text), line_.engine}; }
  static Finding FindingAt(const Hit& hit, FindingId id, const std::string& meaning,
                           std::string remedy) {
    return {id, "",
            fmt::format("{} (line {} of the log{}{}: {})", meaning, hit.line,
                        hit.process.empty() ? "" : ", ", Shown(hit.process), hit.text),
            std::move(remedy)};
  }

  void LearnEngine(std::string_view text) {
    if (kind_ != EngineKind::kUnknown && !version_.empty()) return;
    for (const EngineType* type : EngineTypes()) {
      if (kind_ == EngineKind::kUnknown && type->WroteLine(line_.process, text))
        kind_ = type->kind();
      if (version_.empty() && (kind_ == EngineKind::kUnknown || kind_ == type->kind()))
        version_ = type->VersionInLine(text);
    }
  }

  bool IsOfTraceback() const { return line_.writer == traceback_of_; }

  void FollowTraceback(std::string_view text) {
    if (line_.traceback == TracebackPart::kHead) {
      in_profiler_ = false;
      variable_.clear();
      traceback_of_ = line_.writer;
    } else if (line_.traceback == TracebackPart::kInside && IsOfTraceback()) {
      in_profiler_ |= Has(text, "File \"") && HasOneOf(text, {"profiler", "profile_utils.py"});
      if (const auto name = TextAfter(text, "os.getenv(\"", "\""); name.starts_with("VLLM_"))
        variable_ = name;
    }
  }

  void FollowSessions() {
    const bool was_stopping = sessions_.IsStopping();
    for (const auto& [id, detail] : sessions_.Take(line_)) {
      Hit hit = Here();
      hit.text += detail;
      AddByCode(id, hit);
    }
    place_.profiling = sessions_.IsProfiling();
    place_.starting = sessions_.IsStarting();
    place_.stopping = sessions_.IsStopping();
    if (!was_stopping && !told_to_end_) return;
    if (line_.Says(LogSign::kToldToEnd) && was_stopping && !told_to_end_) told_to_end_ = Here();
    if (line_.Says(LogSign::kStart)) CutShort();
    // The server finished the stop after it was told to end, so the trace may be complete.
    if (was_stopping && !sessions_.IsStopping() && line_.text.starts_with("Profil"))
      told_to_end_.reset();
  }

  // Adds the finding that the server ended before its trace was written.
  void CutShort() {
    if (told_to_end_) AddByCode(FindingId::kKilledWhileWriting, *told_to_end_);
    told_to_end_.reset();
  }

  // Takes a fault that code found, without a pattern, as the hit of the finding's rules.
  void AddByCode(FindingId id, const Hit& hit) {
    const std::vector<LogRule>& rules = TheLogTable().findings;
    for (size_t i = 0; i < rules.size(); ++i)
      if (rules[i].id == id && rules[i].by_code && !hits_[i]) hits_[i] = hit;
  }

  // Reads a message of three lines: "1 validation error for ProfilerConfig", the key, and what is
  // wrong with its value.
  void ReadConfigError(std::string_view text) {
    if (Has(text, "validation error") && Has(text, "for ProfilerConfig") && !config_error_) {
      config_error_ = Here();
      config_lines_ = 0;
    } else if (config_error_ && config_lines_ < 2) {
      if (++config_lines_ == 1 && !text.starts_with(' '))
        config_key_ = Shown(text);
      else
        config_fault_ = Shown(text), config_lines_ = 2;
    }
  }

  void ReadVariables(std::string_view text) {
    constexpr std::string_view kUnknown = "Unknown vLLM environment variable detected: ";
    if (const auto name = TextAfter(text, kUnknown, " ");
        !name.empty() && unread_.size() < kMostVariables)
      unread_.try_emplace(Shown(name), Here());
    if (!variable_.empty() && !unparsed_ && IsOfTraceback() &&
        Has(text, "ValueError: invalid literal for int()")) {
      unparsed_ = Here();
      assignment_ = Shown(fmt::format("{}={}", variable_, TextAfter(text, "base 10: '", "'")));
    }
  }

  // The first finding with an id in `ids` that CheckLaunch makes about a launch with these words
  // and this variable.
  std::optional<Finding> OfLaunch(const std::vector<std::string>& words,
                                  const std::string& variable,
                                  std::initializer_list<FindingId> ids) const {
    std::vector<std::string> environment;
    if (!variable.empty()) environment.push_back(variable);
    for (Finding& finding : CheckLaunch(EngineKind::kVllm, version_, words, environment))
      if (std::ranges::find(ids, finding.id) != ids.end()) return std::move(finding);
    return std::nullopt;
  }

  void AddVariables(Found& found) const {
    for (const auto& [name, hit] : unread_) {
      const auto known =
          OfLaunch({}, name + "=1", {FindingId::kVariableNotRead, FindingId::kTimeoutNotRead});
      found.emplace_back(
          hit.line, known ? FindingAt(hit, known->id, name + ": " + known->evidence, known->remedy)
                          : FindingAt(hit, FindingId::kVariableNotRead,
                                      name + ": vLLM does not know this variable",
                                      "correct its name, or leave it out"));
    }
    if (!unparsed_) return;
    const auto known = OfLaunch({}, assignment_, {FindingId::kVariableNotParsed});
    found.emplace_back(
        unparsed_->line,
        FindingAt(*unparsed_, FindingId::kVariableNotParsed,
                  assignment_ + ": " + (known ? known->evidence : "vLLM reads it as an integer"),
                  known ? known->remedy : fmt::format("unset {}", variable_)));
  }

  void AddConfigError(Found& found) const {
    if (!config_error_) return;
    if (Has(config_fault_, "unexpected_keyword_argument")) {
      const nlohmann::json config{{config_key_, 1}};
      const auto known = OfLaunch({"vllm", "serve", "m", "--profiler-config", config.dump()}, "",
                                  {FindingId::kConfigKeyUnknown});
      found.emplace_back(
          config_error_->line,
          FindingAt(
              *config_error_, FindingId::kConfigKeyUnknown,
              known ? known->evidence : fmt::format("vLLM does not know the key {}", config_key_),
              known ? known->remedy : "leave it out"));
      return;
    }
    const bool contradicts = Has(config_fault_, "Value error");
    found.emplace_back(
        config_error_->line,
        FindingAt(*config_error_,
                  contradicts ? FindingId::kConfigContradicts : FindingId::kConfigUnreadable,
                  fmt::format("{}: {}: vLLM does not start", config_key_, config_fault_),
                  contradicts ? "change or leave out what is named" : "correct it"));
  }

  EngineKind kind_;
  bool is_known_ = false;
  std::string version_;
  // By rule: the first hit, and the first since the engine last served or started.
  std::vector<std::optional<Hit>> hits_, recent_;
  LogLineReader lines_;
  FailureReader failures_;
  LogLine line_;
  LogPlace place_;

  std::string traceback_of_, variable_;
  bool in_profiler_ = false;

  LogSessions sessions_;
  // The line that told the server to end while it was writing a trace.
  std::optional<Hit> told_to_end_;

  std::optional<Hit> config_error_, unparsed_;
  size_t config_lines_ = 2;
  std::string config_key_, config_fault_, assignment_;
  std::map<std::string, Hit> unread_;
};

}  // namespace

LogReport ReadLog(EngineKind kind, std::string_view version, std::string_view log,
                  uint64_t lines_before, const std::stop_token& stop) {
  LogReader reader(kind, version, lines_before);
  while (!log.empty() && !stop.stop_requested()) reader.Take(TakeLine(log));
  return reader.Finish();
}

}  // namespace tacho
