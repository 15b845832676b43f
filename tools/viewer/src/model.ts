// A trace as the page shows it: typed arrays, spans sorted by goroutine, and for every P and
// thread the spans that it carried. Made in the worker, handed to the page as it is.
import { Damaged } from "./bytes";
import { Begin } from "./begin";
import { Frame, Generation, Module, TraceFile, completeness, readFile } from "./chunks";
import { Levels, buildLevels } from "./levels";
import { labelFunctions } from "./names";
import { Order } from "./order";
import { scanGeneration } from "./scan";
import { Functions, functionsOf, renumber, Stats, statistics } from "./stats";
import { User } from "./user";
import { Cause, Intervals, State, World, kAlive } from "./world";

export interface IntervalArrays {
  start: Float64Array; end: Float64Array; who: Uint32Array; name: Uint32Array; depth: Uint32Array;
}

export interface Model {
  notes: string[];
  gaps: { from: number; to: number; why: string }[];
  duration: number;  // ns
  wall: number;      // ms since 1970 at time 0
  pid: number;
  events: number;
  // Spans; those of goroutine g are first[g] … first[g + 1] − 1, in order of time.
  n: number;
  start: Float64Array;
  g: Uint32Array;
  where: Uint32Array;
  arg: Uint32Array;
  kind: Uint8Array;
  first: Uint32Array;
  // Goroutines
  goroutines: number;
  id: Float64Array;
  parent: Float64Array;
  fn: Uint32Array;  // function number
  fnPlace: Uint32Array;
  site: Uint32Array;
  name: Uint32Array;
  created: Float64Array;
  ended: Float64Array;
  waited: Float64Array;
  functions: Functions;
  // Ps and threads: row r has spans index[first[r]] … index[first[r + 1] − 1].
  ps: number;
  pFirst: Uint32Array;
  pIndex: Uint32Array;
  threadNumber: number[];
  threadKernel: number[];
  tFirst: Uint32Array;
  tIndex: Uint32Array;
  // Names
  placeReason: number[];
  placePcs: number[][];
  symbols: Map<number, Frame[]>;
  modules: Module[];
  reasons: string[];
  strings: string[];
  // The program's own
  regions: IntervalArrays;
  regionFirst: Uint32Array;  // by goroutine
  tasks: IntervalArrays;
  taskId: number[];
  taskParent: number[];
  taskG: number[];  // goroutine that began it, −1: none or not known
  stops: IntervalArrays;
  logs: { time: Float64Array; g: Uint32Array; task: Float64Array; name: Uint32Array; text: Uint32Array };
  steals: { time: Float64Array; p: Uint32Array; from: Uint32Array; by: Uint32Array };
  stats: Stats;
  levels: Levels;
}

export type Progress = (what: string, part: number) => void;

export function readTrace(bytes: Uint8Array, progress: Progress = () => {}): Model {
  progress("checking", 0);
  const file = readFile(bytes);
  const world = new World();
  const gaps: Model["gaps"] = [];
  const read = readGenerations(file, world, gaps, progress);
  if (!read) throw new Damaged(refusal(file));
  progress("sorting", 0.6);
  return build(file, world, gaps, read);
}

function refusal(file: TraceFile): string {
  if (file.notes.length) return file.notes[0];
  if (!file.generations.length) return "The trace has no events.";
  const why = file.generations.map((g) => `generation ${g.number}: ${g.trouble}`).slice(0, 3);
  return `Nothing in this trace can be shown. ${why.join("; ")}.`;
}

interface Read { first: Generation; end: number; gapsOf: string[] }

function readGenerations(file: TraceFile, world: World, gaps: Model["gaps"],
                         progress: Progress): Read | null {
  const user = new User(world), begin = new Begin(world, user);
  const gens = file.generations;
  let first: Generation | null = null, previous = 0, events = 0;
  for (const g of gens) {
    for (const chunks of g.threads.values()) {
      for (const c of chunks) events += Math.min(c.events, (c.to - c.from) >> 1);
    }
  }
  world.spans.reserve(events * 2);
  for (let i = 0; i < gens.length; i++) {
    const g = gens[i];
    if (g.number === 0) continue;
    const partial = file.unfinished && i === gens.length - 1 && !g.end;
    g.trouble = completeness(g, partial);
    progress("ordering", (0.6 * i) / gens.length);
    if (!g.trouble) {
      const mark = new Mark(world);
      try {
        if (first && previous !== g.number - 1) forget(world, world.now);
        readGeneration(file, world, begin, g, first ?? g, partial);
        first ??= g;
        previous = g.number;
        continue;
      } catch (e) {
        if (!(e instanceof Damaged)) throw e;
        g.trouble = e.message;
        mark.restore(world);
      }
    }
    noteGap(gaps, file, g, first);
  }
  if (!first) return null;
  user.finish(world.now);
  return { first, end: world.now, gapsOf: [] };
}

