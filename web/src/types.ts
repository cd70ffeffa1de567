import type { AnalyzeJson } from "./analyze_json";

// What the server answers (src/serve/API.md). Times are ns on the run's clock.

export interface Window {
  from: number;
  to: number;
}

export interface At {
  rank: number;
  row: number;
  lane?: number;
  place?: number;
  from_ns: number;
  to_ns: number;
}
export interface Place extends At {
  lane: number;
  place: number;
  name: string;
}
export interface NamedPlace {
  name: string;
  at: At;
}

export type PaletteName = "work" | "phases" | "idle" | "exposure" | "host" | "blocks";
export type RowKind = "steps" | "busy" | "idle" | "communication" | "layer" | "block" | "stream" | "marks" | "thread" | "counter";
export type RowGroup = "computed" | "streams" | "launching" | "other";

export interface Row {
  kind: RowKind;
  owner: string;
  label: string;
  palette: PaletteName;
  lanes: number;
  slices: number;
  lacks?: string;
  group: RowGroup;
}
export interface Note {
  id: string;
  severity: "info" | "notice" | "data-loss";
  text: string;
}
export interface Rank {
  path: string;
  label: string;
  state: "waiting" | "reading" | "read" | "failed";
  why?: string;
  span?: { from_ns: number; to_ns: number };
  offset_ns?: number;
  names: number;
  slices: number;
  no_idle_time?: string; // why it cannot be told; also where one of the next two is
  no_device_time?: string;
  no_figures?: string; // whose work it is
  busy_is_least?: true; // a lower bound
  incomplete?: true;
  notes?: Note[];
  rows: Row[];
}
export interface Step {
  rank: number;
  number: number;
  phase: string;
  from_ns: number;
  to_ns: number; // the host has ended
  until_ns: number; // the next step starts
  context_tokens?: number;
  generation_tokens?: number;
  requests?: number;
}
export interface Gap {
  rank: number;
  device: string;
  from_ns: number;
  to_ns: number;
  cause: string;
}
export interface GapInside extends Gap {
  inside_ns: number; // its part in the window that was asked about
}
export interface Progress {
  traces: number;
  read: number;
  failed?: number;
  stored_bytes: number;
  read_bytes: number;
}
// How far the clock of a rank is ahead.
export interface Residual {
  rank: number;
  against: number;
  ns: number;
  spread_ns: number;
  collectives: number;
}
export interface Meta {
  tacho: { version: string };
  title: string;
  clock: { shared: boolean; residuals?: Residual[]; communication_kernels?: { count: number; unmatched: number } };
  span: { from_ns: number; to_ns: number };
  read: Progress;
  palettes: Record<PaletteName, { name: string; color: number }[]>;
  categories?: Record<string, number>;
  blocks: Record<string, number>; // the colour of each
  ranks: Rank[];
  steps: Step[];
  gaps: Gap[];
  start?: { from_ns?: number; to_ns?: number; rank?: number; row?: number; q?: string; lacks?: string };
}

export interface Answer {
  id: string;
  question: string;
  sentence?: string;
  figure?: string;
  of?: string;
  cannot_tell?: string;
  share?: number;
  at?: { rank: number; from_ns: number; to_ns: number };
}
export interface Total {
  id: string;
  ns: number;
  count: number;
}
// What the verdict counts: compute, exposed communication, exposed copies and idle time add up to the window.
export interface RunTotals {
  devices: number;
  window_ns: number;
  busy_ns: number;
  idle_ns?: number; // absent, as the next two, where work is missing
  compute_ns: number;
  exposed_comm_ns?: number;
  exposed_copy_ns?: number;
  causes: Total[];
  work: Total[];
}
export interface Summary {
  verdict: string;
  totals: RunTotals;
  brief?: string;
  caveat?: string;
  trust: string[];
  answers: Answer[];
  next?: string[];
}

export interface NameRow {
  name: string;
  short_name?: string;
  kind: string; // "others": the row sums up what the server does not list
  palette: PaletteName;
  color: number;
  count: number;
  total_ns: number;
  longest_ns: number;
  longest_at?: At;
}
export interface IdleRow {
  rank: number;
  device: string;
  cause: string;
  total_ns: number;
  count: number;
}
export interface Selection {
  from_ns: number;
  to_ns: number;
  names: NameRow[];
  others: { palette: PaletteName; names: number; count: number; total_ns: number; longest_ns: number }[];
  colors: { palette: PaletteName; color: number; total_ns: number }[];
  steps: number;
  idle: IdleRow[];
}

export interface Slice extends Place {
  kind: string;
  category?: string;
  short_name?: string;
  annotation?: string;
  self_ns?: number;
  args?: { key: string; value: string }[];
  cut?: boolean;
  stack?: NamedPlace[];
  launch?: NamedPlace & { delay_ns?: number };
  launched?: NamedPlace[];
  launched_count?: number;
  collective?: { ranks: number; last_start_rank: number; wait_ns: number; at: At[] };
  in_block?: NamedPlace & { layer?: number };
  layers?: InLayers;
  step?: { number: number; phase: string; at: At };
}
// A layer or a block in one step, beside the mean of the steps of its phase.
export interface InLayers {
  layer?: number; // absent outside of layers
  layer_kind?: string;
  block?: string; // absent for a whole layer
  count: number;
  device_ns: number;
  gap_ns: number;
  phase: string;
  steps: number;
  mean_device_ns: number;
  mean_gap_ns: number;
}
// In words, of one rank.
export interface Room {
  kind: string; // "fuse", "overlap"
  phase: string;
  what: string;
  layers: number;
  most_ns: number; // of a step
  gap_ns: number; // of `fuse` alone
  share: number;
}
export interface ModelWords {
  no_layers?: string;
  phases: { phase: string; layers: string }[];
  speculation?: string;
  room: Room[];
  roofline?: string;
  no_roofline?: string; // also what is missing in it
}

