// The rows of the tab "Model": the blocks of a phase, and its layers. Times are of a step on one device. Pure.
import type { BlockTotals, LayerTotals, PhaseLayers, Roof, TraceAnalysis } from "./types";

export interface BlockRow {
  id: string;
  outside: boolean; // of all layers
  device: number; // ns a step
  gap: number;
  share: number; // of the device time of the phase
  aLayer?: number; // ns of one layer that has the block
  roof?: RoofFigures;
}
export interface RoofFigures {
  device: number; // ns a step; of the steps that the roofline knows
  roof: number;
  mfu?: number; // absent where the block only communicates
  mbu?: number;
}
export interface LayerRow {
  index: number;
  kind: string;
  device: number;
  gap: number;
  blocks: Map<string, number>; // ns of a step
}

function roofOf(of: Roof | undefined): RoofFigures | undefined {
  if (!of) return undefined;
  return { device: of.ns / of.steps, roof: of.roof_ns / of.steps, ...(of.flops + of.bytes > 0 ? { mfu: of.mfu, mbu: of.mbu } : {}) };
}
export function roofOfPhase(trace: TraceAnalysis, phase: string): RoofFigures | undefined {
  return roofOf(trace.roofline?.phases.find((of) => of.phase === phase));
}

const timeOf = (blocks: readonly BlockTotals[]) => blocks.reduce((sum, of) => sum + of.device_ns, 0);
export function timeOfPhase({ list, outside }: PhaseLayers): number {
  return list.reduce((sum, layer) => sum + layer.device_ns, 0) + timeOf(outside);
}
// Those of the layers, added up over them, then those outside.
export function blockRows(trace: TraceAnalysis, of: PhaseLayers): BlockRow[] {
  const whole = Math.max(1, timeOfPhase(of));
  const sums = new Map<string, BlockTotals & { layers: number }>();
  for (const block of of.list.flatMap((layer) => layer.blocks)) {
    const sum = sums.get(block.id) ?? { id: block.id, device_ns: 0, gap_ns: 0, count: 0, layers: 0 };
    sums.set(block.id, { id: block.id, device_ns: sum.device_ns + block.device_ns, gap_ns: sum.gap_ns + block.gap_ns, count: sum.count + block.count, layers: sum.layers + 1 });
  }
  const row = (block: BlockTotals, layers: number): BlockRow => {
    const roof = roofOf(trace.roofline?.blocks.find((one) => one.phase === of.phase && one.id === block.id));
    return {
      id: block.id, outside: layers === 0, device: block.device_ns / of.steps, gap: block.gap_ns / of.steps, share: block.device_ns / whole,
      ...(layers > 0 ? { aLayer: block.device_ns / of.steps / layers } : {}), ...(roof ? { roof } : {}),
    };
  };
  return [...[...sums.values()].map((sum) => row(sum, sum.layers)), ...of.outside.map((block) => row(block, 0))];
}
export function layerRows(of: PhaseLayers): LayerRow[] {
  return of.list.map((layer: LayerTotals) => ({
    index: layer.index, kind: layer.kind, device: layer.device_ns / of.steps, gap: layer.gap_ns / of.steps,
    blocks: new Map(layer.blocks.map((block) => [block.id, block.device_ns / of.steps])),
  }));
}
