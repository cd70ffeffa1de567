#pragma once

#include <string>
#include <vector>

#include "model/event.h"

namespace tacho {

// Adds `label` and the quoted text, every byte made visible, also those that are no UTF-8.
inline void TellText(std::string& out, std::string_view label, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  (out += ' ') += label;
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  out += '"';
}

inline void TellNumber(std::string& out, std::string_view label, int64_t number) {
  ((out += ' ') += label) += std::to_string(number);
}

// The JSON text of an event's arguments, put together from its shape and its values.
inline std::string ArgsTextOf(const Vocabulary& words, const Event& e) {
  if (e.args == ArgsShapeId::kNone) return {};
  const ArgsShape& shape = words[e.args];
  std::string text;
  size_t from = 0;
  for (size_t i = 0; i < shape.slots.size(); ++i) {
    text.append(shape.text, from, shape.slots[i].at - from);
    from = shape.slots[i].at;
    if (shape.slots[i].home == SlotHome::kText)
      text += words[static_cast<StringId>(e.arg_values[i])];
    else
      text += std::to_string(e.arg_values[i]);
  }
  return text.append(shape.text, from);
}

inline std::string LaunchText(const LaunchSizes& sizes) {
  std::string text = XyzText(sizes.grid) + ' ' + XyzText(sizes.block);
  for (const auto& number :
       {sizes.registers, sizes.shared_bytes, sizes.static_shared_bytes, sizes.dynamic_shared_bytes})
    text += ' ' + (number ? std::to_string(*number) : "-");
  return text;
}

// Chrome's letter for the type.
inline char LetterOf(EventType type) { return "XBEiCberstfM"[static_cast<size_t>(type)]; }

enum class DumpArgs { kTold, kNotTold, kNotWanted };

// A sink that writes each event as one line of text with all that a reader told of it: what two
// ways of reading the same bytes must agree on.
class EventDump : public EventSink {
 public:
  explicit EventDump(DumpArgs args = DumpArgs::kTold) : args_(args) {}

  TraceBasics& basics() override { return basics_; }
  [[nodiscard]] bool wants_args() const override { return args_ != DumpArgs::kNotWanted; }

  void OnEvent(const Event& e) override {
    const Vocabulary& words = basics_.words;
    std::string line(1, LetterOf(e.type));
    if (e.has_category) TellText(line, "cat=", words[words[e.category].name]);
    TellText(line, "name=", words[e.name]);
    const Track& track = words[e.track];
    const Process& process = words[track.process];
    TellText(line, "pid=", words[process.id]);
    TellText(line, "tid=", words[track.tid]);
    if (e.has_start) {
      TellNumber(line, "ts=", e.start.ns);
      TellNumber(line, "dur=", e.duration.ns);
    }
    if (IsGpuWork(e.kind)) {
      TellText(line, "device=", words[words[e.stream].device]);
      TellText(line, "stream=", words[words[e.stream].stream]);
    }
    if (e.correlation != -1) TellNumber(line, "correlation=", e.correlation);
    if (e.external_id != -1) TellNumber(line, "external=", e.external_id);
    if (e.id != -1) TellNumber(line, "id=", e.id);
    if (args_ == DumpArgs::kTold) {
      if (e.graph != 0) TellNumber(line, "graph=", e.graph);
      if (e.graph_node != 0) TellNumber(line, "node=", e.graph_node);
      if (e.launch != LaunchId::kNone) TellText(line, "launch=", LaunchText(words[e.launch]));
    }
    if (e.type == EventType::kMetadata && process.name != StringId::kEmpty)
      TellText(line, "process=", words[process.name]);
    if (e.type == EventType::kMetadata && track.name != StringId::kEmpty)
      TellText(line, "thread=", words[track.name]);
    if (args_ == DumpArgs::kTold && e.args != ArgsShapeId::kNone)
      TellText(line, "args=", ArgsTextOf(words, e));
    lines_.push_back(std::move(line));
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  const DumpArgs args_;
  TraceBasics basics_;
  std::vector<std::string> lines_;
};

}  // namespace tacho
