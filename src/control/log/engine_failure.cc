#include "control/log/engine_failure.h"

#include <algorithm>
#include <map>
#include <utility>

#include "control/log/log_stream.h"

namespace tacho {
namespace {

constexpr size_t kMostLines = 4, kMostBytes = 1000, kMostWriters = 256, kMostEngines = 64,
                 kMostAnswers = 20;

}  // namespace

class FailureReader::Follower {
 public:
  explicit Follower(uint64_t lines_before) : begin_(lines_before) {}

  uint64_t AliveUntil(const std::string& engine) const {
    const auto found = engines_.find(engine);
    return found == engines_.end() ? begin_ : found->second.life.alive_until;
  }

  LogFailures Finish() const {
    LogFailures failures;
    if (const Kept& first = first_ ? first_ : first_error_) failures.first = *first;
    if (engines_.size() == 1) failures.ready = ready_;
    for (const auto& [name, engine] : engines_)
      if (const auto end = EndOf(engine.life);
          end && (!failures.end || end->cause.line < failures.end->cause.line))
        failures.end = end;
    return failures;
  }

  void Take(const LogLine& line) {
    line_ = line.number;
    if (!line.time.empty()) time_ = line.time;
    if (writers_.size() >= kMostWriters) writers_.clear();
    Writer& writer = writers_[line.writer];
    Engine& engine = EngineOf(line.engine);
    // A process that writes a record still runs.
    if (!line.time.empty() || IsOfUvicorn(line.text)) engine.life.own_end.reset();
    if (line.Says(LogSign::kRequest)) {
      writer = {};
    } else if (FollowLife(line, writer, engine)) {
      FollowFailure(line, writer, engine);
      if (!line.Says(LogSign::kStart) && !line.is_notice && line.Says(LogSign::kDies))
        Die(writer.last && (writer.last->line == line_ || writer.last->led_line == line_)
                ? writer.last
                : std::make_shared<EngineFailure>(New(line, line.text)),
            engine);
    }
    // vLLM repeats the head on each line of a message, so a line without it stands alone.
    writer.is_after_record = !line.time.empty() && line.head.empty();
  }

 private:
  // Shared, so that everybody who holds a failure sees the lines that are added to it later.
  using Kept = std::shared_ptr<EngineFailure>;

  enum class Reading { kNothing, kTraceback, kMessage };
  // Which of the next tracebacks the process survives, until its next record.
  enum class Survived { kNone, kNext, kAll };
  // The state of the lines from one process. Lines of other processes may stand between them.
  struct Writer {
    Reading reading = Reading::kNothing;
    std::string head;  // vLLM's head on the lines that are being read; "" for any other engine
    Kept last;
    bool is_error = false;    // `last` is a line of an error, and may announce a traceback
    uint64_t first_line = 0;  // of the traceback's failure
    size_t message_lines = 0;
    // A traceback of the process itself, not part of a message that the engine logs.
    bool is_own = false;
    bool is_first_frame = false;
    FrameOf first_frame = FrameOf::kNobody;  // who owns the first frame that is not kNobody
    bool is_client = false;                  // some frame belongs to a client (kClient)
    Survived survived = Survived::kNone;
    bool is_chained = false;
    bool is_after_record = false;
  };
  // What has happened since an engine last started or served.
  struct Life {
    uint64_t alive_until = 0;
    bool is_up = false;  // it was ready, or has served
    Kept cause = nullptr, error = nullptr, death = nullptr, own_end = nullptr;
    // The time of `cause`; "" unless the engine's core or a worker wrote it.
    std::string failed_at = {};
    size_t answers = 0;  // answers that followed `cause` in the same second
    // `death` is certain; it is not if full memory may have ended only one request.
    bool is_sure = false;
  };
  struct Engine {
    Life life;
    bool is_told_to_end = false, has_ended = false;
  };

  static std::optional<EngineEnd> EndOf(const Life& life) {
    if (!life.death && !life.own_end) return std::nullopt;
    const Kept& death = life.death ? life.death : life.own_end;
    return EngineEnd{*CauseOf(life), life.alive_until,
                     std::max(death->last_line, CauseOf(life)->last_line)};
  }

  static const Kept& CauseOf(const Life& life) {
    if (!life.death) {
      // The front end's traceback may only refer to that of another process.
      const std::string& last =
          life.own_end->led_line == 0 ? life.own_end->text : life.own_end->led_to;
      const bool refers = last.find("root cause") != std::string::npos ||
                          last.find("stack trace") != std::string::npos;
      return refers && life.cause ? life.cause : life.own_end;
    }
    if (life.cause) return life.cause;
    return life.error && life.error->line < life.death->line ? life.error : life.death;
  }

  Engine& EngineOf(const std::string& name) {
    const bool fits = engines_.size() < kMostEngines || engines_.contains(name);
    return engines_.try_emplace(fits ? name : "", Engine{{.alive_until = begin_}}).first->second;
  }

