// The table of functions and the histograms of latencies.
import type { App } from "./app";
import { functionColour, stateColour } from "./colours";
import { esc } from "./html";
import { css } from "./render";
import { bucketStart, kBuckets } from "./stats";
import { count, duration } from "./words";
import { kStates, State } from "./world";

interface Column { name: string; value(f: number): number; text?(f: number): string }

export function percentile(h: ArrayLike<number>, from: number, p: number): number {
  let all = 0;
  for (let b = 0; b < kBuckets; b++) all += h[from + b];
  let left = all * p;
  for (let b = 0; b < kBuckets; b++) {
    left -= h[from + b];
    if (left <= 0 && h[from + b]) return bucketStart(b + 1);
  }
  return 0;
}

export class FunctionTable {
  private by = 2;
  private down = true;
  private columns: Column[];

  constructor(private app: App, private box: HTMLElement) {
    const { stats: s, functions } = app.m, st = (state: State) => (f: number) => s.state[f * kStates + state];
    const worst = (f: number) => {
      let best = 0;
      for (let r = 1; r < s.reasons; r++) if (s.reason[f * s.reasons + r] > s.reason[f * s.reasons + best]) best = r;
      return best;
    };
    this.columns = [
      { name: "Function", value: (f) => f },
      { name: "Goroutines", value: (f) => functions.count[f], text: (f) => count(functions.count[f]) },
      { name: "Running", value: st(State.Running) },
      { name: "Runnable", value: st(State.Runnable) },
      { name: "Waiting", value: st(State.Waiting) },
      { name: "mostly for", value: worst, text: (f) => (s.reason[f * s.reasons + worst(f)] ? esc(app.m.reasons[worst(f)] ?? `reason ${worst(f)}`) : "") },
      { name: "In calls", value: st(State.Call) },
      { name: "Evicted", value: st(State.Evicted) },
      { name: "Latency p50", value: (f) => Math.min(s.schedMax[f], percentile(s.sched, f * kBuckets, 0.5)) },
      { name: "p99", value: (f) => Math.min(s.schedMax[f], percentile(s.sched, f * kBuckets, 0.99)) },
      { name: "max", value: (f) => s.schedMax[f] },
    ];
    box.addEventListener("click", (e) => {
      const t = e.target as HTMLElement, c = t.closest<HTMLElement>("[data-column]"), f = t.closest<HTMLElement>("[data-fn]");
      if (c) this.sort(Number(c.dataset.column));
      else if (f) this.choose(Number(f.dataset.fn));
    });
  }

  private sort(column: number): void {
    this.down = column === this.by ? !this.down : column !== 0;
    this.by = column;
    this.show();
    this.box.querySelector<HTMLElement>(`[data-column="${column}"]`)?.focus();
  }

  private choose(f: number): void {
    this.app.open.add(f);
    this.app.relayout();
    this.app.showTab("timeline");
    const { rows } = this.app;
    for (let r = 0; r < rows.n; r++) {
      if (rows.kind[r] === 5 && rows.ref[r] === f) {
        this.app.chosenRow = r;
        this.app.top = rows.y[r];
      }
    }
    this.app.redraw();
  }

  show(): void {
    const { m, matchG } = this.app, names = m.functions.name, column = this.columns[this.by];
    const shown = names.map((_, f) => f).filter((f) => !matchG || this.app.plan.groups[f].some((g) => matchG[g]));
    const order = this.by === 0 ? (a: number, b: number) => names[a].localeCompare(names[b]) : (a: number, b: number) => column.value(a) - column.value(b);
    shown.sort((a, b) => (this.down ? -order(a, b) : order(a, b)));
    const head = this.columns.map((c, i) => `<th aria-sort="${i === this.by ? (this.down ? "descending" : "ascending") : "none"}"><button data-column="${i}">${c.name}${i === this.by ? (this.down ? " ▾" : " ▴") : ""}</button></th>`);
    const body = shown.slice(0, 2000).map((f) => `<tr><td><span class="swatch" style="background:${css(functionColour(f))}"></span><button class="link" data-fn="${f}">${esc(names[f])}</button></td>` +
      this.columns.slice(1).map((c) => `<td>${c.text ? c.text(f) : c.value(f) ? duration(c.value(f)) : ""}</td>`).join("") + "</tr>");
    this.box.innerHTML = `<table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>` +
      (shown.length > 2000 ? `<p class="quiet">The first 2,000 of ${count(shown.length)}; search to see others.</p>` : "");
  }
}

