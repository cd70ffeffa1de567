#include "analysis/roofline/accelerator.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/parse_number.h"
#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view accelerator_rules;
}
namespace {

struct Row {
  Accelerator accelerator;
  std::vector<std::string_view> names;  // as traces have them
};

// A rate in `unit`; "-" is 0.
Result<double> ReadRate(std::string_view word, double unit) {
  if (word == "-") return 0.0;
  std::string_view rest = word;
  const auto value = TakeNumber<double>(rest);
  if (!value || !rest.empty() || !(*value > 0))
    return Fail(ErrorKind::kUsage, "expected a rate above 0, or -");
  return *value * unit;
}

Result<Row> ReadRow(std::string_view line) {
  Row row;
  Accelerator& of = row.accelerator;
  of.id = TakeWord(line);
  for (double& flops : of.flops) {
    TACHO_ASSIGN_OR_RETURN(flops, ReadRate(TakeWord(line), 1e12));
  }
  TACHO_ASSIGN_OR_RETURN(of.memory_bytes_s, ReadRate(TakeWord(line), 1e9));
  TACHO_ASSIGN_OR_RETURN(of.link_bytes_s, ReadRate(TakeWord(line), 1e9));
  while (!line.empty()) {
    const size_t bar = std::min(line.find('|'), line.size());
    row.names.push_back(Trim(line.substr(0, bar)));
    line.remove_prefix(std::min(bar + 1, line.size()));
  }
  return row;
}

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> read;
    ReadBuiltInRules(embedded::accelerator_rules, "rules/accelerators.rules",
                     [&](auto line) -> Result<void> {
                       TACHO_ASSIGN_OR_RETURN(Row row, ReadRow(line));
                       read.push_back(std::move(row));
                       return {};
                     });
    return read;
  }();
  return rows;
}

bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::optional<Accelerator> FindAccelerator(std::string_view name) {
  for (const Row& row : Rows()) {
    if (SameName(row.accelerator.id, name) ||
        std::ranges::any_of(row.names, [&](auto known) { return SameName(known, name); }))
      return row.accelerator;
  }
  return std::nullopt;
}

std::optional<Accelerator> AcceleratorOf(const TraceHeader& header) {
  std::set<std::string_view> names;
  for (const DeviceProperties& device : header.devices) names.insert(device.name);
  return names.size() == 1 ? FindAccelerator(*names.begin()) : std::nullopt;
}

std::vector<std::string_view> AcceleratorIds() {
  std::vector<std::string_view> ids;
  for (const Row& row : Rows()) ids.push_back(row.accelerator.id);
  return ids;
}

}  // namespace tacho