const since = (a: bigint, b: bigint) => Number(a - b);

function noteGap(gaps: Model["gaps"], file: TraceFile, g: Generation, first: Generation | null): void {
  file.notes.push(`Generation ${g.number} is left out: ${g.trouble}.`);
  if (!first || !g.begin) return;
  const from = since(g.begin.mono, first.begin!.mono);
  const to = g.end ? since(g.end.mono, first.begin!.mono) : from;
  if (to > from) gaps.push({ from, to, why: g.trouble });
}

function readGeneration(file: TraceFile, world: World, begin: Begin, g: Generation,
                        first: Generation, partial: boolean): void {
  const b = g.begin!, base = since(b.mono, first.begin!.mono);
  let scale = 1e9 / b.perSecond;
  if (g.end && g.end.ticks > b.ticks) {
    scale = since(g.end.mono, b.mono) / since(g.end.ticks, b.ticks);
  }
  if (!(scale > 0 && scale <= 1e9 && base >= 0)) throw new Damaged("its clock makes no sense");
  if (b.ps > 65533) throw new Damaged(`it has ${b.ps} Ps`);
  world.ps = Math.max(world.ps, b.ps);
  const scan = scanGeneration(file.bytes, g, world);
  const now = Math.max(world.now, base);
  begin.prepare(scan, file.bytes, g.listings, g.number, now);
  world.now = now;
  new Order(world, file.bytes, g, scan, begin, base, scale).run(partial);
  if (g.end) world.now = Math.max(world.now, base + since(g.end.ticks, b.ticks) * scale);
}

// After a gap nothing is known about anybody until the next generation says it.
function forget(world: World, now: number): void {
  world.spans.reserve(world.g.n);
  for (let g = 0; g < world.g.n; g++) {
    if (world.g.last[g] && world.g.state[g] !== State.Dead) {
      world.span(g, now, State.Unknown, Cause.Listed, 0, 0);
    }
  }
}

// To go back to, if a generation turns out to be damaged half-way.
class Mark {
  private spans: number;
  private now: number;
  private events: number;
  constructor(world: World) {
    this.spans = world.spans.n;
    this.now = world.now;
    this.events = world.events;
  }
  restore(w: World): void {
    w.spans.n = this.spans;
    w.now = this.now;
    w.events = this.events;
    w.g.last.fill(0);
    for (let i = 0; i < this.spans; i++) w.g.last[w.spans.g[i]] = i + 1;
    for (let g = 0; g < w.g.n; g++) {
      if (w.g.created[g] > this.now) w.g.created[g] = NaN;
      if (w.g.ended[g] >= this.now) w.g.ended[g] = kAlive;
      if (w.g.ended[g] === kAlive) {
        w.g.state[g] = w.g.last[g] ? w.spans.kind[w.g.last[g] - 1] & 15 : State.Unknown;
      }
    }
  }
}

function arrays(i: Intervals): IntervalArrays {
  return { start: i.start.done(), end: i.end.done(), who: i.who.done(), name: i.name.done(), depth: i.depth.done() };
}

function build(file: TraceFile, w: World, gaps: Model["gaps"], read: Read): Model {
  const goroutines = w.g.n, n = w.spans.n, first = new Uint32Array(goroutines + 1);
  for (let i = 0; i < n; i++) first[w.spans.g[i] + 1]++;
  for (let g = 0; g < goroutines; g++) first[g + 1] += first[g];
  const rank = new Uint32Array(n), next = first.slice(0, goroutines);
  for (let i = 0; i < n; i++) rank[i] = next[w.spans.g[i]]++;
  const threads = w.threadNumber.length;
  const rows = carried(w, rank, threads);
  const sorted = sortSpans(w, rank, first);
  const regions = arrays(w.regions), byG = sortRegions(regions, goroutines);
  const { functions, fn } = functionsOf(w, file);
  const model: Model = {
    notes: file.notes, gaps, duration: Math.max(read.end, 1), events: w.events,
    wall: Number(read.first.begin!.wall / 1000000n), pid: read.first.begin!.pid,
    n, ...sorted, first, goroutines,
    id: w.g.id.slice(0, goroutines), parent: w.g.parent.slice(0, goroutines), fn,
    fnPlace: w.g.fn.slice(0, goroutines), site: w.g.site.slice(0, goroutines),
    name: w.g.name.slice(0, goroutines), created: w.g.created.slice(0, goroutines),
    ended: w.g.ended.slice(0, goroutines), waited: w.g.waited.slice(0, goroutines), functions,
    ps: w.ps, ...rows,
    threadNumber: w.threadNumber, threadKernel: w.threadKernel,
    placeReason: w.places.reason, placePcs: w.places.pcs, symbols: file.symbols,
    modules: file.modules, reasons: file.reasons, strings: w.strings.all,
    regions: byG.regions, regionFirst: byG.first, tasks: arrays(w.tasks), taskId: w.taskId,
    taskParent: w.taskParent, taskG: w.taskG, stops: arrays(w.stops),
    logs: { time: w.logs.time.done(), g: w.logs.g.done(), task: w.logs.task.done(),
      name: w.logs.name.done(), text: w.logs.text.done() },
    steals: { time: w.steals.time.done(), p: w.steals.p.done(), from: w.steals.from.done(),
      by: w.steals.by.done() },
    stats: null as unknown as Stats, levels: null as unknown as Levels,
  };
  model.stats = statistics(model);
  renumber(model);
  labelFunctions(model);
  model.levels = buildLevels(model);
  return model;
}

