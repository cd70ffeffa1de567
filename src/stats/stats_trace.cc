#include "stats/stats_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/json_text.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

// Makes the texts of NVTX ranges. A text from torch's emit_nvtx is stored as a name with arguments
// (ingest/nsys_sqlite/FORMAT.md); this class puts it together again.
class RangeNames {
 public:
  explicit RangeNames(const Trace& trace)
      : trace_(trace),
        domain_(trace, "domain"),
        op_id_(trace, "op_id"),
        sequence_(trace, "Sequence number"),
        sizes_(trace, "Input Dims"),
        end_thread_(trace, "end thread") {}

  [[nodiscard]] std::string NameOf(StringId name, const ArgsOf& args) const {
    std::string text;
    if (const StringId domain = domain_.Text(args); domain != StringId::kEmpty)
      text = JsonStringOrText(trace_.Text(domain)) + ":";
    text += trace_.Text(name);
    const auto op_id = op_id_.Integer(args);
    if (!op_id) return text;
    if (const auto sequence = sequence_.Integer(args)) text += fmt::format(", seq = {}", *sequence);
    text += fmt::format(", op_id = {}", *op_id);
    if (const StringId sizes = sizes_.Text(args); sizes != StringId::kEmpty)
      text.append(", sizes = ").append(trace_.Text(sizes));
    return text;
  }
  [[nodiscard]] bool IsOnOneThread(const ArgsOf& args) const { return !end_thread_.Integer(args); }

 private:
  const Trace& trace_;
  ArgReader domain_, op_id_, sequence_, sizes_, end_thread_;
};

}  // namespace

StatsTrace::StatsTrace(const Trace& trace, Needs needs)
    : trace_(&trace),
      is_nsys_(trace.header.format == TraceFormat::kNsys),
      version_(trace, "version") {
  if (needs.launches) links_ = LinkLaunches(trace);
  if (needs.ranges) ReadRanges();
}

void StatsTrace::ReadRanges() {
  const Trace& trace = *trace_;
  const RangeNames names(trace);
  const auto add = [&](const SliceTable& table, uint32_t row, const ArgsOf& args) {
    ranges_.push_back(
        {table.When(row), names.NameOf(table.name[row], args), table.track[row], false, true});
  };
  for (uint32_t row = 0; row < trace.annotations.size(); ++row)
    add(trace.annotations, row, {trace.annotations.args[row]});
  if (is_nsys_) {  // in other traces, no user named these ranges
    for (uint32_t row = 0; row < trace.host_ops.size(); ++row)
      add(trace.host_ops, row, HostOpArgs(trace, row));
    const RangeTable& free = trace.ranges;
    for (uint32_t row = 0; row < free.size(); ++row) {
      const ArgsOf args{free.args[row]};
      ranges_.push_back({{free.start[row],
                          free.start[row] + DurationNs{std::max<int64_t>(free.duration[row], 0)}},
                         names.NameOf(free.name[row], args),
                         free.track[row],
                         true,
                         names.IsOnOneThread(args)});
    }
  }
  std::ranges::stable_sort(ranges_, [](const NvtxRange& a, const NvtxRange& b) {
    return std::tuple(Index(a.track), a.when.start, b.when.end) <
           std::tuple(Index(b.track), b.when.start, a.when.end);
  });
}

std::string OperationName(SliceKind kind, std::string_view name) {
  if (kind == SliceKind::kMemset) return "[CUDA memset]";
  if (!name.starts_with("Memcpy ")) return std::string(name);
  name.remove_prefix(7);
  name = name.substr(0, name.find(' '));
  const bool is_unified = name.starts_with("Uvm");
  if (is_unified) name.remove_prefix(3);
  return fmt::format("[CUDA {}memcpy {}]", is_unified ? "Unified Memory " : "", name);
}

std::string CallName(std::string_view name, int64_t version) {
  constexpr int64_t kLeastShown = 10'000;
  return version < kLeastShown ? std::string(name) : fmt::format("{}_v{}", name, version);
}

Cell NumberOrText(std::string_view text) {
  const auto number = ParseWhole<int64_t>(text);
  return number ? Cell(*number) : Cell(std::string(text));
}

Cell StatsTrace::Pid(TrackId track) const {
  return NumberOrText(Text(trace_->words[trace_->words[track].process].id));
}
Cell StatsTrace::Tid(TrackId track) const { return NumberOrText(Text(trace_->words[track].tid)); }

}  // namespace tacho
