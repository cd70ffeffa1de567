// generate_trace: a Kineto trace of a wanted size, the same bytes for the same arguments.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "step_model.h"
#include "trace_envelope.h"
#include "trace_events.h"
#include "trace_options.h"
#include "trace_writer.h"

namespace tacho::bench {
namespace {

constexpr int kSizingSteps = 8;

struct Arguments {
  std::uint64_t bytes = 0;
  TraceOptions trace;
  const char* output = nullptr;
};

void WriteTrace(const TraceOptions& options, std::int64_t steps, Sink& sink) {
  StepModel model(options.seed);
  const TraceEnvelope envelope(options, model.start_ns(), sink);
  const bool metadata_first = options.Lines().metadata_first;
  envelope.Header();
  if (metadata_first) envelope.Metadata();
  const EventTotals totals = WriteEvents(options, steps, model, sink);
  if (!metadata_first) envelope.Metadata();
  envelope.Trailer(totals.end_ns, totals.operators);
}

// How many steps make the wanted size, from the size of a few.
std::int64_t StepsFor(const Arguments& arguments) {
  const auto bytes_of = [&arguments](std::int64_t steps) {
    Sink sink(nullptr);
    WriteTrace(arguments.trace, steps, sink);
    return sink.bytes();
  };
  const std::int64_t empty = bytes_of(0);
  const std::int64_t some = bytes_of(kSizingSteps) - empty;
  const std::int64_t wanted = static_cast<std::int64_t>(arguments.bytes) - empty;
  return std::max<std::int64_t>(1, wanted / (some / kSizingSteps));
}

constexpr char kHelp[] =
    "usage: generate_trace --bytes N [--layout a|b] [--stack 0|1] [--shapes 0|1] [--seed S]\n"
    "                      [--output FILE]\n"
    "\n"
    "Writes a synthetic Kineto trace of about N bytes of JSON to FILE or to standard output.\n"
    "\n"
    "  --layout a   several keys on a line, as Kineto wrote until early 2026 (default)\n"
    "  --layout b   one key on a line, as it writes since\n"
    "  --stack 1    Python frames (default 1)\n"
    "  --shapes 1   shapes, strides and types of the operators' inputs (default 1)\n"
    "  --seed S     another trace of the same kind (default 1)\n";

bool Whole(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

int UsageError(const std::string& message) {
  std::fprintf(stderr, "generate_trace: %s\n%s", message.c_str(), kHelp);
  return 2;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  TraceOptions& options = arguments.trace;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (i + 1 == argc) return UsageError(std::string(flag) + " needs a value");
    const char* value = argv[++i];
    const bool is_bit = std::strcmp(value, "0") == 0 || std::strcmp(value, "1") == 0;
    if (flag == "--bytes" && Whole(value, arguments.bytes)) {
      if (arguments.bytes == 0) return UsageError("--bytes must not be 0");
    } else if (flag == "--layout" && (*value == 'a' || *value == 'b') && value[1] == 0) {
      options.layout = value[0];
    } else if (flag == "--stack" && is_bit) {
      options.stack = value[0] == '1';
    } else if (flag == "--shapes" && is_bit) {
      options.shapes = value[0] == '1';
    } else if (flag == "--seed" && Whole(value, options.seed)) {
      // Taken.
    } else if (flag == "--output") {
      arguments.output = value;
    } else {
      return UsageError("cannot take " + std::string(flag) + " " + value);
    }
  }
  if (arguments.bytes == 0) return UsageError("--bytes is needed");

  std::FILE* file = arguments.output == nullptr ? stdout : std::fopen(arguments.output, "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "generate_trace: %s: %s\n", arguments.output, std::strerror(errno));
    return 3;
  }
  std::setvbuf(file, nullptr, _IONBF, 0);
  Sink sink(file);
  WriteTrace(options, StepsFor(arguments), sink);
  const bool written = sink.Flush();
  if (std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "generate_trace: cannot write %s\n",
                 arguments.output == nullptr ? "to standard output" : arguments.output);
    return 3;
  }
  return 0;
}

}  // namespace
}  // namespace tacho::bench

int main(int argc, char** argv) { return tacho::bench::Main(argc, argv); }