  // Returns false if the server was told to end: what fails after that is no failure.
  bool FollowLife(const LogLine& line, Writer& writer, Engine& engine) {
    const bool is_ready = line.Says(LogSign::kReady),
               starts = is_ready || line.Says(LogSign::kStart);
    if (is_ready) ready_ = line_;
    // The next start in a log may fail before a line shows that it is a start.
    if (starts || (engine.is_told_to_end && (ComplaintAt(line.text) != std::string::npos ||
                                             (engine.has_ended && IsOwnTraceback(line) &&
                                              writer.survived == Survived::kNone)))) {
      engine = {{.alive_until = starts ? line_ : line_ - 1, .is_up = is_ready}};
    } else if (line.Says(LogSign::kServes) && !engine.life.is_sure &&
               !IsBesideFailure(engine.life)) {
      engine.life = {.alive_until = line_, .is_up = true};
    }
    engine.is_told_to_end |= line.Says(LogSign::kToldToEnd);
    engine.has_ended |= engine.is_told_to_end && line.Says(LogSign::kEnded);
    if (!engine.is_told_to_end) return true;
    writer = {};
    if (line.Says(LogSign::kSurvived)) writer.survived = Survived::kNext;
    return false;
  }

  // Whether an answer is no sign of life: the front end sends a few more after a process failed.
  bool IsBesideFailure(Life& life) const {
    return life.cause && !life.failed_at.empty() && life.failed_at == time_ &&
           ++life.answers <= kMostAnswers;
  }

  static bool IsOwnTraceback(const LogLine& line) {
    return line.text == kTracebackHead && line.time.empty();
  }

  void FollowFailure(const LogLine& line, Writer& writer, Engine& engine) {
    const std::string_view text = line.text;
    if (line.Says(LogSign::kChained)) {
      writer.is_chained = writer.last && writer.survived != Survived::kAll;
      writer.reading = Reading::kNothing;
      return;
    }
    const bool is_head = line.traceback == TracebackPart::kHead;
    const bool is_of_shell = line.Says(LogSign::kShell);
    if (!is_head && !is_of_shell && AddLine(line, writer, engine)) return;
    if (writer.reading == Reading::kMessage) writer.reading = Reading::kNothing;
    FollowAnnouncements(line, writer);
    if (writer.survived == Survived::kAll) return;
    if (is_head) {
      // An error line announces the traceback after it if both have the same head, which vLLM gives
      // to all lines of one message.
      const bool is_announced = writer.is_error && line.head == writer.head;
      if (!is_announced && !writer.is_chained) writer.last.reset();
      writer.first_line = writer.last ? writer.last->first_line : line_;
      writer.reading = Reading::kTraceback;
      writer.head = line.head;
      writer.is_error = false;
      writer.is_own = IsOwnTraceback(line) && !writer.is_after_record;
      writer.is_first_frame = true;
      writer.first_frame = FrameOf::kNobody;
      writer.is_client = false;
      return;
    }
    const size_t complaint = ComplaintAt(text);
    const bool ends = complaint != text.npos || line.Says(LogSign::kCrash) || is_of_shell;
    writer.is_error = line.is_error && !text.empty() && !ends;
    if (!ends && !writer.is_error) return;
    writer.last.reset();
    writer.first_line = line_;
    Begin(line, complaint == text.npos ? text : text.substr(complaint), writer);
    if (ends) {
      if (!first_) first_ = writer.last;
      if (is_of_shell) {
        writer.reading = Reading::kNothing;
        engine.life.own_end = writer.last;
        return;
      }
      Fail(line, writer.last, engine);
      Die(writer.last, engine);
      return;
    }
    if (!first_error_) first_error_ = writer.last;
    if (!engine.life.error) engine.life.error = writer.last;
    if (SaysOfDeath(line)) Fail(line, writer.last, engine);
  }

  // Notes what the lines before a traceback say about it.
  static void FollowAnnouncements(const LogLine& line, Writer& writer) {
    if (!line.time.empty() && (line.head.empty() || line.head != writer.head)) {
      writer.survived = Survived::kNone;
      writer.is_chained = false;
    }
    const bool is_harmless = line.Says(LogSign::kHarmless);
    if (!is_harmless && !line.Says(LogSign::kSurvived)) return;
    writer.survived = is_harmless ? Survived::kAll : Survived::kNext;
    writer.head = line.head;
  }

