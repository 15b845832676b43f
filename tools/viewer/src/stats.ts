// Totals: by function and state, by reason, and histograms of latencies.
import { Frame, TraceFile } from "./chunks";
import type { Model } from "./model";
import { State, World, kAlive, kStates } from "./world";

export interface Functions { name: string[]; label: string[]; file: string[]; line: number[]; count: number[] }

export const kBuckets = 160;  // four to every power of two of nanoseconds

export function bucketOf(ns: number): number {
  if (ns < 4) return ns < 1 ? 0 : ns | 0;
  if (ns >= 4294967296) return Math.min(kBuckets - 1, bucketOf(ns / 1048576) + 80);
  const x = ns >>> 0, e = 31 - Math.clz32(x);
  return e * 4 + ((x >>> (e - 2)) & 3) - 4;
}

export function bucketStart(b: number): number {
  if (b < 4) return b;
  const e = (b + 4) >> 2;
  return 2 ** e * (1 + ((b + 4) & 3) / 4);
}

export interface Stats {
  reasons: number;             // row length of the tables by reason
  state: Float64Array;         // [function × kStates + state] ns
  reason: Float64Array;        // [function × reasons + reason] ns
  reasonCount: Float64Array;
  sched: Uint32Array;          // [function × kBuckets + bucket] scheduling latencies
  schedMax: Float64Array;      // by function
  schedCount: Float64Array;
  waits: Uint32Array;          // [reason × kBuckets + bucket] how long waits were
  waitMax: Float64Array;       // by reason
  lifetimes: number;           // ns, all goroutines
  worstReady: Worst;           // the longest times without a P
  worstWait: Worst[];          // by reason: the longest waits that ended within the trace
  busy: Float64Array;          // by P: ns in which it ran a goroutine
}

// The longest spans, the longest first.
export interface Worst { span: number[]; ns: number[] }
const kWorst = 5;

function rank(w: Worst, span: number, ns: number): void {
  let i = w.ns.length;
  if (i === kWorst && ns <= w.ns[i - 1]) return;
  while (i > 0 && w.ns[i - 1] < ns) i--;
  w.span.splice(i, 0, span);
  w.ns.splice(i, 0, ns);
  w.span.length = w.ns.length = Math.min(kWorst, w.ns.length);
}

export function nameOfPc(pc: number, symbols: Map<number, Frame[]>, modules: { path: string; from: number; to: number; bias: number }[]): string {
  const frames = symbols.get(pc);
  if (frames?.length && frames[frames.length - 1].fn) return frames[frames.length - 1].fn;
  const m = modules.find((x) => pc >= x.from && pc < x.to);
  if (m) return `${m.path.slice(m.path.lastIndexOf("/") + 1)}+0x${(pc - m.bias).toString(16)}`;
  return pc ? "0x" + pc.toString(16) : "(not known)";
}

// Goroutines by the function they were started with.
export function functionsOf(w: World, file: TraceFile): { functions: Functions; fn: Uint32Array } {
  const functions: Functions = { name: [], label: [], file: [], line: [], count: [] };
  const byName = new Map<string, number>(), byPlace = new Map<number, number>();
  const fn = new Uint32Array(w.g.n);
  for (let g = 0; g < w.g.n; g++) {
    const place = w.g.fn[g];
    let f = byPlace.get(place);
    if (f === undefined) {
      const pc = w.places.pcs[place][0] ?? 0;
      const name = nameOfPc(pc, file.symbols, file.modules);
      f = byName.get(name);
      if (f === undefined) {
        f = functions.name.length;
        byName.set(name, f);
        const frame = file.symbols.get(pc)?.at(-1);
        functions.name.push(name);
        functions.file.push(frame?.file ?? "");
        functions.line.push(frame?.line ?? 0);
        functions.count.push(0);
      }
      byPlace.set(place, f);
    }
    fn[g] = f;
    functions.count[f]++;
  }
  return { functions, fn };
}

export function statistics(m: Model): Stats {
  const fns = m.functions.name.length;
  let reasons = Math.max(m.reasons.length, 1);
  for (const r of m.placeReason) if (r < 4096) reasons = Math.max(reasons, r + 1);
  const s: Stats = {
    reasons, state: new Float64Array(fns * kStates), reason: new Float64Array(fns * reasons),
    reasonCount: new Float64Array(fns * reasons), sched: new Uint32Array(fns * kBuckets),
    schedMax: new Float64Array(fns), schedCount: new Float64Array(fns),
    waits: new Uint32Array(reasons * kBuckets), waitMax: new Float64Array(reasons), lifetimes: 0,
    worstReady: { span: [], ns: [] }, worstWait: Array.from({ length: reasons }, () => ({ span: [], ns: [] })),
    busy: new Float64Array(m.ps),
  };
  for (let g = 0; g < m.goroutines; g++) addGoroutine(m, s, g);
  return s;
}

// Numbers the functions anew, those that ran longest first.
export function renumber(m: Model): void {
  const f = m.functions, s = m.stats, running = (i: number) => s.state[i * kStates + State.Running];
  const order = Uint32Array.from(f.name.keys()).sort((a, b) => running(b) - running(a)), at = new Uint32Array(order.length);
  order.forEach((old, i) => (at[old] = i));
  const pick = <T>(a: T[]): T[] => Array.from(order, (old) => a[old]);
  m.functions = { name: pick(f.name), label: pick(f.label), file: pick(f.file), line: pick(f.line), count: pick(f.count) };
  for (let g = 0; g < m.goroutines; g++) m.fn[g] = at[m.fn[g]];
  // Tables with so many columns for each function.
  const rows = <T extends Float64Array | Uint32Array>(a: T, columns: number): T =>
    a.map((_, i) => a[order[Math.floor(i / columns)] * columns + (i % columns)]) as T;
  s.state = rows(s.state, kStates);
  s.reason = rows(s.reason, s.reasons);
  s.reasonCount = rows(s.reasonCount, s.reasons);
  s.sched = rows(s.sched, kBuckets);
  s.schedMax = rows(s.schedMax, 1);
  s.schedCount = rows(s.schedCount, 1);
}

function addGoroutine(m: Model, s: Stats, g: number): void {
  const { start, kind, arg, where, placeReason } = m, f = m.fn[g];
  const to = m.first[g + 1], end = m.ended[g] === kAlive ? m.duration : m.ended[g];
  for (let i = m.first[g]; i < to; i++) {
    const next = i + 1 < to ? start[i + 1] : end, ns = next - start[i];
    const state = kind[i] & 15;
    s.state[f * kStates + state] += ns;
    s.lifetimes += ns;
    if (state === State.Running) {
      s.busy[(where[i] & 0xffff) - 1] += ns;
    } else if (state === State.Runnable) {
      s.schedCount[f]++;
      s.sched[f * kBuckets + bucketOf(ns)]++;
      if (ns > s.schedMax[f]) s.schedMax[f] = ns;
      if (i + 1 < to) rank(s.worstReady, i, ns);
    } else if (state === State.Waiting) {
      const r = placeReason[arg[i]];
      if (r >= s.reasons) continue;
      s.reason[f * s.reasons + r] += ns;
      s.reasonCount[f * s.reasons + r]++;
      s.waits[r * kBuckets + bucketOf(ns)]++;
      if (ns > s.waitMax[r]) s.waitMax[r] = ns;
      if (i + 1 < to) rank(s.worstWait[r], i, ns);
    }
  }
}
