#include "simulate/trace/trace_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "simulate/trace/trace_steps.h"

namespace tacho::simulate {
namespace {

constexpr size_t kMostRows = 100;
constexpr size_t kLongestName = 52;

std::string Time(int64_t ns) {
  const auto us = static_cast<double>(ns) / 1000;
  if (us >= 1e6) return fmt::format("{:.3f}s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3f}ms", us / 1e3);
  return fmt::format("{:.3f}us", us);
}

}  // namespace

std::string KeyAveragesTable(const TraceSource& source, const Recording& recording) {
  struct Row {
    std::string name;
    int64_t count = 0, total_ns = 0;
  };
  std::map<std::string, Row> by_name;
  int64_t cuda_ns = 0, cpu_ns = 0;
  EachTracedStep(source, recording, [&](const TracedStep& step) {
    for (size_t i = 0; i < step.plan.device.size(); ++i) {
      if (!step.shows_device[i]) continue;
      const DeviceSlice& slice = step.plan.device[i];
      Row& row = by_name[slice.name];
      row.name = slice.name;
      ++row.count;
      row.total_ns += slice.dur_ns;
      cuda_ns += slice.dur_ns;
    }
    for (const HostSlice& slice : step.plan.host) {
      if (slice.kind == HostSlice::Kind::kStep) cpu_ns += slice.dur_ns;
    }
  });
  std::vector<Row> rows;
  for (auto& [name, row] : by_name) rows.push_back(row);
  std::ranges::stable_sort(rows, std::greater<>{}, &Row::total_ns);
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  const std::string rule = fmt::format("{0:-<55}  {0:-<12}  {0:-<12}  {0:-<13}  {0:-<12}  \n", "-");
  std::string out = rule + fmt::format("{:>55}  {:>12}  {:>12}  {:>13}  {:>12}  \n", "Name",
                                       "Self CUDA", "Self CUDA %", "CUDA time avg", "# of Calls");
  out += rule;
  for (const Row& row : rows) {
    const std::string name =
        row.name.size() > kLongestName ? row.name.substr(0, kLongestName) + "..." : row.name;
    out += fmt::format(
        "{:>55}  {:>12}  {:>11.2f}%  {:>13}  {:>12}  \n", name, Time(row.total_ns),
        cuda_ns == 0 ? 0.0
                     : 100.0 * static_cast<double>(row.total_ns) / static_cast<double>(cuda_ns),
        Time(row.total_ns / row.count), row.count);
  }
  return out + rule +
         fmt::format("Self CPU time total: {}\nSelf CUDA time total: {}\n", Time(cpu_ns),
                     Time(cuda_ns));
}

}  // namespace tacho::simulate
