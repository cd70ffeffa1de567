#include "analysis/ranks/digest_bytes.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace tacho {
namespace {

constexpr int64_t kVersion = 2;
constexpr int64_t kMost = int64_t{1} << 61;  // of times, in ns: those since 1970 are below
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kAny = -(kLeast + 1);

// a - b and a + b, which wrap around as hostile numbers may.
int64_t Minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Writer and Reader have the same functions, so that one declaration of the fields does for both.
// A number has 7 bits a byte, lowest first, and its sign in the lowest bit.
class Writer {
 public:
  static constexpr bool kReads = false;

  void Int(const auto& value, int64_t /*least*/, int64_t /*most*/) {
    const auto number = static_cast<int64_t>(value);
    uint64_t rest = static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63);
    for (; rest >= 0x80; rest >>= 7) bytes_ += static_cast<char>(rest | 0x80);
    bytes_ += static_cast<char>(rest);
  }
  void Text(std::string_view text) {
    Int(text.size(), 0, kAny);
    bytes_ += text;
  }
  void List(const auto& items, auto each) {
    Int(items.size(), 0, kAny);
    for (const auto& item : items) each(item);
  }
  void Check(bool) {}
  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  static constexpr bool kReads = true;

  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <typename T>
  void Int(T& value, int64_t least, int64_t most) {
    uint64_t coded = 0;
    bool ended = false;
    for (unsigned shift = 0; !ended && shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      coded |= uint64_t{byte & 0x7FU} << shift;
      ended = byte < 0x80;
    }
    const auto number = static_cast<int64_t>(coded >> 1 ^ (0 - (coded & 1)));
    if (!ended || number < least || number > most) return Fail();
    value = static_cast<T>(number);
  }
  void Text(std::string& text) {
    size_t size = 0;
    Int(size, 0, kAny);
    Check(size <= left_.size());
    if (failed_) return;
    text = left_.substr(0, size);
    left_.remove_prefix(size);
  }
  // Items are made one by one, so that a few bytes cannot ask for much memory.
  void List(auto& items, auto each) {
    size_t size = 0;
    Int(size, 0, kAny);
    for (size_t i = 0; i < size && !failed_; ++i) each(items.emplace_back());
    items.shrink_to_fit();
  }
  void Check(bool holds) {
    if (!holds) Fail();
  }
  [[nodiscard]] bool ReadAll() const { return !failed_ && left_.empty(); }

 private:
  void Fail() {
    failed_ = true;
    left_ = {};
  }
  std::string_view left_;
  bool failed_ = false;
};

void Time(auto& io, auto& value) { io.Int(value.ns, -kMost, kMost); }
void Length(auto& io, auto& value) { io.Int(value.ns, 0, kMost); }

// A number as its difference from the one before, which is small.
void Delta(auto& io, auto& value, int64_t& before, int64_t least, int64_t most) {
  int64_t step = Minus(static_cast<int64_t>(value), before);
  io.Int(step, kLeast, kAny);
  before = Plus(before, step);
  io.Check(before >= least && before <= most);
  if constexpr (std::decay_t<decltype(io)>::kReads)
    value = static_cast<std::decay_t<decltype(value)>>(before);
}

// `start_before`: that of the interval before. The end may be before the start.
void When(auto& io, auto& when, int64_t& start_before) {
  Delta(io, when.start.ns, start_before, -kMost, kMost);
  int64_t length = Minus(when.end.ns, when.start.ns);
  io.Int(length, kLeast, kAny);
  if constexpr (std::decay_t<decltype(io)>::kReads) {
    when.end.ns = Plus(when.start.ns, length);
    io.Check(when.end.ns >= -kMost && when.end.ns <= kMost);
  }
}

// An index below `count`, or `none`.
void Index(auto& io, auto& index, uint32_t none, size_t count) {
  int64_t coded = index == none ? 0 : static_cast<int64_t>(index) + 1;
  io.Int(coded, 0, static_cast<int64_t>(count));
  if constexpr (std::decay_t<decltype(io)>::kReads)
    index = coded == 0 ? none : static_cast<uint32_t>(coded - 1);
}

void Series(auto& io, auto& series) {
  for (auto* text : {&series.device, &series.key, &series.name, &series.group, &series.category})
    io.Text(*text);
  io.List(series.streams, [&](auto& stream) { io.Text(stream); });
  io.List(series.messages, [&](auto& message) {
    io.Int(message.in_bytes, 0, kMost);
    io.Int(message.out_bytes, 0, kMost);
    io.Int(message.ranks, 0, kMost);
  });
  io.Int(series.names_group, 0, 1);
  int64_t start = 0, row = 0, sequence = 0;
  io.List(series.kernels, [&](auto& kernel) {
    When(io, kernel.when, start);
    Delta(io, kernel.row, row, 0, std::numeric_limits<uint32_t>::max());
    io.Int(kernel.stream, 0, static_cast<int64_t>(series.streams.size()) - 1);
    bool numbered = kernel.sequence != CommKernel::kNoSequence;
    io.Int(numbered, 0, 1);
    if (numbered) Delta(io, kernel.sequence, sequence, kLeast + 1, kAny);
    Index(io, kernel.message, CommKernel::kNoMessage, series.messages.size());
  });
  io.Check(std::ranges::is_sorted(series.kernels, {}, [](const CommKernel& kernel) {
    return std::tuple(kernel.when.start, kernel.when.end, kernel.row);
  }));
}

