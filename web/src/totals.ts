// Sums over the traces of `analyze --json`, for one bar and one table of the whole run. Pure.
import type { Analysis, DeviceTotals } from "./types";

export interface DeviceTime {
  window: number;
  busy: number;
  idle: number;
  compute: number;
  comm: number;
  copy: number;
  devices: number;
  onHost: boolean;
}
const kNone: DeviceTime = { window: 0, busy: 0, idle: 0, compute: 0, comm: 0, copy: 0, devices: 0, onHost: false };

export function deviceTime(devices: readonly DeviceTotals[]): DeviceTime {
  return devices.reduce(
    (sum, of) => ({
      window: sum.window + of.window_ns,
      busy: sum.busy + of.busy_ns,
      idle: sum.idle + of.idle_ns,
      compute: sum.compute + of.compute_ns,
      comm: sum.comm + of.exposed_comm_ns,
      copy: sum.copy + of.exposed_copy_ns,
      devices: sum.devices + 1,
      onHost: sum.onHost || of.on_host === true,
    }),
    kNone,
  );
}
export function devicesOf(analysis: Analysis): DeviceTotals[] {
  return analysis.traces.flatMap((trace) => trace.devices);
}

// Adds up what has the same key, in any trace; largest first.
function sums<Row>(rows: readonly Row[], key: (row: Row) => string, value: (row: Row) => number, times: (row: Row) => number) {
  const found = new Map<string, { id: string; ns: number; count: number }>();
  for (const row of rows) {
    const of = found.get(key(row)) ?? { id: key(row), ns: 0, count: 0 };
    found.set(key(row), { id: of.id, ns: of.ns + value(row), count: of.count + times(row) });
  }
  return [...found.values()].sort((a, b) => b.ns - a.ns || (a.id < b.id ? -1 : 1));
}
export type Total = ReturnType<typeof sums>[number];

export function idleCauses(analysis: Analysis): Total[] {
  return sums(analysis.traces.flatMap((trace) => trace.idle?.causes ?? []), (row) => row.id, (row) => row.ns, (row) => row.count);
}
export function workByCategory(analysis: Analysis): Total[] {
  const rows = analysis.traces.flatMap((trace) => [
    ...trace.categories,
    ...trace.copies.map((copy) => ({ category: "copies", count: copy.count, total_ns: copy.total_ns })),
    ...trace.memsets.map((memset) => ({ category: "memsets", count: memset.count, total_ns: memset.total_ns })),
  ]);
  return sums(rows, (row) => row.category, (row) => row.total_ns, (row) => row.count);
}

export interface KernelRow {
  name: string;
  short: string;
  category: string;
  count: number;
  total: number;
  longest: number;
  median?: number; // absent where several traces have the name: medians cannot be added
  p99?: number;
}
export function kernelRows(analysis: Analysis): KernelRow[] {
  const found = new Map<string, KernelRow>();
  for (const kernel of analysis.traces.flatMap((trace) => trace.kernels)) {
    const of = found.get(kernel.name);
    if (of) {
      of.count += kernel.count;
      of.total += kernel.total_ns;
      of.longest = Math.max(of.longest, kernel.max_ns);
      delete of.median;
      delete of.p99;
    } else {
      found.set(kernel.name, {
        name: kernel.name, short: kernel.short_name, category: kernel.category, count: kernel.count, total: kernel.total_ns,
        longest: kernel.max_ns, median: kernel.p50_ns, p99: kernel.p99_ns,
      });
    }
  }
  return [...found.values()].sort((a, b) => b.total - a.total);
}

export interface OperatorRow {
  name: string;
  count: number;
  self: number;
  total: number;
  device: number;
}
export function operatorRows(analysis: Analysis): OperatorRow[] {
  const found = new Map<string, OperatorRow>();
  for (const op of analysis.traces.flatMap((trace) => trace.ops)) {
    const of = found.get(op.name) ?? { name: op.name, count: 0, self: 0, total: 0, device: 0 };
    found.set(op.name, {
      name: op.name, count: of.count + op.count, self: of.self + op.cpu_self_ns, total: of.total + op.cpu_total_ns, device: of.device + op.device_total_ns,
    });
  }
  return [...found.values()].sort((a, b) => b.self - a.self);
}