// [name, color, parent, count, total_ns, self_ns]
export type FlameRow = [string, number, number, number, number, number];

export interface Found {
  total: number;
  names: { name: string; count: number; at: At }[];
}
export interface Mark {
  from_ns: number;
  to_ns: number;
  note: string;
}

// What the page reads of `tacho analyze --json` (docs/json.md). AnalyzeJson has all that is printed: tsc refuses a type here that
// it does not fit.
type Fitting<Whole extends Part, Part> = Whole;
export type PrintedAnalysis = Fitting<AnalyzeJson, Analysis>;
export interface Analysis {
  verdict: { text: string; caveat?: string; busy_share?: number; idle_cause?: string; straggler?: { path: string } };
  traces: TraceAnalysis[];
  ranks?: { table: RankTotals[]; slowest?: number; warnings: string[]; missing: number[] };
  skipped: string[];
  requests?: { tied_share?: number; list: RequestTotals[] };
}
export type RequestParts = Partial<Record<string, number>>; // ns by part
export interface RequestTotals {
  id: string;
  worker?: string;
  scenario?: string;
  prompt_tokens?: number;
  tokens: number;
  ttft_ns?: number;
  e2e_ns: number;
  parts: RequestParts;
}
// One request in full. Steps are counted from 1.
export interface RequestChunk {
  at_ns: number;
  tokens: number; // up to and with it
  step?: number; // its last token was made by a step between these two
  step_at_most?: number;
  gap_ns: number;
  parts: RequestParts;
}
export interface RequestDetail {
  list: number;
  id: string;
  rank?: number; // whose steps these are
  lacks?: string;
  due_ns?: number;
  sent_ns?: number;
  reads_known?: boolean;
  reads?: number[];
  chunks_count?: number;
  chunks?: RequestChunk[];
}
export interface RequestInStep {
  list: number;
  id: string;
  role: "reads" | "reads-and-makes" | "makes";
}
export interface DeviceTotals {
  device: string;
  on_host?: boolean;
  window_start_ns: number;
  window_ns: number;
  busy_ns: number;
  idle_ns?: number; // absent, as the next two, where work is missing
  compute_ns: number;
  exposed_comm_ns?: number;
  exposed_copy_ns?: number;
  kernel_sum_ns: number;
}
export interface TraceAnalysis {
  path: string;
  engine?: string;
  identity?: { name: string };
  notes: (Note & { count: number; remedy: string })[];
  facts: { role: string; cannot_tell: string[]; devices: { id: string; name?: string }[] };
  devices: DeviceTotals[];
  kernels: {
    name: string; short_name: string; category: string; device: string; count: number; total_ns: number;
    min_ns: number; max_ns: number; p50_ns: number; p99_ns: number;
  }[];
  categories: { category: string; count: number; total_ns: number }[];
  copies: { kind: string; count: number; total_ns: number }[];
  memsets: { count: number; total_ns: number }[];
  ops: {
    name: string; count: number; cpu_total_ns: number; cpu_self_ns: number; device_total_ns: number; device_self_ns: number;
  }[];
  layers?: { phases: PhaseLayers[] };
  roofline?: { phases: (Roof & { phase: string })[]; blocks: (Roof & { phase: string; id: string })[] };
  memory?: { damaged?: number; devices: DeviceMemory[] };
  steps?: { count: number; by_phase: Record<string, number>; list: StepTotals[] };
  idle?: { window_ns: number; busy_ns: number; causes: { id: string; ns: number; count: number }[]; gaps: GapTotals[] };
}
// Times are sums over the steps.
export interface BlockTotals {
  id: string;
  device_ns: number;
  gap_ns: number;
  count: number;
}
export interface LayerTotals {
  index: number;
  kind: string;
  device_ns: number;
  gap_ns: number;
  blocks: BlockTotals[];
}
export interface PhaseLayers {
  phase: string;
  steps: number;
  list: LayerTotals[];
  outside: BlockTotals[];
}
export interface Roof {
  steps: number;
  ns: number;
  roof_ns: number;
  flops: number;
  bytes: number;
  mfu: number;
  mbu: number;
}
// Of recordings with profile_memory; what is not told is absent.
export interface DeviceMemory {
  device: string;
  allocations: number;
  frees: number;
  start_allocated_bytes?: number;
  end_allocated_bytes?: number;
  peak?: {
    at_ns: number; allocated_bytes: number; reserved_bytes?: number;
    before_bytes?: number; untold_bytes?: number; operators?: { name?: string; inside?: string; blocks: number; bytes: number }[];
  };
  reserved_peak?: { at_ns: number; bytes: number };
  growth?: { end_bytes: number; most_bytes: number; most_at_ns: number };
  series?: { start_ns: number; step_ns: number; allocated_bytes?: number[]; reserved_bytes?: number[]; grown_bytes?: number[] };
}
export interface StepTotals {
  phase: string;
  start_ns: number;
  dur_ns: number;
  device_busy_ns?: number;
  context_tokens?: number;
  generation_tokens?: number;
}
export interface GapTotals {
  device: string;
  start_ns: number;
  dur_ns: number;
  cause: string;
  before?: string;
  after?: string;
  host?: string;
}
export interface RankTotals {
  rank?: number;
  path: string;
  identity?: { name: string };
  window_ns?: number; // absent, as all times, of a rank without times of a device
  busy_ns?: number;
  idle_ns?: number; // absent, as the exposed times, where work is missing
  compute_ns?: number;
  exposed_comm_ns?: number;
  exposed_copy_ns?: number;
  comm_busy_ns?: number;
  kernel_sum_ns?: number;
  steps: number;
}