void StepFields(auto& io, auto& step, int64_t& start, int64_t& device_start) {
  auto& label = step.label;
  io.Int(label.phase, 0, static_cast<int64_t>(kPhaseCount) - 1);
  for (auto* number : {&label.context_requests, &label.context_tokens, &label.generation_requests,
                       &label.generation_tokens, &label.context_k, &label.context_qq,
                       &label.context_qk, &label.generation_k, &label.generation_qk})
    io.Int(*number, -1, kAny);
  When(io, step.when, start);
  When(io, step.device, device_start);
  Length(io, step.device_busy);
  Time(io, step.host_late);
}

void Cells(auto& io, auto& cells) {
  int64_t start = 0;
  io.List(cells.steps, [&](auto& step) {
    When(io, step.work, start);
    io.Int(step.known, 0, 1);
  });
  io.List(cells.cells, [&](auto& cell) {
    Time(io, cell.comm);
    Time(io, cell.copy);
    for (auto& time : cell.idle) Time(io, time);
  });
  io.Check(cells.cells.empty() || cells.cells.size() == 2 * cells.steps.size());
}

struct LeadUp {
  uint32_t row = 0;
  LeadUps::Launch launch;
  std::vector<LeadUps::Part> parts;
};

void LeadUpFields(auto& io, auto& lead_up, int64_t& row, const TraceDigest& digest) {
  Delta(io, lead_up.row, row, 0, std::numeric_limits<uint32_t>::max());
  Index(io, lead_up.launch.step, kNoStep, digest.steps.size());
  io.Int(lead_up.launch.after_ns, 0, std::numeric_limits<uint32_t>::max());
  io.List(lead_up.parts, [&](auto& part) {
    io.Int(part.kind, 0, static_cast<int64_t>(kLeadFirstCategory + digest.categories.size()) - 1);
    io.Int(part.time.ns, 0, std::numeric_limits<uint32_t>::max());
  });
  io.Check(!lead_up.parts.empty() && lead_up.parts.front().kind == kLeadCollective);
}

void OneDevicesLeadUps(Writer& io, const LeadUps& of, const TraceDigest& digest) {
  io.Text(of.device);
  io.Int(of.rows.size(), 0, kAny);
  int64_t row = 0;
  for (size_t i = 0; i < of.rows.size(); ++i) {
    LeadUp lead_up{of.rows[i], of.launches[i], {}};
    for (size_t part = of.FirstPart(i); part < of.EndOfParts(i); ++part)
      lead_up.parts.push_back(of.PartAt(part));
    LeadUpFields(io, lead_up, row, digest);
  }
}
void OneDevicesLeadUps(Reader& io, LeadUps& of, const TraceDigest& digest) {
  io.Text(of.device);
  std::vector<LeadUp> lead_ups;
  int64_t row = 0;
  io.List(lead_ups, [&](LeadUp& lead_up) { LeadUpFields(io, lead_up, row, digest); });
  for (const LeadUp& lead_up : lead_ups) of.Add(lead_up.row, lead_up.launch, lead_up.parts);
  of.ShrinkToFit();
}

void Fields(auto& io, auto& digest) {
  int64_t version = kVersion, causes = static_cast<int64_t>(IdleCause::kCount);
  io.Int(version, kVersion, kVersion);
  io.Int(causes, causes, causes);
  io.List(digest.categories, [&](auto& category) { io.Text(category); });
  bool communicates = digest.communication != nullptr;
  io.Int(communicates, 0, 1);
  if (communicates) {
    if constexpr (std::decay_t<decltype(io)>::kReads) {
      std::vector<CommSeries> all;
      io.List(all, [&](CommSeries& series) { Series(io, series); });
      digest.communication = std::make_shared<const std::vector<CommSeries>>(std::move(all));
    } else {
      io.List(*digest.communication, [&](const CommSeries& series) { Series(io, series); });
    }
  }
  int64_t start = 0, device_start = 0;
  io.List(digest.steps, [&](auto& step) { StepFields(io, step, start, device_start); });
  Cells(io, digest.cells);
  io.Check(digest.cells.steps.empty() || digest.cells.steps.size() == digest.steps.size());
  io.List(digest.lead_ups, [&](auto& of) { OneDevicesLeadUps(io, of, digest); });
}

}  // namespace

std::string BytesOfDigest(const TraceDigest& digest) {
  Writer writer;
  Fields(writer, digest);
  return std::move(writer).Take();
}

Result<TraceDigest> ReadDigest(std::string_view bytes) {
  Reader reader(bytes);
  TraceDigest digest;
  Fields(reader, digest);
  if (!reader.ReadAll())
    return Fail(ErrorKind::kUnreadable,
                "the digest of a trace is damaged, or of another version of tacho: analyse the "
                "trace again");
  return digest;
}

}  // namespace tacho