// The spans that each P and each thread carried, in order of time.
function carried(w: World, rank: Uint32Array, threads: number) {
  const { n, kind, where } = w.spans;
  const pFirst = new Uint32Array(w.ps + 1), tFirst = new Uint32Array(threads + 1);
  for (let i = 0; i < n; i++) {
    const s = kind[i] & 15;
    if (s !== State.Running && s !== State.Call && s !== State.Evicted) continue;
    const p = where[i] & 0xffff, t = where[i] >>> 16;
    if (p && s !== State.Evicted) pFirst[p]++;
    if (t) tFirst[t]++;
  }
  for (let p = 0; p < w.ps; p++) pFirst[p + 1] += pFirst[p];
  for (let t = 0; t < threads; t++) tFirst[t + 1] += tFirst[t];
  const pIndex = new Uint32Array(pFirst[w.ps]), tIndex = new Uint32Array(tFirst[threads]);
  const pNext = pFirst.slice(), tNext = tFirst.slice();
  for (let i = 0; i < n; i++) {
    const s = kind[i] & 15;
    if (s !== State.Running && s !== State.Call && s !== State.Evicted) continue;
    const p = where[i] & 0xffff, t = where[i] >>> 16;
    if (p && s !== State.Evicted) pIndex[pNext[p - 1]++] = rank[i];
    if (t) tIndex[tNext[t - 1]++] = rank[i];
  }
  return { pFirst, pIndex, tFirst, tIndex };
}

// One array at a time, so that little is held twice.
function sortSpans(w: World, rank: Uint32Array, first: Uint32Array) {
  const s = w.spans, n = s.n;
  const start = new Float64Array(n);
  for (let i = 0; i < n; i++) start[rank[i]] = s.start[i];
  s.start = new Float64Array(0);
  const arg = new Uint32Array(n), kind = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const k = s.kind[i], a = s.arg[i], to = rank[i];
    kind[to] = k;
    arg[to] = (k & 15) === State.Runnable && a ? rank[a - 1] + 1 : a;
  }
  s.arg = new Uint32Array(0);
  s.kind = new Uint8Array(0);
  const where = new Uint32Array(n);
  for (let i = 0; i < n; i++) where[rank[i]] = s.where[i];
  s.where = new Uint32Array(0);
  s.g = new Uint32Array(0);
  const g = new Uint32Array(n);
  for (let k = 0; k + 1 < first.length; k++) g.fill(k, first[k], first[k + 1]);
  return { start, g, where, arg, kind };
}

function sortRegions(r: IntervalArrays, goroutines: number): { regions: IntervalArrays; first: Uint32Array } {
  const n = r.who.length, order = Uint32Array.from({ length: n }, (_, i) => i);
  order.sort((a, b) => r.who[a] - r.who[b] || r.start[a] - r.start[b] || r.depth[a] - r.depth[b]);
  const first = new Uint32Array(goroutines + 1);
  for (let i = 0; i < n; i++) first[r.who[i] + 1]++;
  for (let g = 0; g < goroutines; g++) first[g + 1] += first[g];
  const pick = <T extends Float64Array | Uint32Array>(a: T): T => a.map((_, i) => a[order[i]]) as T;
  return {
    regions: { start: pick(r.start), end: pick(r.end), who: pick(r.who), name: pick(r.name), depth: pick(r.depth) },
    first,
  };
}

// When a span ends: where the next one of its goroutine begins.
export function spanEnd(m: Model, i: number): number {
  const g = m.g[i];
  if (i + 1 < m.first[g + 1]) return m.start[i + 1];
  return m.ended[g] === kAlive ? m.duration : m.ended[g];
}
