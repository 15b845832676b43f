// What each kind of row looks like, as rectangles.
import type { App } from "./app";
import { faint, functionColour, stateColour, theme } from "./colours";
import { drawRow, Paint, rowSpans } from "./draw";
import { kGroupBuckets } from "./levels";
import { exactLoad } from "./load";
import { kLane, Row } from "./rows";
import type { Timeline } from "./timeline";
import { State } from "./world";

export class RowPainter {
  constructor(private app: App, private tl: Timeline) {}

  paint(row: number): void {
    const { app, tl } = this, m = app.m, kind = app.rows.kind[row], ref = app.rows.ref[row];
    const y = app.rows.y[row] - app.top + tl.ruler, h = app.rows.y[row + 1] - app.rows.y[row];
    if (row === app.chosenRow) tl.list.add(0, tl.width, y, y + h, faint(stateColour(State.Call), 0.12), -1);
    else if (kind === Row.Heading) tl.list.add(0, tl.width, y, y + h, theme.stripe, -1);
    const r = tl.modelRow(row);
    if (r >= 0) {
      const view = { t0: app.t0, perPixel: app.perPixel, width: tl.width };
      const bottom = kind === Row.Goroutine ? y + 18 : y + h - 3;
      drawRow(m, rowSpans(m, r), view, y + 3, bottom, kind === Row.Goroutine ? this.stateful : this.functional, tl.list);
    }
    if (kind === Row.Heading) this.heading(ref, y, h);
    if (kind === Row.Goroutine) this.regions(ref, y + 19);
    if (kind === Row.Group) this.group(ref, y, h);
    if (kind === Row.Stops) this.intervals(m.stops, app.plan.stops, y + 3, h - 6, () => theme.stop);
    if (kind === Row.Tasks) this.intervals(m.tasks, app.plan.lanes[ref], y + 2, h - 4, (i) => theme.region[m.tasks.name[i] % 4]);
  }

  private matched(i: number): boolean {
    return !this.app.matches || this.app.matches(i);
  }
  private stateful: Paint = {
    span: (i) => {
      const c = stateColour((this.app.m.kind[i] & 15) as State);
      return this.matched(i) ? c : faint(c);
    },
    level: (kind) => (this.app.matches ? faint(stateColour(kind)) : stateColour(kind)),
    front: () => (this.app.matches ? faint(stateColour(State.Running), 0.5) : stateColour(State.Running)),
  };
  private functional: Paint = {
    span: (i) => {
      const m = this.app.m, s = m.kind[i] & 15;
      const c = s === State.Call ? stateColour(State.Call) : s === State.Evicted ? stateColour(State.Evicted) : functionColour(m.fn[m.g[i]]);
      return this.matched(i) ? c : faint(c);
    },
    level: () => -1,
    front: (kind) => (this.app.matches ? faint(functionColour(kind), 0.5) : functionColour(kind)),
  };

  // Beside a heading: how many run, wait for a P, or are open, over time.
  private heading(which: number, y: number, h: number): void {
    const { load } = this.app;
    const [a, most, colour] = which === 0 ? [load.running, load.most.running, stateColour(State.Running)]
      : which === 2 ? [load.tasks, load.most.tasks, theme.functions[0]]
      : which === 4 ? [load.ready, load.most.ready, stateColour(State.Runnable)] : [null, 1, 0];
    if (a) this.buckets((b) => [a[b], 0], most, y + 2, h - 3, faint(colour, 0.55), 0);
  }

  // How many of a function's goroutines run (in its colour) and are runnable (above that).
  private group(f: number, y: number, h: number): void {
    const { app, tl } = this, l = app.m.levels, most = Math.max(1, Math.min(app.m.ps, app.m.functions.count[f]));
    const ready = faint(stateColour(State.Runnable), 0.7);
    if (app.m.duration / kGroupBuckets > app.perPixel * 2) {
      const exact = exactLoad(app.m, app.plan.groups[f], app.t0, app.perPixel, Math.ceil(tl.width));
      if (exact) return this.exact(exact, most, y + 3, h - 5, functionColour(f), ready);
    }
    const at = f * kGroupBuckets;
    this.buckets((b) => [l.group[at + b], l.groupReady[at + b]], most, y + 3, h - 5, functionColour(f), ready);
  }

  private column(x0: number, x1: number, low: number, high: number, y: number, h: number, colour: number, above: number): void {
    const a = Math.min(1, low) * h, b = Math.min(1, low + high) * h;
    if (b > a) this.tl.list.add(x0, x1, y + h - b, y + h - a, above, -1);
    if (a > 0) this.tl.list.add(x0, x1, y + h - a, y + h, colour, -1);
  }

  private buckets(value: (b: number) => [number, number], most: number, y: number, h: number, colour: number, above: number): void {
    const { app, tl } = this, width = app.m.duration / kGroupBuckets;
    const b0 = Math.max(0, Math.floor(app.t0 / width)), b1 = Math.min(kGroupBuckets - 1, Math.floor(tl.timeAt(tl.width) / width));
    const per = Math.max(1, Math.floor((app.perPixel * 1.5) / width));
    for (let b = b0; b <= b1; b += per) {
      const n = Math.min(per, b1 + 1 - b);
      let low = 0, high = 0;
      for (let k = 0; k < n; k++) {
        const [x, z] = value(b + k);
        low += x / n;
        high += z / n;
      }
      this.column(tl.xOf(b * width), tl.xOf((b + n) * width), low / most, high / most, y, h, colour, above);
    }
  }

  private exact([run, ready]: [Float32Array, Float32Array], most: number, y: number, h: number, colour: number, above: number): void {
    for (let x = 0; x < run.length;) {
      let e = x + 1;
      while (e < run.length && run[e] === run[x] && ready[e] === ready[x]) e++;
      this.column(x, e, run[x] / most, ready[x] / most, y, h, colour, above);
      x = e;
    }
  }

  private regions(g: number, y: number): void {
    const { tl } = this, { m, plan } = this.app, r = m.regions;
    if (!plan.depth[g]) return;
    for (let i = m.regionFirst[g]; i < m.regionFirst[g + 1]; i++) {
      const x0 = tl.xOf(r.start[i]), x1 = tl.xOf(r.end[i]);
      if (x0 > tl.width) break;
      if (x1 < 0) continue;
      const top = y + Math.min(3, r.depth[i]) * kLane;
      tl.list.add(Math.max(-2, x0), Math.min(tl.width + 2, x1), top, top + kLane - 2, theme.region[r.name[i] % 4], -1);
    }
  }

  private intervals(a: { start: Float64Array; end: Float64Array }, list: Uint32Array, y: number, h: number, colour: (i: number) => number): void {
    const { tl } = this;
    let drawn = -1;
    for (const i of list) {
      const x0 = tl.xOf(a.start[i]), x1 = Math.max(tl.xOf(a.end[i]), x0 + 1);
      if (x0 > tl.width) break;
      // A span that ends within the pixel that the one before has filled adds nothing.
      if (x1 < 0 || x1 <= drawn) continue;
      drawn = Math.ceil(x1);
      tl.list.add(Math.max(-2, x0), Math.min(tl.width + 2, x1), y, y + h, colour(i), -1);
    }
  }
}
