// Figures as text, as the terminal's screens show them: three significant digits, times in ns, us, ms or s.

export type Unit = "ns" | "us" | "ms" | "s";
const kNsOf: Record<Unit, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

function withCommas(integer: string): string {
  return integer.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function count(value: number): string {
  return withCommas(String(Math.round(value)));
}

// Three significant digits, two of what is below 0.01, never an exponent: 63.6, 0.138, 3,182, 0.0015.
export function figure(value: number): string {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))));
  const text = value.toFixed(Math.max(0, magnitude < -2 ? Math.min(9, 1 - magnitude) : 2 - magnitude));
  const dot = text.indexOf(".");
  return dot < 0 ? withCommas(text) : withCommas(text.slice(0, dot)) + text.slice(dot);
}

// The unit that a column of times is written in, by its largest.
export function unitOf(largestNs: number): Unit {
  const ns = Math.abs(largestNs);
  return ns >= 1e10 ? "s" : ns >= 1e7 ? "ms" : ns >= 1e3 ? "us" : "ns";
}

export function inUnit(ns: number, unit: Unit): string {
  return unit === "ns" ? count(ns) : figure(ns / kNsOf[unit]);
}

// In a column of microseconds: what is 10 s and longer says its own unit, "3,600 s".
export function inMicroseconds(ns: number): string {
  return Math.abs(ns) >= 1e10 ? duration(ns) : inUnit(ns, "us");
}

// A length of time with its unit: 84.5 ms.
export function duration(ns: number): string {
  const size = Math.abs(ns);
  const unit: Unit = size >= 999.5e6 ? "s" : size >= 999.5e3 ? "ms" : size >= 999.5 ? "us" : "ns";
  return `${inUnit(ns, unit)} ${unit}`;
}

// A share of 0..1: 87.3 %, with "<0.1" for what is there but hardly.
export function percent(share: number): string {
  return `${percentFigure(share)} %`;
}
export function percentFigure(share: number): string {
  const hundredths = share * 100;
  if (hundredths > 0 && hundredths < 0.05) return "<0.1";
  if (hundredths > 99.95 && hundredths < 100) return ">99.9";
  return hundredths.toFixed(1);
}

export function bytes(value: number): string {
  const unit = value >= 1e9 ? "GB" : value >= 1e6 ? "MB" : value >= 1e3 ? "kB" : "bytes";
  return `${figure(value / { GB: 1e9, MB: 1e6, kB: 1e3, bytes: 1 }[unit])} ${unit}`;
}

// Marks of a time axis: at multiples of 1, 2 or 5 times a power of ten, `least` apart or more.
export interface Tick {
  at: number;
  text: string;
}
export function stepOfTicks(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const factor of [1, 2, 5]) if (power * factor >= least) return power * factor;
  return power * 10;
}
// `from` and `to` in ns; `least`: ns between two of them at least.
export function ticks(from: number, to: number, least: number): Tick[] {
  const step = stepOfTicks(least);
  const found: Tick[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; ++i) found.push({ at: i * step, text: pointInTime(i * step, step) });
  return found;
}

// A point in time, with the digits that tell it from its neighbours `step` away: 26.2 ms, 1.000250 s.
export function pointInTime(ns: number, step: number): string {
  const size = Math.max(Math.abs(ns), step);
  const unit: Unit = size >= 1e9 ? "s" : size >= 1e6 ? "ms" : size >= 1e3 ? "us" : "ns";
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / kNsOf[unit]) + 1e-9)));
  const [whole = "0", rest] = (ns / kNsOf[unit]).toFixed(digits).split(".");
  return `${withCommas(whole)}${rest === undefined ? "" : `.${rest}`} ${unit}`;
}

// A name as short as `most` characters: its middle goes, as beginnings and ends tell names apart.
export function middleCut(name: string, most: number): string {
  if (name.length <= most) return name;
  if (most < 2) return "";
  const end = Math.floor((most - 1) / 2);
  return `${name.slice(0, most - 1 - end)}…${name.slice(name.length - end)}`;
}

// A kernel's name without return type, parameters and template arguments: what a small box has room for.
export function coreName(name: string): string {
  const python = /^(?:.*\/)?([^/]+)\(\d+\): (.+)$/.exec(name);
  if (python) return `${python[2]}  ${python[1]}`;
  let depth = 0;
  let kept = "";
  const plain = name.replace(/\(anonymous namespace\)::/g, "").replace(/^(?:void|bool|int|auto) /, "");
  for (const letter of plain) {
    if (letter === "<") ++depth;
    if (depth === 0) {
      if (letter === "(" && kept !== "") break;
      kept += letter;
    }
    if (letter === ">" && depth > 0) --depth;
  }
  const last = kept.trim().split("::").pop() ?? "";
  return depth !== 0 || last === "" || !/<|\(/.test(plain) ? plain : last;
}
