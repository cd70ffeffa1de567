// The tables of kernels and operators of `analyze --json`, over all ranks. Pure.
import type { Analysis, RankTotals, TraceAnalysis } from "./types";

// The traces that figures of the run are made of, as the verdict's: a merged file repeats its ranks, so it counts only where there are no others.
export function tracesOfRanks({ traces }: Analysis): TraceAnalysis[] {
  for (const role of ["worker", "merged"]) {
    const found = traces.filter((trace) => trace.facts.role === role);
    if (found.length > 0) return found;
  }
  return traces;
}

// Those of them that have times of a device, as the sums over kernels: all where none has.
export function timedTraces(analysis: Analysis): TraceAnalysis[] {
  const ranks = tracesOfRanks(analysis), timed = ranks.filter((trace) => trace.devices.length > 0);
  return timed.length > 0 ? timed : ranks;
}

// Absent of a rank without times of a device.
export function busyShare({ busy_ns, window_ns }: RankTotals): number | undefined {
  return busy_ns === undefined || !window_ns ? undefined : busy_ns / window_ns;
}

// A CPU engine: its working operators stand where others have kernels.
export function computesOnCpu(analysis: Analysis): boolean {
  const devices = tracesOfRanks(analysis).flatMap((trace) => trace.devices);
  return devices.length > 0 && devices.every((device) => device.on_host === true);
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
  for (const kernel of timedTraces(analysis).flatMap((trace) => trace.kernels)) {
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
  for (const op of tracesOfRanks(analysis).flatMap((trace) => trace.ops)) {
    const of = found.get(op.name) ?? { name: op.name, count: 0, self: 0, total: 0, device: 0 };
    found.set(op.name, {
      name: op.name, count: of.count + op.count, self: of.self + op.cpu_self_ns, total: of.total + op.cpu_total_ns, device: of.device + op.device_total_ns,
    });
  }
  return [...found.values()].sort((a, b) => b.self - a.self);
}
