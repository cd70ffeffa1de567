#include "simulate/engine/metrics_text.h"

#include <fmt/format.h>

#include <iterator>

namespace tacho::simulate {
namespace {

// Formats a number as Python writes a float: 1.0, 0.005.
std::string BoundText(double bound) {
  const std::string text = fmt::format("{}", bound);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

void MetricsText::Family(std::string_view name, std::string_view help, std::string_view type) {
  if (family_ == name) return;
  family_ = name;
  fmt::format_to(std::back_inserter(out_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void MetricsText::Line(std::string_view name, std::string_view labels, double value) {
  const std::string number = value == static_cast<double>(static_cast<int64_t>(value))
                                 ? fmt::format("{:.1f}", value)
                                 : fmt::format("{}", value);
  fmt::format_to(std::back_inserter(out_), "{}{{{}}} {}\n", name, labels, number);
}

void MetricsText::Sample(std::string_view family, std::string_view help, std::string_view type,
                         std::string_view name, std::string_view labels, double value) {
  Family(family, help, type);
  Line(name, labels, value);
}

void MetricsText::Counter(std::string_view name, std::string_view help, std::string_view labels,
                          double value) {
  const std::string total = fmt::format("{}_total", name);
  Sample(total, help, "counter", total, labels, value);
}

void MetricsText::Distribution(std::string_view name, std::string_view help,
                               std::string_view labels, const Histogram& histogram) {
  Family(name, help, "histogram");
  const std::string bucket = fmt::format("{}_bucket", name);
  uint64_t below = 0;
  for (size_t i = 0; i <= histogram.bounds().size(); ++i) {
    below += histogram.in_bucket(i);
    const std::string bound =
        i < histogram.bounds().size() ? BoundText(histogram.bounds()[i]) : "+Inf";
    Line(bucket, fmt::format("{},le=\"{}\"", labels, bound), static_cast<double>(below));
  }
  Line(fmt::format("{}_count", name), labels, static_cast<double>(histogram.count()));
  Line(fmt::format("{}_sum", name), labels, histogram.sum());
}

}  // namespace tacho::simulate
