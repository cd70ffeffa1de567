// Compares every event of real traces with what simdjson reads, a strict parser that shares nothing
// with ours.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "ingest/kineto_json/event_parser.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "ingest/kineto_json/lenient_json.h"
#include "ingest/kineto_json/number.h"
#include "model/slice_kind.h"
#include "support/corpus.h"
#include "support/event_dump.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const std::string& path) {
  auto stream = OpenStream(path, StreamThreads::kInline);
  EXPECT_TRUE(stream.has_value()) << path;
  std::string text;
  for (;;) {
    const Block block = (*stream)->Next();
    if (block.size == 0) break;
    text.append(block.data, block.size);
  }
  return (*stream)->defect() == StreamDefect::kNone ? text : std::string();
}

std::string TokenText(simdjson::ondemand::value value) {
  if (value.type() == simdjson::ondemand::json_type::string) {
    return std::string(std::string_view(value.get_string()));
  }
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (kineto::IsSpace(token.back()))) token.remove_suffix(1);
  return std::string(token);
}

// The events as EventDump writes them. Metadata arguments are not kept by the reader and left out.
std::vector<std::string> SimdjsonLines(const std::string& json) {
  simdjson::ondemand::parser parser;
  simdjson::padded_string padded(json);
  simdjson::ondemand::document document = parser.iterate(padded);
  std::vector<std::string> lines;
  EventDump dump;
  simdjson::ondemand::array events;
  if (document.type() == simdjson::ondemand::json_type::array)
    events = document.get_array();
  else
    events = document["traceEvents"].get_array();
  for (simdjson::ondemand::object object : events) {
    Event event;
    Vocabulary& words = dump.vocabulary();
    std::string pid, tid, device, stream, told;
    ArgsShape args;
    LaunchSizes launch;
    event.type = EventType::kInstant;
    for (auto field : object) {
      const std::string key(std::string_view(field.unescaped_key()));
      simdjson::ondemand::value value = field.value();
      if (key == "args" && value.type() == simdjson::ondemand::json_type::object) {
        simdjson::ondemand::object members = value.get_object();
        for (auto member : members) {
          const std::string name(std::string_view(member.unescaped_key()));
          simdjson::ondemand::value inner = member.value();
          const auto type = inner.type().value();
          if (type == simdjson::ondemand::json_type::array ||
              type == simdjson::ondemand::json_type::object) {
            if (type == simdjson::ondemand::json_type::array) {
              simdjson::ondemand::array numbers = inner.get_array();
              SetLaunchSize(GpuArgOf(name), std::string_view(numbers.raw_json()), launch);
            }
            continue;
          }
          const std::string text = TokenText(inner);
          if (const GpuArg arg = GpuArgOf(name); arg != GpuArg::kNone) {
            SetLaunchSize(arg, text, launch);
            if (arg == GpuArg::kGraph) event.graph = JsonInteger(text).value_or(0);
            if (arg == GpuArg::kGraphNode) event.graph_node = JsonInteger(text).value_or(0);
          }
          if (name == "device") device = text;
          if (name == "stream") stream = text;
          if (name == "name" || name == "labels") told = text;
          int64_t number = 0;
          const std::string padded_number = text + std::string(32, ',');
          if (type != simdjson::ondemand::json_type::number ||
              kineto::ReadCanonicalInteger(padded_number.data(), number) == nullptr ||
              text.find('.') != std::string::npos)
            continue;
          if (name == "correlation") event.correlation = number;
          if (name == "External id" || name == "external id") event.external_id = number;
        }
        members.reset();
        args.text = std::string(std::string_view(members.raw_json()));
        while (kineto::IsSpace(args.text.back())) args.text.pop_back();
        continue;
      }
      const std::string text = TokenText(value);
      if (key == "ph") event.type = kineto::TypeOfPhase(text.empty() ? '?' : text[0]);
      if (key == "cat") {
        event.category = words.InternCategory(text);
        event.has_category = true;
        event.kind = words[event.category].kind;
      }
      if (key == "name") event.name = words.strings.Intern(text);
      if (key == "pid") pid = text;
      if (key == "tid") tid = text;
      if (key == "id") event.id = std::stoll(text);
      if (key == "ts") {
        event.has_start = true;
        event.start.ns = kineto::ParseMicroseconds(text)->ns;
      }
      if (key == "dur")
        event.duration.ns = std::max<int64_t>(0, kineto::ParseMicroseconds(text)->ns);
    }
    const ProcessId process = words.InternProcess(words.strings.Intern(pid));
    event.track = words.InternTrack(process, words.strings.Intern(tid));
    event.stream = words.InternStream(words.strings.Intern(device.empty() ? pid : device),
                                      words.strings.Intern(stream.empty() ? tid : stream));
    if (event.type == EventType::kMetadata) {
      event.correlation = event.external_id = -1;
      const std::string_view what = words[event.name];
      if (what == "thread_name") words[event.track].name = words.strings.Intern(told);
      if (what == "process_name") words[process].name = words.strings.Intern(told);
    } else if (!args.text.empty()) {
      event.args = words.AddArgsShape(args);
    }
    if (IsGpuWork(event.kind) || event.kind == SliceKind::kOther)
      event.launch = words.InternLaunch(launch);
    else
      event.graph = event.graph_node = 0;
    dump.OnEvent(event);
  }
  return dump.lines();
}

void Compare(const std::string& path) {
  const std::string json = ReadAll(path);
  if (json.empty()) return;  // a cut stream: not for a strict parser
  EventDump ours;
  const auto stream = StreamOfMemory(json);
  ASSERT_TRUE(ReadKinetoJson(*stream, ours)) << path;
  const std::vector<std::string> expected = SimdjsonLines(json);
  ASSERT_EQ(ours.lines().size(), expected.size()) << path;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(ours.lines()[i], expected[i]) << path << " event " << i;
}

#ifdef TACHO_SANITIZED
constexpr uintmax_t kMostSanitized = 500'000;  // larger ones take most of the time
#endif

bool IsTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json.gz") ||
         (name.ends_with(".json") && name.find("trace") != std::string::npos &&
          name.find("oracle") == std::string::npos);
}

TEST(SimdjsonOracle, OurOwnRecordingsAreReadTheSame) {
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(TACHO_SOURCE_DIR "/tests/data")) {
    if (!entry.is_regular_file() || !IsTrace(entry.path())) continue;
    Compare(entry.path().string());
    ++files;
  }
  EXPECT_GE(files, 4u);
}

TEST(SimdjsonOracle, TheCorpusIsReadTheSame) {
  if (!HasCorpus()) GTEST_SKIP() << NoCorpus();
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(CorpusFolder())) {
    const std::string path = entry.path().string();
    // The variants are damaged on purpose, and simdjson refuses what is no JSON.
    if (!entry.is_regular_file() || !IsTrace(entry.path()) ||
        path.find("broken-variants") != std::string::npos)
      continue;
#ifdef TACHO_SANITIZED
    if (entry.file_size() > kMostSanitized) continue;
#endif
    Compare(path);
    ++files;
  }
  EXPECT_GE(files, 40u);
}

}  // namespace
}  // namespace tacho
