#include "analysis/run_totals.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/ranks/rank_counts.h"

namespace tacho {
namespace {

// Sorted by total, longest first, then by name.
template <typename Row, typename Total, typename Name>
std::vector<Row> SortedRows(std::map<std::string, Row>& by_name, Total total, Name name) {
  std::vector<Row> rows;
  for (auto& [key, row] : by_name) rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (total(a) != total(b)) return total(a) > total(b);
    return name(a) < name(b);
  });
  return rows;
}

void AddStats(DurationStats& sum, const DurationStats& more) {
  if (more.count == 0) return;
  sum.min = sum.count == 0 ? more.min : std::min(sum.min, more.min);
  sum.max = std::max(sum.max, more.max);
  sum.count += more.count;
  sum.total += more.total;
}

KernelTable AddKernels(const std::vector<const TraceAnalysis*>& workers) {
  KernelTable sum;
  std::map<std::string, KernelRow> kernels;
  std::map<std::string, CategoryRow> categories;
  double covered = 0;
  for (const TraceAnalysis* trace : workers) {
    for (const KernelRow& row : trace->kernels.rows) {
      KernelRow& into = kernels[row.name];
      into.name = row.name;
      into.category = row.category;
      AddStats(into.stats, row.stats);
    }
    for (const CategoryRow& row : trace->kernels.categories) {
      CategoryRow& into = categories[row.category];
      into.category = row.category;
      into.count += row.count;
      into.total += row.total;
    }
    sum.total += trace->kernels.total;
    covered += trace->kernels.coverage * static_cast<double>(trace->kernels.total.ns);
    sum.shorter_than_10us += trace->kernels.shorter_than_10us;
  }
  sum.coverage = sum.total.ns == 0 ? 1 : covered / static_cast<double>(sum.total.ns);
  sum.rows = SortedRows(
      kernels, [](const KernelRow& r) { return r.stats.total; },
      [](const KernelRow& r) { return r.name; });
  sum.categories = SortedRows(
      categories, [](const CategoryRow& r) { return r.total; },
      [](const CategoryRow& r) { return r.category; });
  return sum;
}

CopyTable AddCopies(const std::vector<const TraceAnalysis*>& workers) {
  CopyTable sum;
  std::map<std::string, CopyRow> kinds;
  const auto add_bytes = [](std::optional<int64_t>& into, const std::optional<int64_t>& more) {
    if (more) into = into.value_or(0) + *more;
  };
  for (const TraceAnalysis* trace : workers) {
    for (const CopyRow& row : trace->copies.copies) {
      CopyRow& into = kinds[row.kind];
      into.kind = row.kind;
      into.count += row.count;
      into.total += row.total;
      into.pageable += row.pageable;
      add_bytes(into.bytes, row.bytes);
    }
    sum.memsets.count += trace->copies.memsets.count;
    sum.memsets.total += trace->copies.memsets.total;
    add_bytes(sum.memsets.bytes, trace->copies.memsets.bytes);
  }
  sum.copies = SortedRows(
      kinds, [](const CopyRow& r) { return r.total; }, [](const CopyRow& r) { return r.kind; });
  return sum;
}

IdleTable AddIdle(const std::vector<const IdleTable*>& tables) {
  IdleTable sum;
  // The sum has this value only if all traces have it.
  if (!tables.empty()) sum.requests = tables.front()->requests;
  for (const IdleTable* idle : tables) {
    if (idle->requests != sum.requests) sum.requests = Requests::kUnknown;
    sum.known = sum.known && idle->known;
    sum.window += idle->window;
    sum.busy += idle->busy;
    for (const IdleCauseRow& row : idle->causes) {
      auto at = std::find_if(sum.causes.begin(), sum.causes.end(),
                             [&](const IdleCauseRow& r) { return r.cause == row.cause; });
      if (at == sum.causes.end())
        at = sum.causes.insert(at, IdleCauseRow{row.cause, {}, 0, row.call});
      if (at->call != row.call) at->call.clear();  // the traces name different calls
      at->total += row.total;
      at->count += row.count;
    }
  }
  if (!sum.known) sum.causes.clear();
  std::sort(sum.causes.begin(), sum.causes.end(), [](const IdleCauseRow& a, const IdleCauseRow& b) {
    return a.total != b.total ? a.total > b.total : a.cause < b.cause;
  });
  return sum;
}

