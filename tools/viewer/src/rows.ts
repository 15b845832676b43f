// The rows of the timeline, from top to bottom: Ps, stops of the world, tasks, threads, and
// goroutines grouped by function. Only what is visible is ever drawn; there may be 100,000.
import type { Model } from "./model";

export const enum Row { Heading, P, Stops, Tasks, Thread, Group, Goroutine }

export const kHeadings = ["Processors", "Stopped", "Tasks", "Threads", "Goroutines"];
const kHeight = [20, 26, 18, 18, 20, 24, 20];
export const kLane = 14;  // of a region

export interface Rows {
  n: number;
  kind: Uint8Array;
  ref: Uint32Array;
  y: Float64Array;  // n + 1
  ofG: Int32Array;  // by goroutine: its row, or its function's; −1: none
}

export interface RowChoice {
  open: Set<number>;          // functions that are expanded
  shut: Set<number>;          // headings that are collapsed
  match: Uint8Array | null;   // goroutines to be shown; null: all
}

export class RowPlan {
  readonly groups: Uint32Array[] = [];   // by function, the busiest first: its goroutines
  readonly lanes: Uint32Array[] = [];    // tasks that share a row, in order of time
  readonly stops: Uint32Array;
  readonly open = new Set<number>();     // functions that are expanded at first
  readonly shut = new Set<number>();     // headings that are collapsed at first
  readonly depth: Uint8Array;            // by goroutine: how deep its regions nest

  constructor(private m: Model) {
    const counts = m.functions.count;
    const at = counts.map(() => 0);
    for (const n of counts) this.groups.push(new Uint32Array(n));
    for (let g = 0; g < m.goroutines; g++) this.groups[m.fn[g]][at[m.fn[g]]++] = g;
    for (const list of this.groups) list.sort((a, b) => m.id[a] - m.id[b]);
    this.depth = new Uint8Array(m.goroutines);
    for (let i = 0; i < m.regions.who.length; i++) {
      const g = m.regions.who[i];
      this.depth[g] = Math.min(4, Math.max(this.depth[g], m.regions.depth[i] + 1));
    }
    this.stops = Uint32Array.from(m.stops.start.keys());
    this.packTasks();
    if (m.goroutines <= 60) counts.forEach((_, f) => this.open.add(f));
    if (this.lanes.length > 6) this.shut.add(2);
    if (m.threadNumber.length > 8) this.shut.add(3);
  }

  // The first log at or after t.
  logAt(t: number): number {
    const time = this.m.logs.time;
    let lo = 0, hi = time.length;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (time[mid] < t) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  private packTasks(): void {
    const t = this.m.tasks, order = [...t.start.keys()].sort((a, b) => t.start[a] - t.start[b]);
    const ends: number[] = [], lanes: number[][] = [];
    for (const i of order) {
      let lane = ends.findIndex((e) => e <= t.start[i]);
      if (lane < 0) lane = ends.length < 40 ? ends.length : 39;
      ends[lane] = t.end[i];
      (lanes[lane] ??= []).push(i);
    }
    for (const lane of lanes) this.lanes.push(Uint32Array.from(lane));
  }

  rows(c: RowChoice): Rows {
    const m = this.m, kind: number[] = [], ref: number[] = [];
    const add = (k: Row, r: number) => { kind.push(k); ref.push(r); };
    add(Row.Heading, 0);
    for (let p = 0; p < m.ps && !c.shut.has(0); p++) add(Row.P, p);
    if (m.stops.start.length) add(Row.Stops, 0);
    if (this.lanes.length) {
      add(Row.Heading, 2);
      if (!c.shut.has(2)) this.lanes.forEach((_, i) => add(Row.Tasks, i));
    }
    add(Row.Heading, 3);
    if (!c.shut.has(3)) {
      const threads = [...m.threadNumber.keys()].sort((a, b) => m.threadNumber[a] - m.threadNumber[b]);
      for (const t of threads) if (m.tFirst[t + 1] > m.tFirst[t]) add(Row.Thread, t);
    }
    add(Row.Heading, 4);
    const ofG = new Int32Array(m.goroutines).fill(-1);
    const functions = c.shut.has(4) ? 0 : this.groups.length;
    for (let f = 0; f < functions; f++) {
      const list = this.groups[f];
      if (c.match && !list.some((g) => c.match![g])) continue;
      add(Row.Group, f);
      const open = c.open.has(f);
      for (const g of list) {
        if (c.match && !c.match[g]) continue;
        if (open) add(Row.Goroutine, g);
        ofG[g] = kind.length - 1;
      }
    }
    const y = new Float64Array(kind.length + 1);
    for (let i = 0; i < kind.length; i++) {
      const more = kind[i] === Row.Goroutine ? this.depth[ref[i]] * kLane : 0;
      y[i + 1] = y[i] + kHeight[kind[i]] + more;
    }
    return { n: kind.length, kind: Uint8Array.from(kind), ref: Uint32Array.from(ref), y, ofG };
  }
}

// The row at this height, or the last one.
export function rowAt(r: Rows, y: number): number {
  let lo = 0, hi = r.n - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (r.y[mid] <= y) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}