function chart(title: string, quiet: string, h: ArrayLike<number>, from: number, max: number, colour: string): string {
  let lo = kBuckets, hi = 0, most = 0, all = 0;
  for (let b = 0; b < kBuckets; b++) {
    const n = h[from + b];
    if (!n) continue;
    lo = Math.min(lo, b);
    hi = b;
    most = Math.max(most, n);
    all += n;
  }
  if (!all) return "";
  lo = Math.max(0, lo - 2);
  const w = 400 / (hi - lo + 3);
  let bars = "", ticks = "", last = -100;
  for (let b = lo; b <= hi + 2; b++) {
    const n = h[from + b] ?? 0, x = (b - lo) * w, y = n ? Math.max(2, (130 * n) / most) : 0;
    if (n) bars += `<rect x="${x.toFixed(1)}" y="${(140 - y).toFixed(1)}" width="${Math.max(1, w - 1).toFixed(1)}" height="${y.toFixed(1)}" fill="${colour}"><title>${duration(bucketStart(b))} to ${duration(bucketStart(b + 1))}: ${count(n)}</title></rect>`;
    if (b % 4 === 0 && x - last > 62 && x < 370) {
      ticks += `<text x="${x.toFixed(1)}" y="158" font-size="11" fill="currentColor" opacity=".7">${duration(bucketStart(b))}</text>`;
      last = x;
    }
  }
  const p = (q: number) => duration(Math.min(max, percentile(h, from, q)));
  return `<div class="card"><h2>${esc(title)}</h2><div class="quiet">${quiet}</div>
    <svg viewBox="0 0 400 165" role="img" aria-label="${esc(title)}"><line x1="0" x2="400" y1="140.5" y2="140.5" stroke="currentColor" opacity=".25"/>${bars}${ticks}</svg>
    <div>${count(all)} times; p50 <b>${p(0.5)}</b>, p90 <b>${p(0.9)}</b>, p99 <b>${p(0.99)}</b>, max <b>${duration(max)}</b></div></div>`;
}

export function showLatency(app: App, box: HTMLElement): void {
  const { m, matchG } = app, s = m.stats, sum = new Float64Array(kBuckets);
  let max = 0;
  const fns = m.functions.name.map((_, f) => f).filter((f) => !matchG || app.plan.groups[f].some((g) => matchG[g]));
  for (const f of fns) {
    for (let b = 0; b < kBuckets; b++) sum[b] += s.sched[f * kBuckets + b];
    max = Math.max(max, s.schedMax[f]);
  }
  const ready = css(stateColour(State.Runnable)), parts = [chart("Scheduling latency", "from runnable to running, all functions", sum, 0, max, ready)];
  const byCount = fns.filter((f) => s.schedCount[f]).sort((a, b) => s.schedCount[b] - s.schedCount[a]).slice(0, 8);
  const waits = [...Array(s.reasons).keys()].filter((r) => s.waitMax[r] > 0);
  for (const r of waits) parts.push(chart(`Waits: ${m.reasons[r] ?? `reason ${r}`}`, "how long they were", s.waits, r * kBuckets, s.waitMax[r], css(stateColour(State.Call))));
  if (byCount.length > 1) {
    for (const f of byCount) parts.push(chart(m.functions.name[f], "scheduling latency of this function", s.sched, f * kBuckets, s.schedMax[f], css(functionColour(f))));
  }
  box.innerHTML = `<div class="charts">${parts.join("")}</div>`;
}
