// The rows of the timeline, from top to bottom: Ps, stops of the world, tasks, threads, and
// goroutines grouped by function. Only what is visible is ever drawn; there may be 100,000.
import type { Model } from "./model";
import { kStates, State } from "./world";

export const enum Row { Heading, P, Stops, Tasks, Thread, Group, Goroutine }

export const kHeadings = ["Processors", "Stopped", "Tasks", "Threads", "Goroutines"];
const kHeight = [20, 26, 18, 18, 20, 24, 20];
export const kLane = 14;  // of a region

export interface Rows {
  n: number;
  kind: Uint8Array;
  ref: Uint32Array;
  y: Float64Array;  // n + 1
}

export interface RowChoice {
  open: Set<number>;          // functions that are expanded
  threads: boolean;           // threads are shown
  match: Uint8Array | null;   // goroutines to be shown; null: all
}

export class RowPlan {
  readonly groups: Uint32Array[] = [];   // by function: its goroutines
  readonly order: number[];              // functions, the busiest first
  readonly lanes: number[][] = [];       // tasks that share a row
  readonly depth: Uint8Array;            // by goroutine: how deep its regions nest

  constructor(private m: Model) {
    const counts = m.functions.count;
    const at = counts.map(() => 0);
    for (const n of counts) this.groups.push(new Uint32Array(n));
    for (let g = 0; g < m.goroutines; g++) this.groups[m.fn[g]][at[m.fn[g]]++] = g;
    for (const list of this.groups) list.sort((a, b) => m.id[a] - m.id[b]);
    const busy = (f: number) => m.stats.state[f * kStates + State.Running];
    this.order = counts.map((_, f) => f).sort((a, b) => busy(b) - busy(a));
    this.depth = new Uint8Array(m.goroutines);
    for (let i = 0; i < m.regions.who.length; i++) {
      const g = m.regions.who[i];
      this.depth[g] = Math.min(4, Math.max(this.depth[g], m.regions.depth[i] + 1));
    }
    this.packTasks();
  }

  private packTasks(): void {
    const t = this.m.tasks, order = [...t.start.keys()].sort((a, b) => t.start[a] - t.start[b]);
    const ends: number[] = [];
    for (const i of order) {
      let lane = ends.findIndex((e) => e <= t.start[i]);
      if (lane < 0) lane = ends.length < 40 ? ends.length : 39;
      ends[lane] = t.end[i];
      (this.lanes[lane] ??= []).push(i);
    }
  }

  rows(c: RowChoice): Rows {
    const m = this.m, kind: number[] = [], ref: number[] = [];
    const add = (k: Row, r: number) => { kind.push(k); ref.push(r); };
    add(Row.Heading, 0);
    for (let p = 0; p < m.ps; p++) add(Row.P, p);
    if (m.stops.start.length) add(Row.Stops, 0);
    if (this.lanes.length) {
      add(Row.Heading, 2);
      this.lanes.forEach((_, i) => add(Row.Tasks, i));
    }
    add(Row.Heading, 3);
    if (c.threads) {
      for (let t = 0; t < m.threadNumber.length; t++) if (m.tFirst[t + 1] > m.tFirst[t]) add(Row.Thread, t);
    }
    add(Row.Heading, 4);
    for (const f of this.order) {
      const list = this.groups[f];
      if (c.match && !list.some((g) => c.match![g])) continue;
      add(Row.Group, f);
      if (!c.open.has(f)) continue;
      for (const g of list) if (!c.match || c.match[g]) add(Row.Goroutine, g);
    }
    const y = new Float64Array(kind.length + 1);
    for (let i = 0; i < kind.length; i++) {
      const more = kind[i] === Row.Goroutine ? this.depth[ref[i]] * kLane : 0;
      y[i + 1] = y[i] + kHeight[kind[i]] + more;
    }
    return { n: kind.length, kind: Uint8Array.from(kind), ref: Uint32Array.from(ref), y };
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
