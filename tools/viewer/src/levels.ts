// Levels of detail. A row with many spans is cut into buckets of equal time; each has the share
// of time in which the row was busy and the kind of thing that filled it most. Each level halves
// the number of buckets. Where a pixel is wider than a bucket, buckets are drawn, not spans.
//
// Rows are numbered: Ps, then threads, then goroutines.
import type { Model } from "./model";
import { State, kAlive } from "./world";

export const kDense = 2048;      // spans from which on a row has levels
const kFinest = 1 << 16;         // buckets at most
export const kGroupBuckets = 2048;

export interface Levels {
  rows: Uint32Array;     // rows that have levels, in order
  first: Uint32Array;    // where a row's finest level begins in share and kind
  buckets: Uint32Array;  // how many buckets its finest level has: a power of two
  share: Uint8Array;     // 0 … 255: how much of the bucket was busy (running)
  kind: Uint8Array;      // Ps and threads: the function, 254 at most; goroutines: the state that filled the rest
  group: Float32Array;   // [function × kGroupBuckets + bucket] goroutines running
  groupReady: Float32Array;
}

export const kNothing = 255;

function bucketsFor(spans: number): number {
  let b = 512;
  while (b < kFinest && b * 4 < spans) b *= 2;
  return b;
}

class RowLevels {
  busy = new Float32Array(kFinest);
  best = new Float32Array(kFinest);
  what = new Uint8Array(kFinest);

  clear(n: number): void {
    this.busy.fill(0, 0, n);
    this.best.fill(0, 0, n);
    this.what.fill(kNothing, 0, n);
  }

  // `perNs`: buckets in a nanosecond. What is busy is counted; what competes may name the bucket.
  add(from: number, to: number, perNs: number, n: number, busy: boolean, what: number, competes: boolean): void {
    const x0 = from * perNs, x1 = to * perNs;
    let b = x0 | 0, last = x1 | 0;
    if (b === last && b < n) {
      const x = x1 - x0;
      if (busy) this.busy[b] += x;
      if (competes && x >= this.best[b]) {
        this.best[b] = x;
        this.what[b] = what;
      }
      return;
    }
    b = Math.min(n - 1, b);
    last = Math.min(n - 1, last);
    for (; b <= last; b++) {
      const x = Math.min(x1, b + 1) - Math.max(x0, b);
      if (busy) this.busy[b] += x;
      if (competes && x >= this.best[b]) {
        this.best[b] = x;
        this.what[b] = what;
      }
    }
  }
}

export function buildLevels(m: Model): Levels {
  const threads = m.threadNumber.length, rows: number[] = [], first: number[] = [], buckets: number[] = [];
  let total = 0;
  const plan = (row: number, n: number) => {
    if (n < kDense) return;
    rows.push(row);
    first.push(total);
    buckets.push(bucketsFor(n));
    total += 2 * bucketsFor(n);
  };
  for (let p = 0; p < m.ps; p++) plan(p, m.pFirst[p + 1] - m.pFirst[p]);
  for (let t = 0; t < threads; t++) plan(m.ps + t, m.tFirst[t + 1] - m.tFirst[t]);
  for (let g = 0; g < m.goroutines; g++) plan(m.ps + threads + g, m.first[g + 1] - m.first[g]);
  const levels: Levels = {
    rows: Uint32Array.from(rows), first: Uint32Array.from(first), buckets: Uint32Array.from(buckets),
    share: new Uint8Array(total), kind: new Uint8Array(total).fill(kNothing), ...groups(m),
  };
  const scratch = new RowLevels();
  for (let i = 0; i < rows.length; i++) {
    scratch.clear(buckets[i]);
    fill(m, rows[i], buckets[i], scratch);
    store(levels, first[i], buckets[i], scratch);
  }
  return levels;
}

function fill(m: Model, row: number, n: number, r: RowLevels): void {
  const perNs = n / m.duration, threads = m.threadNumber.length;
  if (row >= m.ps + threads) {
    const g = row - m.ps - threads, to = m.first[g + 1];
    const end = m.ended[g] === kAlive ? m.duration : m.ended[g];
    for (let i = m.first[g]; i < to; i++) {
      const s = m.kind[i] & 15, running = s === State.Running;
      r.add(m.start[i], i + 1 < to ? m.start[i + 1] : end, perNs, n, running, s, !running);
    }
    return;
  }
  const [index, from, to] = row < m.ps ? [m.pIndex, m.pFirst[row], m.pFirst[row + 1]]
    : [m.tIndex, m.tFirst[row - m.ps], m.tFirst[row - m.ps + 1]];
  for (let k = from; k < to; k++) {
    const i = index[k], g = m.g[i];
    const end = i + 1 < m.first[g + 1] ? m.start[i + 1] : m.ended[g] === kAlive ? m.duration : m.ended[g];
    r.add(m.start[i], end, perNs, n, true, Math.min(m.fn[g], kNothing - 1), true);
  }
}

function store(l: Levels, at: number, n: number, r: RowLevels): void {
  for (let b = 0; b < n; b++) {
    l.share[at + b] = Math.min(255, Math.ceil(255 * r.busy[b]));
    l.kind[at + b] = r.what[b];
  }
  for (; n > 1; n >>= 1, at += n * 2) {
    const up = at + n;
    for (let b = 0; b < n; b += 2) {
      const x = l.share[at + b], y = l.share[at + b + 1];
      l.share[up + (b >> 1)] = (x + y + 1) >> 1;
      const kx = l.kind[at + b], ky = l.kind[at + b + 1];
      l.kind[up + (b >> 1)] = kx === kNothing ? ky : ky === kNothing ? kx : x >= y ? kx : ky;
    }
  }
}

// How many goroutines of each function ran, or could have run, in each bucket of the whole trace.
function groups(m: Model): { group: Float32Array; groupReady: Float32Array } {
  const fns = m.functions.name.length, width = m.duration / kGroupBuckets;
  const group = new Float32Array(fns * kGroupBuckets), groupReady = new Float32Array(fns * kGroupBuckets);
  for (let g = 0; g < m.goroutines; g++) {
    const base = m.fn[g] * kGroupBuckets, to = m.first[g + 1];
    const end = m.ended[g] === kAlive ? m.duration : m.ended[g];
    for (let i = m.first[g]; i < to; i++) {
      const s = m.kind[i] & 15;
      if (s !== State.Running && s !== State.Runnable) continue;
      const a = s === State.Running ? group : groupReady;
      const t0 = m.start[i], t1 = i + 1 < to ? m.start[i + 1] : end;
      const b0 = Math.min(kGroupBuckets - 1, (t0 / width) | 0), b1 = Math.min(kGroupBuckets - 1, (t1 / width) | 0);
      if (b0 === b1) {
        a[base + b0] += (t1 - t0) / width;
        continue;
      }
      a[base + b0] += b0 + 1 - t0 / width;
      for (let b = b0 + 1; b < b1; b++) a[base + b]++;
      a[base + b1] += t1 / width - b1;
    }
  }
  return { group, groupReady };
}