  // Adds the line to the traceback or message that is being read. Returns false if the line does
  // not belong to it.
  bool AddLine(const LogLine& line, Writer& writer, Engine& engine) {
    const std::string_view text = line.text;
    if (writer.reading == Reading::kMessage) {
      if (line.head != writer.head || line.head.empty() != line.time.empty() || text.empty() ||
          IsOfUvicorn(text) || writer.message_lines == kMostLines)
        return false;
      ++writer.message_lines;
      std::string& message = writer.last->led_line == 0 ? writer.last->text : writer.last->led_to;
      message = (message + "\n" + line.text).substr(0, kMostBytes);
      writer.last->last_line = line_;
      return true;
    }
    if (writer.reading == Reading::kNothing || line.traceback == TracebackPart::kNone) return false;
    // A traceback of Python's resource tracker is harmless: it may fail when a server ends.
    if (text.find("resource_tracker.py\", line ") != text.npos) writer.survived = Survived::kNext;
    // A traceback that ends a program begins in the program's module; a traceback that SGLang logs
    // begins in a function.
    writer.is_own |= std::exchange(writer.is_first_frame, false) && line.head.empty() &&
                     text.ends_with(", in <module>");
    const FrameOf frame = WhoseFrame(text);
    if (writer.first_frame == FrameOf::kNobody) writer.first_frame = frame;
    writer.is_client |= frame == FrameOf::kClient;
    if (line.traceback == TracebackPart::kInside) return true;
    writer.reading = Reading::kNothing;
    if (!IsException(text)) return false;
    if (IsOfASignal(text)) {
      engine.is_told_to_end = true;
      return true;
    }
    EndTraceback(line, writer, engine);
    return true;
  }

  void EndTraceback(const LogLine& line, Writer& writer, Engine& engine) {
    if (std::exchange(writer.is_chained, false)) {  // the chain's first exception is already kept
      writer.last->led_line = writer.last->last_line = line_;
      writer.last->led_to = line.text.substr(0, kMostBytes);
      BeginMessage(line, writer);
      if (engine.life.cause == writer.last) DieOfFullMemory(line, writer.last, engine);
      return;
    }
    Begin(line, line.text, writer);
    if (!first_) first_ = writer.last;
    const Survived survived = std::exchange(writer.survived, Survived::kNone);
    if (survived != Survived::kNone && !SaysOfDeath(line)) return;
    if (writer.is_own && IsAnotherPrograms(line, writer, engine)) return;
    Fail(line, writer.last, engine);
    if (writer.is_own) engine.life.own_end = writer.last;
  }

  static bool SaysOfDeath(const LogLine& line) {
    return line.Says(LogSign::kDies) || line.Says(LogSign::kFullMemory);
  }

  // Whether the traceback belongs to another program. It then says nothing about an engine that
  // serves.
  static bool IsAnotherPrograms(const LogLine& line, const Writer& writer, const Engine& engine) {
    return engine.life.is_up && line.process.empty() &&
           (writer.is_client || writer.first_frame != FrameOf::kEngine);
  }

  // Begins the message of the failure `writer.last`, or of a new failure if that is null.
  void Begin(const LogLine& line, std::string_view text, Writer& writer) {
    if (!writer.last) writer.last = std::make_shared<EngineFailure>();
    *writer.last = New(line, text);
    writer.last->first_line = writer.first_line;
    BeginMessage(line, writer);
  }

  static void BeginMessage(const LogLine& line, Writer& writer) {
    writer.reading = Reading::kMessage;
    writer.message_lines = 1;
    writer.head = line.head;
  }

  EngineFailure New(const LogLine& line, std::string_view text) const {
    return {.process = line.process,
            .line = line_,
            .text = std::string(text.substr(0, kMostBytes)),
            .first_line = line_,
            .last_line = line_};
  }

  void Fail(const LogLine& line, const Kept& failure, Engine& engine) {
    if (!engine.life.cause) {
      engine.life.cause = failure;
      const bool is_inner = failure->process.find("EngineCore") != std::string::npos ||
                            failure->process.find("Worker") != std::string::npos;
      engine.life.failed_at = is_inner ? time_ : "";
    }
    DieOfFullMemory(line, failure, engine);
  }

  static void DieOfFullMemory(const LogLine& line, const Kept& failure, Engine& engine) {
    if (!engine.life.death && line.Says(LogSign::kFullMemory)) engine.life.death = failure;
  }

  static void Die(const Kept& failure, Engine& engine) {
    if (!engine.life.is_sure) engine.life.death = failure;
    engine.life.is_sure = true;
  }

  uint64_t line_ = 0, begin_, ready_ = 0;
  std::string time_;
  std::map<std::string, Writer> writers_;
  // By the engine's name in a log of several engines; else only "".
  std::map<std::string, Engine> engines_;
  Kept first_, first_error_;
};

FailureReader::FailureReader(uint64_t lines_before)
    : follower_(std::make_unique<Follower>(lines_before)) {}
FailureReader::~FailureReader() = default;
void FailureReader::Take(const LogLine& line) { follower_->Take(line); }
uint64_t FailureReader::AliveUntil(const std::string& engine) const {
  return follower_->AliveUntil(engine);
}
LogFailures FailureReader::Finish() const { return follower_->Finish(); }

LogFailures ReadFailures(std::istream& log, const std::stop_token& stop) {
  FailureReader reader;
  LogLineReader lines;
  ForEachLogLine(log, stop, [&](std::string_view raw) {
    lines.ReadAll(raw, [&](const LogLine& line) { reader.Take(line); });
    return true;
  });
  return reader.Finish();
}

}  // namespace tacho
