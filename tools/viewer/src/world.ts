// What is known while a trace is read: goroutines, threads, places, and the spans made so far.
// A span is a stretch of time that a goroutine spends in one state; it ends where the next one of
// the same goroutine begins.
//
// Who    scan.ts adds goroutines and names, order.ts adds spans, model.ts takes all of it.
// Law    spans are appended in order of time.
import { Damaged } from "./bytes";
import { GrowF64, GrowU32, IdTable } from "./grow";

export const enum State { Runnable, Running, Waiting, Call, Evicted, Preempted, Unknown, Dead }
export const kStates = 7;  // those that a span may have

// How a goroutine came into the state of a span.
export const enum Cause {
  Listed, Create, Unblock, Run, Block, Yield, Preempt, Requeue, CallBegin, CallEnd, Steal, GotP,
}

export const kAlive = -1;

export class Places {
  private index = new Map<string, number>();
  reason: number[] = [];
  pcs: number[][] = [];
  constructor() {
    this.add(0, []);  // place 0: not known
  }
  add(reason: number, pcs: number[]): number {
    const key = reason + ":" + pcs.join();
    let i = this.index.get(key);
    if (i === undefined) {
      i = this.reason.length;
      this.index.set(key, i);
      this.reason.push(reason);
      this.pcs.push(pcs);
    }
    return i;
  }
}

export class Strings {
  private index = new Map<string, number>([["", 0]]);
  all: string[] = [""];
  add(s: string): number {
    let i = this.index.get(s);
    if (i === undefined) {
      i = this.all.length;
      this.index.set(s, i);
      this.all.push(s);
    }
    return i;
  }
}

// Goroutines by index. Arrays grow together.
export class Goroutines {
  ids = new IdTable();
  id = new Float64Array(0);
  parent = new Float64Array(0);
  fn = new Uint32Array(0);       // place
  site = new Uint32Array(0);     // place where it was created
  name = new Uint32Array(0);     // string
  created = new Float64Array(0); // ns, or NaN: before the trace
  ended = new Float64Array(0);   // ns, or kAlive
  waited = new Float64Array(0);  // ns that it had waited already when the trace began
  state = new Uint8Array(0);
  seq = new Uint32Array(0);
  last = new Uint32Array(0);     // its newest span + 1
  seen = new Uint32Array(0);     // generation in which it has events or a listing

  get n(): number {
    return this.ids.n;
  }

  add(id: number): number {
    const i = this.ids.add(id);
    if (i >= this.id.length) this.grow(Math.max(1024, i * 2));
    if (this.id[i] === 0) {
      this.id[i] = id;
      this.created[i] = NaN;
      this.ended[i] = kAlive;
      this.state[i] = State.Unknown;
    }
    return i;
  }

  private grow(n: number): void {
    const f64 = (a: Float64Array) => { const b = new Float64Array(n); b.set(a); return b; };
    const u32 = (a: Uint32Array) => { const b = new Uint32Array(n); b.set(a); return b; };
    this.id = f64(this.id);
    this.parent = f64(this.parent);
    this.created = f64(this.created);
    this.ended = f64(this.ended);
    this.waited = f64(this.waited);
    this.fn = u32(this.fn);
    this.site = u32(this.site);
    this.name = u32(this.name);
    this.seq = u32(this.seq);
    this.last = u32(this.last);
    this.seen = u32(this.seen);
    const state = new Uint8Array(n);
    state.set(this.state);
    this.state = state;
  }
}

export const kMaxThreads = 65534;

export class Spans {
  n = 0;
  start = new Float64Array(0);
  g = new Uint32Array(0);
  where = new Uint32Array(0);  // (thread index + 1) << 16 | P + 1
  arg = new Uint32Array(0);    // runnable: the waker's span + 1; otherwise a place
  kind = new Uint8Array(0);    // state | cause << 4

  // Room for n more. Pages that stay unused cost nothing.
  reserve(more: number): void {
    const n = this.n + more;
    if (n <= this.g.length) return;
    const grow = <T extends Float64Array | Uint32Array | Uint8Array>(a: T, b: T): T => {
      b.set(a.subarray(0, this.n));
      return b;
    };
    this.start = grow(this.start, new Float64Array(n));
    this.g = grow(this.g, new Uint32Array(n));
    this.where = grow(this.where, new Uint32Array(n));
    this.arg = grow(this.arg, new Uint32Array(n));
    this.kind = grow(this.kind, new Uint8Array(n));
  }
}

export interface Intervals { start: GrowF64; end: GrowF64; who: GrowU32; name: GrowU32; depth: GrowU32 }
const intervals = (): Intervals => ({
  start: new GrowF64(), end: new GrowF64(), who: new GrowU32(), name: new GrowU32(),
  depth: new GrowU32(),
});

export class World {
  g = new Goroutines();
  spans = new Spans();
  places = new Places();
  strings = new Strings();
  threadIndex = new Map<number, number>();
  threadNumber: number[] = [];
  threadKernel: number[] = [];
  ps = 0;
  regions = intervals();  // who: goroutine
  tasks = intervals();    // who: position in taskId
  taskId: number[] = [];
  taskParent: number[] = [];
  taskG: number[] = [];
  stops = intervals();    // who: thread
  logs = { time: new GrowF64(), g: new GrowU32(), task: new GrowF64(), name: new GrowU32(), text: new GrowU32() };
  steals = { time: new GrowF64(), p: new GrowU32(), from: new GrowU32(), by: new GrowU32() };
  events = 0;
  now = 0;  // ns since the first begin; never goes back

  thread(number: number): number {
    let i = this.threadIndex.get(number);
    if (i === undefined) {
      i = this.threadNumber.length;
      if (i > kMaxThreads) throw new Damaged("there are more than 65,534 threads");
      this.threadIndex.set(number, i);
      this.threadNumber.push(number);
      this.threadKernel.push(0);
    }
    return i;
  }

  span(g: number, t: number, state: State, cause: Cause, where: number, arg: number): void {
    const s = this.spans, i = s.n++;
    s.start[i] = t;
    s.g[i] = g;
    s.where[i] = where;
    s.arg[i] = arg;
    s.kind[i] = state | (cause << 4);
    this.g.state[g] = state;
    this.g.last[g] = i + 1;
  }
}
