#include "base/metric_samples.h"

#include <charconv>
#include <optional>

#include "base/words.h"

namespace tacho {
namespace {

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
}

// Takes a quoted label value, and replaces its escapes \\, \" and \n.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i];
    } else {
      value += text[i];
    }
  }
  return std::nullopt;
}

bool TakeLabels(std::string_view& text, std::map<std::string, std::string>& labels) {
  text.remove_prefix(1);
  while (true) {
    SkipBlanks(text);
    if (text.starts_with('}')) {
      text.remove_prefix(1);
      return true;
    }
    size_t equals = text.find('=');
    if (equals == std::string_view::npos) return false;
    std::string name(text.substr(0, equals));
    while (!name.empty() && name.back() == ' ') name.pop_back();
    text.remove_prefix(equals + 1);
    SkipBlanks(text);
    std::optional<std::string> value = TakeQuoted(text);
    if (!value) return false;
    labels[name] = *value;
    SkipBlanks(text);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
}

std::optional<MetricSample> ParseLine(std::string_view line) {
  SkipBlanks(line);
  if (line.empty() || line[0] == '#') return std::nullopt;
  MetricSample sample;
  size_t end = line.find_first_of("{ \t");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  sample.name = line.substr(0, end);
  line.remove_prefix(end);
  SkipBlanks(line);
  if (line.starts_with('{') && !TakeLabels(line, sample.labels)) return std::nullopt;
  SkipBlanks(line);
  if (line.starts_with('+')) line.remove_prefix(1);
  auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), sample.value);
  if (error != std::errc() || rest == line.data()) return std::nullopt;
  return sample;
}

}  // namespace

std::vector<MetricSample> ParsePrometheus(std::string_view text) {
  std::vector<MetricSample> samples;
  while (!text.empty()) {
    if (std::optional<MetricSample> sample = ParseLine(TakeLine(text)))
      samples.push_back(std::move(*sample));
  }
  return samples;
}

}  // namespace tacho
