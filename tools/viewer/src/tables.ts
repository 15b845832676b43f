// The table of functions and the histograms of latencies.
import type { App } from "./app";
import { functionColour, stateColour, theme } from "./colours";
import { esc } from "./html";
import { bar, swatch } from "./parts";
import { css } from "./render";
import { Row } from "./rows";
import { bucketOf, bucketStart, kBuckets } from "./stats";
import { count, duration, functionLabel, kStateNames, reasonName } from "./words";
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

  // The column and the direction are in the address: "2" is downwards, "-2" upwards.
  private get by(): number {
    return Math.min(this.columns.length - 1, Math.abs(Number(this.app.sort)));
  }
  private get down(): boolean {
    return !this.app.sort.startsWith("-");
  }

  private sort(column: number): void {
    const down = column === this.by ? !this.down : column !== 0;
    this.app.sort = (down ? "" : "-") + column;
    this.app.saveUrl();
    this.show();
    this.box.querySelector<HTMLElement>(`[data-column="${column}"]`)?.focus();
  }

  private choose(f: number): void {
    this.app.open.add(f);
    this.app.relayout();
    this.app.showTab("timeline");
    const { rows } = this.app;
    for (let r = 0; r < rows.n; r++) {
      if (rows.kind[r] === Row.Group && rows.ref[r] === f) {
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
    const states = (f: number) => bar([1, 0, 2, 3, 4, 5, 6].map((st): [number, number] => [stateColour(st), m.stats.state[f * kStates + st]]));
    const body = shown.slice(0, 2000).map((f) => `<tr><td><span class="function"><span class="swatch" style="background:${css(functionColour(f))}"></span><button class="link" data-fn="${f}" title="${esc(names[f])}">${esc(functionLabel(m, f))}</button></span>${states(f)}</td>` +
      this.columns.slice(1).map((c) => `<td>${c.text ? c.text(f) : c.value(f) ? duration(c.value(f)) : ""}</td>`).join("") + "</tr>");
    this.box.innerHTML = `<div class="legend">${[1, 0, 2, 3, 4].map((st) => `<span>${swatch(stateColour(st))}${kStateNames[st]}</span>`).join("")}</div><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>` +
      (shown.length > 2000 ? `<p class="quiet">The first 2,000 of ${count(shown.length)}; search to see others.</p>` : "");
  }
}

// Where the axis has a mark: 1, 10, 100 … ns.
function marks(lo: number, hi: number): number[] {
  const list: number[] = [];
  for (let t = 1; t < 1e13; t *= 10) if (t >= bucketStart(lo) && t <= bucketStart(hi)) list.push(t);
  return list.length > 1 ? list : [bucketStart(lo), bucketStart(hi)];
}

// Where a time lies between buckets.
function placeOf(ns: number): number {
  const b = bucketOf(ns), from = bucketStart(b), to = bucketStart(b + 1);
  return b + (ns - from) / (to - from);
}

// `find`: what a click on a bar searches for, besides the length.
function chart(title: string, quiet: string, h: ArrayLike<number>, from: number, max: number, colour: string, find: string): string {
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
  const room = Math.max(2, Math.ceil((24 - (hi - lo)) / 2));
  lo = Math.max(0, lo - room);
  hi = Math.min(kBuckets - 1, hi + room);
  const w = 400 / (hi - lo + 1);
  let bars = "", ticks = "";
  for (let b = lo; b <= hi; b++) {
    const n = h[from + b], x = (b - lo) * w, y = n ? Math.max(2, (130 * n) / most) : 0;
    if (n) bars += `<rect data-find="${esc(find)}" data-longer="${Math.floor(bucketStart(b))}ns" x="${x.toFixed(1)}" y="${(140 - y).toFixed(1)}" width="${Math.max(1, w - 1).toFixed(1)}" height="${y.toFixed(1)}" fill="${colour}"><title>${duration(bucketStart(b))} to ${duration(bucketStart(b + 1))}: ${count(n)}. Click for those and longer ones.</title></rect>`;
  }
  for (const t of marks(lo, hi)) {
    const x = (placeOf(t) - lo) * w, anchor = x < 20 ? "start" : x > 380 ? "end" : "middle";
    ticks += `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="140" y2="144" stroke="currentColor" opacity=".4"/><text x="${x.toFixed(1)}" y="157" text-anchor="${anchor}" font-size="11" fill="currentColor" opacity=".7">${round(t)}</text>`;
  }
  const p = (q: number) => duration(Math.min(max, percentile(h, from, q)));
  return `<div class="card"><h2>${esc(title)}</h2><div class="quiet">${quiet}</div>
    <svg viewBox="0 0 400 162" role="img" aria-label="${esc(title)}: half took up to ${p(0.5)}, 99 of 100 up to ${p(0.99)}, the longest ${duration(max)}"><line x1="0" x2="400" y1="140.5" y2="140.5" stroke="currentColor" opacity=".25"/>${bars}${ticks}</svg>
    <div class="figures">${[["times", count(all)], ["p50", p(0.5)], ["p90", p(0.9)], ["p99", p(0.99)], ["max", duration(max)]].map(([k, v]) => `<span>${k} <b>${v}</b></span>`).join("")}</div></div>`;
}

const round = (ns: number) => duration(ns).replace(/\.0+ /, " ");

function functionCharts(app: App, fns: number[]): string[] {
  const { m } = app, s = m.stats;
  const most = fns.filter((f) => s.schedCount[f]).sort((a, b) => s.schedCount[b] - s.schedCount[a]).slice(0, 12);
  if (most.length < 2) return [];
  return most.map((f) => chart(functionLabel(m, f), "from runnable to running", s.sched, f * kBuckets, s.schedMax[f], css(functionColour(f)), `s0 ${m.functions.name[f]}`));
}

export function showLatency(app: App, box: HTMLElement): void {
  const { m, matchG } = app, s = m.stats, sum = new Float64Array(kBuckets);
  let max = 0;
  const fns = m.functions.name.map((_, f) => f).filter((f) => !matchG || app.plan.groups[f].some((g) => matchG[g]));
  for (const f of fns) {
    for (let b = 0; b < kBuckets; b++) sum[b] += s.sched[f * kBuckets + b];
    max = Math.max(max, s.schedMax[f]);
  }
  const waits = [...Array(s.reasons).keys()].filter((r) => s.waitMax[r] > 0);
  const wait = (r: number) => chart(reasonName(m, r) || "no reason", "how long goroutines waited for it", s.waits, r * kBuckets, s.waitMax[r], css(theme.functions[0]), `r${r}`);
  const section = (title: string, parts: string[]) => (parts.join("") ? `<h1>${title}</h1><div class="charts">${parts.join("")}</div>` : "");
  box.innerHTML = section("Waiting for a P", [chart(matchG ? "The functions that match" : "All functions", "from runnable to running", sum, 0, max, css(stateColour(State.Runnable)), "s0"), ...functionCharts(app, fns)]) +
    section("Waiting for something else, all goroutines", waits.map(wait));
  box.onclick = (e) => {
    const r = (e.target as Element).closest<SVGElement>("[data-find]");
    if (!r) return;
    const [reason, ...q] = r.dataset.find!.split(" ");
    app.setFilter({ q: q.join(" "), reason, longer: r.dataset.longer! });
    app.showTab("timeline");
  };
}
