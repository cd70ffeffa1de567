#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simulate/engine/histogram.h"

namespace tacho::simulate {

// Writes Prometheus's text format. Labels are given without braces: engine="0",model_name="tiny".
class MetricsText {
 public:
  void Gauge(std::string_view name, std::string_view help, std::string_view labels, double value) {
    Sample(name, help, "gauge", name, labels, value);
  }
  // `name`: without the "_total" that its samples get.
  void Counter(std::string_view name, std::string_view help, std::string_view labels, double value);
  void Distribution(std::string_view name, std::string_view help, std::string_view labels,
                    const Histogram& histogram);
  std::string Finish() && { return std::move(out_); }

 private:
  void Family(std::string_view name, std::string_view help, std::string_view type);
  void Sample(std::string_view family, std::string_view help, std::string_view type,
              std::string_view name, std::string_view labels, double value);
  void Line(std::string_view name, std::string_view labels, double value);

  std::string out_;
  std::string family_;  // the last metric; several values of one metric share a head
};

}  // namespace tacho::simulate
