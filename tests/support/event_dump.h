#pragma once

#include <string>
#include <vector>

#include "base/json_text.h"
#include "model/event.h"

namespace tacho {

// A sink that writes each event as one line of text with all that a reader told of it: what two
// ways of reading the same bytes must agree on.
class EventDump : public EventSink {
 public:
  Vocabulary& vocabulary() override { return words_; }
  [[nodiscard]] bool wants_args() const override { return true; }

  void OnEvent(const Event& e) override {
    std::string line(1, e.phase);
    const auto add = [&](std::string_view label, std::string_view text) {
      line += ' ';
      line += label;
      line += QuoteBytes(text);
    };
    if (e.has_category) add("cat=", words_[words_[e.category].name]);
    add("name=", words_[e.name]);
    add("pid=", words_[words_[e.track].pid]);
    add("tid=", words_[words_[e.track].tid]);
    if (e.has_start)
      line += " ts=" + std::to_string(e.start.ns) + " dur=" + std::to_string(e.duration.ns);
    if (IsGpuWork(e.kind)) {
      add("device=", words_[words_[e.stream].device]);
      add("stream=", words_[words_[e.stream].stream]);
    }
    if (e.correlation != -1) line += " correlation=" + std::to_string(e.correlation);
    if (e.external_id != -1) line += " external=" + std::to_string(e.external_id);
    if (e.flow_id >= 0) line += " id=" + std::to_string(e.flow_id);
    if (e.metadata != StringId::kEmpty) add("metadata=", words_[e.metadata]);
    if (e.args != ArgsShapeId::kNone) add("args=", Args(e));
    lines_.push_back(std::move(line));
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  // Quotes and makes every byte visible, also those that are no UTF-8.
  static std::string QuoteBytes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
        static constexpr char kHex[] = "0123456789abcdef";
        out += "\\x";
        out += kHex[static_cast<unsigned char>(c) >> 4];
        out += kHex[static_cast<unsigned char>(c) & 15];
      } else {
        out += c;
      }
    }
    return out + '"';
  }

  std::string Args(const Event& e) const {
    const ArgsShape& shape = words_[e.args];
    std::string text;
    size_t from = 0;
    for (size_t i = 0; i < shape.slots.size(); ++i) {
      text.append(shape.text, from, shape.slots[i].at - from);
      from = shape.slots[i].at;
      text += shape.slots[i].home == SlotHome::kText
                  ? std::string(words_[static_cast<StringId>(e.arg_values[i])])
                  : std::to_string(e.arg_values[i]);
    }
    return text.append(shape.text, from);
  }

  Vocabulary words_;
  std::vector<std::string> lines_;
};

}  // namespace tacho