// Adds up the work of the streams, which is already clipped to the window. The categories of a
// stream include the copies and the memsets. A category of kernels may have the same name; so a row
// counts as the copies or memsets only if its total is right, too.
void AddWork(const std::vector<const DeviceTime*>& devices, DeviceTotals& totals) {
  std::map<std::string, CategoryRow> kernels;
  for (const DeviceTime* device : devices) {
    for (const StreamTime& stream : device->streams) {
      const DurationNs copies = stream.by_kind[static_cast<size_t>(WorkKind::kCopy)];
      const DurationNs memsets = stream.by_kind[static_cast<size_t>(WorkKind::kMemset)];
      totals.copies.total += copies;
      totals.memsets.total += memsets;
      bool copies_seen = false, memsets_seen = false;
      for (const CategoryRow& row : stream.categories) {
        const bool copy =
            !copies_seen && row.category == WorkKindName(WorkKind::kCopy) && row.total == copies;
        const bool memset = !memsets_seen && row.category == WorkKindName(WorkKind::kMemset) &&
                            row.total == memsets;
        copies_seen = copies_seen || copy;
        memsets_seen = memsets_seen || memset;
        CategoryRow& into = copy ? totals.copies : memset ? totals.memsets : kernels[row.category];
        into.count += row.count;
        if (copy || memset) continue;
        into.category = row.category;
        into.total += row.total;
      }
    }
  }
  for (auto& [name, row] : kernels) totals.kernels.push_back(std::move(row));
  totals.kernels = SortedCategories(std::move(totals.kernels));
}

DeviceTotals AddDevices(const std::vector<const DeviceTime*>& devices) {
  DeviceTotals totals;
  totals.devices = devices.size();
  for (const DeviceTime* device : devices) {
    totals.on_host = totals.on_host || device->on_host;
    // The executing thread is one stream; each other thread with collectives is a stream too.
    totals.has_collectives_beside =
        totals.has_collectives_beside || (device->on_host && device->streams.size() > 1);
    totals.whole = totals.whole && device->whole;
    totals.gpu_events += device->gpu_events;
    for (const StreamTime& stream : device->streams) totals.overlaps += stream.overlaps;
    totals.window += device->window.length();
    totals.busy += device->busy;
    totals.idle += device->idle;
    totals.compute += device->compute;
    totals.exposed_comm += device->exposed_comm;
    totals.exposed_copy += device->exposed_copy;
    totals.comm_busy += device->comm_busy;
    totals.kernel_sum += device->kernel_sum;
  }
  if (!totals.whole) totals.idle = totals.exposed_comm = totals.exposed_copy = {};
  AddWork(devices, totals);
  return totals;
}

}  // namespace

DeviceTotals TotalsOf(const std::vector<DeviceTime>& devices) {
  std::vector<const DeviceTime*> all;
  for (const DeviceTime& device : devices) all.push_back(&device);
  return AddDevices(all);
}

bool IsSliceTogether(const RunAnalysis& run, const std::string& path) {
  return std::ranges::any_of(run.together, [&](const SlicesTogether& slices) {
    return std::ranges::find(slices.paths, path) != slices.paths.end();
  });
}

RunTotals TotalsOf(const RunAnalysis& run) {
  RunTotals totals;
  const std::vector<const TraceAnalysis*> workers = TimedRanksOf(run);
  std::vector<const DeviceTime*> devices;
  std::vector<const IdleTable*> idle;
  const auto add = [&](const auto& part) {
    for (const DeviceTime& device : part.devices) devices.push_back(&device);
    idle.push_back(&part.idle);
  };
  for (const TraceAnalysis* trace : workers) {
    if (!IsSliceTogether(run, trace->path)) add(*trace);
  }
  for (const SlicesTogether& slices : run.together) add(slices);
  totals.devices = AddDevices(devices);
  totals.devices.devices = CountRanks(run).devices;
  totals.workers = RanksOf(run).size();
  totals.timed = workers.size();
  totals.kernels = AddKernels(workers);
  totals.copies = AddCopies(workers);
  totals.idle = AddIdle(idle);
  return totals;
}

}  // namespace tacho
