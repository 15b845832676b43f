// How much goes on at a time: goroutines that run, that wait for a P, tasks that are open. Over
// the whole trace in buckets; for a function in a narrow view, exactly.
import { kGroupBuckets } from "./levels";
import { Model, spanEnd } from "./model";
import { State } from "./world";

export class Load {
  readonly running = new Float32Array(kGroupBuckets);
  readonly ready = new Float32Array(kGroupBuckets);
  readonly tasks = new Float32Array(kGroupBuckets);
  readonly most: { running: number; ready: number; tasks: number };

  constructor(m: Model) {
    const l = m.levels;
    for (let i = 0; i < l.group.length; i++) {
      this.running[i % kGroupBuckets] += l.group[i];
      this.ready[i % kGroupBuckets] += l.groupReady[i];
    }
    const width = m.duration / kGroupBuckets, step = new Float32Array(kGroupBuckets + 1);
    for (let i = 0; i < m.tasks.start.length; i++) {
      step[Math.min(kGroupBuckets - 1, Math.floor(m.tasks.start[i] / width))]++;
      step[Math.min(kGroupBuckets, Math.floor(m.tasks.end[i] / width) + 1)]--;
    }
    let open = 0;
    for (let b = 0; b < kGroupBuckets; b++) this.tasks[b] = open += step[b];
    const max = (a: Float32Array) => a.reduce((x, y) => Math.max(x, y), 0);
    this.most = { running: m.ps, ready: Math.max(1, max(this.ready)), tasks: Math.max(1, max(this.tasks)) };
  }
}

const kManyGoroutines = 4000;
const kManySpans = 20000;

// For every pixel, how many of these goroutines run and how many are runnable; null if that
// would take too long.
export function exactLoad(m: Model, list: Uint32Array, t0: number, perPixel: number, width: number): [Float32Array, Float32Array] | null {
  if (list.length > kManyGoroutines) return null;
  const run = new Float32Array(width), ready = new Float32Array(width), t1 = t0 + perPixel * width;
  let budget = kManySpans;
  for (const g of list) {
    for (let i = firstAt(m, g, t0); i < m.first[g + 1] && m.start[i] < t1; i++) {
      if (--budget < 0) return null;
      const s = m.kind[i] & 15;
      if (s === State.Running) cover(run, (m.start[i] - t0) / perPixel, (spanEnd(m, i) - t0) / perPixel);
      else if (s === State.Runnable) cover(ready, (m.start[i] - t0) / perPixel, (spanEnd(m, i) - t0) / perPixel);
    }
  }
  return [run, ready];
}

// The goroutine's span that lasts at t, or its first one after that.
export function firstAt(m: Model, g: number, t: number): number {
  let lo = m.first[g], hi = m.first[g + 1];
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (m.start[mid] <= t) lo = mid + 1;
    else hi = mid;
  }
  return Math.max(m.first[g], lo - 1);
}

function cover(a: Float32Array, x0: number, x1: number): void {
  const from = Math.max(0, x0), to = Math.min(a.length, x1);
  if (to <= from) return;
  const b0 = Math.floor(from), b1 = Math.min(a.length - 1, Math.floor(to));
  if (b0 === b1) {
    a[b0] += to - from;
    return;
  }
  a[b0] += b0 + 1 - from;
  for (let b = b0 + 1; b < b1; b++) a[b]++;
  a[b1] += to - b1;
}
