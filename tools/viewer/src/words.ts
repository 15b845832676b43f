// Numbers and states in words.
import type { Model } from "./model";
import { Frame } from "./chunks";
import { Cause, State } from "./world";

export function duration(ns: number): string {
  const abs = Math.abs(ns);
  const [scale, unit] = abs < 1e3 ? [1, "ns"] : abs < 1e6 ? [1e3, "µs"] : abs < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  const x = ns / scale;
  const digits = unit === "ns" ? 0 : Math.abs(x) < 10 ? 2 : Math.abs(x) < 100 ? 1 : 0;
  return `${x.toFixed(digits)} ${unit}`;
}

// A point in time, as exactly as the view shows it.
export function moment(t: number, perPixel: number): string {
  const [unit, name] = Math.abs(t) >= 1e9 ? [1e9, "s"] : [1e6, "ms"];
  const digits = Math.min(9, Math.max(0, Math.ceil(Math.log10(unit / Math.max(perPixel, 0.1)))));
  return `${(t / unit).toFixed(unit === 1e6 ? Math.min(6, digits) : digits)} ${name}`;
}

export function share(part: number, all: number): string {
  const p = all > 0 ? (100 * part) / all : 0;
  return `${p > 0 && p < 0.1 ? "< 0.1" : p.toFixed(p < 99.95 && p >= 0.1 ? 1 : 0)} %`;
}

const kUnits: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, "": 1e6 };

// "1.5ms" → ns. No unit: milliseconds. NaN: not a duration.
export function parseDuration(text: string): number {
  const m = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*(ns|us|µs|μs|ms|s|)\s*$/.exec(text);
  return m ? Number(m[1]) * kUnits[m[2]] : NaN;
}

export function count(n: number): string {
  return n.toLocaleString("en");
}

export const kStateNames = ["runnable", "running", "waiting", "in a call", "evicted", "preempted", "not known"];

export function reasonName(m: Model, reason: number): string {
  return reason === 0 ? "" : m.reasons[reason] ?? `reason ${reason}`;
}

export function reasonOf(m: Model, span: number): string {
  const s = m.kind[span] & 15;
  return s === State.Waiting || s === State.Call ? reasonName(m, m.placeReason[m.arg[span]]) : "";
}

export function goroutineName(m: Model, g: number): string {
  const name = m.strings[m.name[g]];
  return `G ${m.id[g]}${name ? ` “${name}”` : ""}`;
}

// A function's label: without parameters and template arguments.
export function functionLabel(m: Model, f: number): string {
  return m.functions.label[f];
}

export function functionName(m: Model, g: number): string {
  return m.functions.name[m.fn[g]];
}

export function what(m: Model, span: number): string {
  const s = m.kind[span] & 15, reason = reasonOf(m, span);
  if (s === State.Evicted) return "evicted: runs without a P";
  if (s === State.Runnable) return "runnable: waits for a P";
  return kStateNames[s] + (reason ? `: ${reason}` : "");
}

// Why the goroutine came into this state.
export function why(m: Model, span: number): string {
  const s = m.kind[span] & 15;
  switch (m.kind[span] >> 4) {
    case Cause.Create: return "it was created";
    case Cause.Unblock: return "it was woken";
    case Cause.Run: return "it got a P";
    case Cause.Block: return `it blocked${reasonOf(m, span) ? `: ${reasonOf(m, span)}` : ""}`;
    case Cause.Yield: return "it yielded";
    case Cause.Preempt: return "its time was over";
    case Cause.Requeue: return "it came back and found no P";
    case Cause.CallBegin: return "it began a call";
    case Cause.CallEnd: return "its call was over";
    case Cause.Steal: return s === State.Call ? "its P was taken while it was in the call" : "its P was taken";
    case Cause.GotP: return "it got a P again";
    default: return s === State.Unknown ? "the trace has a gap" : "it was so when the generation began";
  }
}

export function whyEnded(m: Model, span: number): string {
  const g = m.g[span];
  if (span + 1 < m.first[g + 1]) return why(m, span + 1);
  return m.ended[g] >= 0 ? "the goroutine ended" : "the trace ends here";
}

export function framesOf(m: Model, place: number): Frame[] {
  return (m.placePcs[place] ?? []).filter((pc) => pc).flatMap((pc) => {
    const frames = m.symbols.get(pc);
    if (frames?.length) return frames;
    const mod = m.modules.find((x) => pc >= x.from && pc < x.to);
    const fn = mod ? `${mod.path}+0x${(pc - mod.bias).toString(16)}` : `0x${pc.toString(16)}`;
    return [{ fn, file: "", line: 0 }];
  });
}

export function threadOf(m: Model, span: number): number {
  return (m.where[span] >>> 16) - 1;
}

export function pOf(m: Model, span: number): number {
  return (m.where[span] & 0xffff) - 1;
}
