// The timeline: which rows and times are visible, and drawing them.
import type { App } from "./app";
import { faint, functionColour, stateColour, theme } from "./colours";
import { drawRow, Paint, position, rowSpans } from "./draw";
import { wakerOf } from "./explain";
import { kGroupBuckets } from "./levels";
import { spanEnd } from "./model";
import { drawOverlay, tickStep } from "./overlay";
import { makeRenderer, RectList, Renderer } from "./render";
import { kLane, Row, rowAt } from "./rows";
import { Labels } from "./labels";
import { tipFor } from "./tip";
import { State } from "./world";

const $ = (id: string) => document.getElementById(id)!;

export class Timeline {
  readonly list = new RectList();
  readonly ruler = 28;
  readonly renderer: Renderer;
  readonly frames: number[] = [];   // ms of the latest frames
  afterFrame: () => void = () => {};
  width = 1;      // of the part with the slices
  height = 1;
  left = 220;     // where it begins
  private pending = false;
  private labels: Labels;
  private overlay = $("overlay") as HTMLCanvasElement;
  private bar = $("scroll");

  constructor(readonly app: App, plain: boolean) {
    this.renderer = makeRenderer($("rects") as HTMLCanvasElement, plain);
    this.labels = new Labels(app, this, $("labels"));
    this.bar.addEventListener("scroll", () => {
      if (Math.abs(this.bar.scrollTop * this.barScale() - app.top) > this.barScale() + 1) {
        app.top = this.bar.scrollTop * this.barScale();
        this.redraw();
      }
    });
    new ResizeObserver(() => this.resize()).observe($("stage"));
    this.resize();
  }

  private resize(): void {
    const r = $("stage").getBoundingClientRect();
    if (r.width < 2) return;
    const span = this.app.perPixel * this.width;
    this.left = r.width < 600 ? 110 : 220;
    $("stage").style.setProperty("--labels", this.left + "px");
    this.width = Math.max(50, r.width - this.left - 14);
    this.height = Math.max(50, r.height - this.ruler);
    this.app.perPixel = span > 0 ? span / this.width : this.app.m.duration / this.width;
    this.clamp();
    this.redraw();
  }

  timeAt(x: number): number {
    return this.app.t0 + x * this.app.perPixel;
  }
  xOf(t: number): number {
    return (t - this.app.t0) / this.app.perPixel;
  }

  private clamp(): void {
    const a = this.app, all = a.m.duration;
    a.perPixel = Math.min(Math.max(a.perPixel, 1 / 50), (all * 1.02) / this.width);
    const slack = a.perPixel * this.width * 0.01 + 1;
    a.t0 = Math.max(-slack, Math.min(a.t0, all + slack - a.perPixel * this.width));
    if (a.perPixel * this.width >= all) a.t0 = -(a.perPixel * this.width - all) / 2;
    a.top = Math.max(0, Math.min(a.top, a.rows.y[a.rows.n] - this.height + 40));
  }

  zoom(factor: number, around: number): void {
    const a = this.app, before = a.perPixel;
    a.perPixel *= factor;
    a.perPixel = Math.min(Math.max(a.perPixel, 1 / 50), (a.m.duration * 1.02) / this.width);
    a.t0 = around - (around - a.t0) * (a.perPixel / before);
    this.moved();
  }
  pan(pixels: number): void {
    this.app.t0 += pixels * this.app.perPixel;
    this.moved();
  }
  scroll(pixels: number): void {
    this.app.top += pixels;
    this.moved();
  }
  show(t0: number, t1: number): void {
    this.app.perPixel = Math.max(1 / 50, (t1 - t0) / this.width);
    this.app.t0 = t0;
    this.moved();
  }
  fitAll(): void {
    this.show(0, this.app.m.duration);
  }
  fitChosen(): void {
    const a = this.app;
    if (a.area) this.show(a.area.t0, a.area.t1);
    else if (a.chosen >= 0) {
      const t = a.m.start[a.chosen], d = Math.max(20, spanEnd(a.m, a.chosen) - t);
      this.show(t - d * 0.6, t + d * 1.6);
    }
  }
  private moved(): void {
    this.clamp();
    this.hideTip();
    this.app.saveUrl();
    this.redraw();
  }

  // The row's place in the model's numbering, or −1.
  modelRow(row: number): number {
    const { m, rows } = this.app, ref = rows.ref[row];
    switch (rows.kind[row]) {
      case Row.P: return ref;
      case Row.Thread: return m.ps + ref;
      case Row.Goroutine: return m.ps + m.threadNumber.length + ref;
      default: return -1;
    }
  }

  spanUnder(x: number, y: number): { row: number; span: number } {
    const a = this.app, row = rowAt(a.rows, y - this.ruler + a.top);
    const r = this.modelRow(row);
    if (r < 0 || x < this.left || y < this.ruler) return { row, span: -1 };
    const spans = rowSpans(a.m, r), t = this.timeAt(x - this.left);
    // The nearest one within two pixels: thin ones must be reachable.
    for (const dx of [0, -1, 1, -2, 2]) {
      const k = position(a.m, spans, t + dx * a.perPixel);
      if (k < spans.from) continue;
      const i = spans.index ? spans.index[k] : k;
      if (spanEnd(a.m, i) >= t + dx * a.perPixel) return { row, span: i };
    }
    return { row, span: -1 };
  }

  click(x: number, y: number): void {
    const a = this.app, hit = this.spanUnder(x, y);
    if (y < this.ruler) return;
    a.area = null;
    a.chosenRow = hit.row;
    if (hit.span < 0 && (a.rows.kind[hit.row] === Row.Group || a.rows.kind[hit.row] === Row.Heading)) this.toggleRow();
    a.choose(hit.span);
  }

  hover(x: number, y: number, target: HTMLElement): void {
    const tip = $("tip");
    const html = target.closest("#labels, #scroll") || x < this.left || y < this.ruler ? ""
      : tipFor(this.app, this, x, y);
    if (!html) return this.hideTip();
    tip.innerHTML = html;
    tip.hidden = false;
    const w = tip.offsetWidth, h = tip.offsetHeight, all = this.left + this.width;
    tip.style.left = Math.max(4, Math.min(x + 14, all - w)) + "px";
    tip.style.top = (y + 18 + h > this.height + this.ruler ? Math.max(0, y - h - 10) : y + 18) + "px";
  }
  hideTip(): void {
    $("tip").hidden = true;
  }

  // To the previous or next slice of the row.
  step(by: number): void {
    const a = this.app;
    if (a.chosen < 0) {
      if (a.chosenRow < 0) a.chosenRow = a.rows.kind.indexOf(Row.P);
      const r = this.modelRow(a.chosenRow);
      if (r < 0) return;
      const spans = rowSpans(a.m, r), k = Math.max(spans.from, position(a.m, spans, this.timeAt(0)));
      if (k < spans.to) a.choose(spans.index ? spans.index[k] : k, true);
      return;
    }
    const r = this.modelRow(a.chosenRow);
    if (r < 0) return;
    const spans = rowSpans(a.m, r);
    let k = a.chosen;
    if (spans.index) {
      k = position(a.m, spans, a.m.start[a.chosen]);
      while (k > spans.from && spans.index[k] !== a.chosen && a.m.start[spans.index[k - 1]] === a.m.start[a.chosen]) k--;
    }
    k += by;
    if (k >= spans.from && k < spans.to) a.choose(spans.index ? spans.index[k] : k, true);
  }

  stepRow(by: number): void {
    const a = this.app;
    const next = a.chosenRow < 0 ? rowAt(a.rows, a.top) : Math.min(a.rows.n - 1, Math.max(0, a.chosenRow + by));
    const t = a.chosen >= 0 ? a.m.start[a.chosen] : this.timeAt(this.width / 2);
    a.chosenRow = next;
    const r = this.modelRow(next);
    let span = -1;
    if (r >= 0) {
      const spans = rowSpans(a.m, r), k = Math.max(spans.from, position(a.m, spans, t));
      if (k < spans.to) span = spans.index ? spans.index[k] : k;
    }
    this.reveal(next);
    a.choose(span, span >= 0);
  }

  reveal(row: number): void {
    const a = this.app, y0 = a.rows.y[row], y1 = a.rows.y[row + 1];
    if (y0 < a.top) a.top = y0 - 40;
    if (y1 > a.top + this.height) a.top = y1 - this.height + 40;
    this.clamp();
  }

  toggleRow(): void {
    const a = this.app, kind = a.rows.kind[a.chosenRow], ref = a.rows.ref[a.chosenRow];
    if (kind === Row.Group) a.open.has(ref) ? a.open.delete(ref) : a.open.add(ref);
    else if (kind === Row.Heading && ref === 3) a.threads = !a.threads;
    else return;
    a.relayout();
    a.saveUrl();
  }

  toWaker(): void {
    const a = this.app;
    if (a.chosen < 0) return;
    const s = a.m.kind[a.chosen] & 15;
    const waker = s === State.Waiting ? wakerOf(a.m, a.chosen)
      : s === State.Runnable ? a.m.arg[a.chosen] - 1 : -1;
    if (waker >= 0) a.choose(waker, true);
  }

  areaOfChosen(): void {
    const a = this.app;
    if (a.chosen < 0) return;
    a.chooseArea({ t0: a.m.start[a.chosen], t1: spanEnd(a.m, a.chosen), y0: 0, y1: Infinity });
  }

  // Scrolls and pans so that the span is visible.
  showSpan(span: number): void {
    const a = this.app, t = a.m.start[span], e = spanEnd(a.m, span), w = a.perPixel * this.width;
    if (e - t > w) {
      if (t > a.t0 + w || e < a.t0) a.t0 = t - w * 0.1;
    } else if (t < a.t0 || e > a.t0 + w) a.t0 = (t + e) / 2 - w / 2;
    this.clamp();
  }

  redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.frame();
    });
  }

  frame(): void {
    const from = performance.now(), a = this.app;
    this.list.clear();
    this.drawGrid();
    const first = rowAt(a.rows, a.top), bottom = a.top + this.height;
    let last = first;
    for (let row = first; row < a.rows.n && a.rows.y[row] < bottom; row++) {
      this.drawRow(row);
      last = row;
    }
    this.list.add(this.width, this.width + 14, 0, this.height + this.ruler, theme.background, -1);
    const f = this.list.floats;
    for (let i = 0; i < this.list.n; i++) {
      f[i * 5] += this.left;
      f[i * 5 + 2] += this.left;
    }
    const dpr = devicePixelRatio || 1;
    this.renderer.draw(this.list, this.left + this.width + 14, this.height + this.ruler, dpr, theme.background);
    drawOverlay(a, this, this.overlay, first, last, dpr);
    this.labels.update(first, last);
    this.placeBar();
    this.afterFrame();
    this.frames.push(performance.now() - from);
    if (this.frames.length > 1000) this.frames.shift();
  }

  // A browser's element cannot be taller than some ten million pixels.
  private barScale(): number {
    return Math.max(1, this.app.rows.y[this.app.rows.n] / 8e6);
  }
  private placeBar(): void {
    const a = this.app, k = this.barScale(), tall = (a.rows.y[a.rows.n] + 40) / k;
    const style = $("tall").style, want = Math.round(tall) + "px";
    if (style.height !== want) style.height = want;
    if (Math.abs(this.bar.scrollTop - a.top / k) > 1) this.bar.scrollTop = a.top / k;
  }

  private drawGrid(): void {
    const step = tickStep(this.app.perPixel), colour = parseInt(theme.line.slice(1), 16);
    for (let t = Math.ceil(this.app.t0 / step) * step; t < this.timeAt(this.width); t += step) {
      const x = Math.round(this.xOf(t));
      this.list.add(x, x + 1, this.ruler, this.height + this.ruler, colour, -1);
    }
  }

  private drawRow(row: number): void {
    const a = this.app, m = a.m, kind = a.rows.kind[row], ref = a.rows.ref[row];
    const y = a.rows.y[row] - a.top + this.ruler, h = a.rows.y[row + 1] - a.rows.y[row];
    const view = { t0: a.t0, perPixel: a.perPixel, width: this.width };
    if (row === a.chosenRow) this.list.add(0, this.width, y, y + h, faint(stateColour(State.Call), 0.12), -1);
    else if (kind === Row.Heading) this.list.add(0, this.width, y, y + h, theme.stripe, -1);
    const r = this.modelRow(row);
    if (r >= 0) {
      const bottom = kind === Row.Goroutine ? y + 18 : y + h - 3;
      drawRow(m, rowSpans(m, r), view, y + 3, bottom, kind === Row.Goroutine ? this.stateful : this.functional, this.list);
    }
    if (kind === Row.Goroutine) this.drawRegions(ref, y + 19);
    if (kind === Row.Group) this.drawGroup(ref, y, h);
    if (kind === Row.Stops) this.drawIntervals(m.stops, [...m.stops.start.keys()], y + 3, h - 6, () => theme.stop);
    if (kind === Row.Tasks) {
      this.drawIntervals(m.tasks, a.plan.lanes[ref], y + 2, h - 4, (i) => theme.region[m.tasks.name[i] % 4]);
    }
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

  private drawRegions(g: number, y: number): void {
    const { m, plan } = this.app, r = m.regions;
    if (!plan.depth[g]) return;
    for (let i = m.regionFirst[g]; i < m.regionFirst[g + 1]; i++) {
      const x0 = this.xOf(r.start[i]), x1 = this.xOf(r.end[i]);
      if (x1 < 0 || x0 > this.width) continue;
      const top = y + Math.min(3, r.depth[i]) * kLane;
      this.list.add(Math.max(-2, x0), Math.min(this.width + 2, x1), top, top + kLane - 2, theme.region[r.name[i] % 4], -1);
    }
  }

  private drawIntervals(a: { start: Float64Array; end: Float64Array }, list: number[], y: number, h: number,
                        colour: (i: number) => number): void {
    for (const i of list) {
      const x0 = this.xOf(a.start[i]), x1 = this.xOf(a.end[i]);
      if (x1 >= 0 && x0 <= this.width) this.list.add(Math.max(-2, x0), Math.min(this.width + 2, Math.max(x1, x0 + 1)), y, y + h, colour(i), -1);
    }
  }

  // How many of a function's goroutines run (in its colour) and are runnable (above that).
  private drawGroup(f: number, y: number, h: number): void {
    const { m, perPixel } = this.app, l = m.levels, width = m.duration / kGroupBuckets;
    const top = Math.max(1, Math.min(m.ps, m.functions.count[f]));
    const b0 = Math.max(0, Math.floor(this.app.t0 / width)), b1 = Math.min(kGroupBuckets - 1, Math.floor(this.timeAt(this.width) / width));
    const per = Math.max(1, Math.floor((perPixel * 1.5) / width));
    for (let b = b0; b <= b1; b += per) {
      let run = 0, ready = 0;
      const e = Math.min(per, b1 + 1 - b);
      for (let k = 0; k < e; k++) {
        run += l.group[f * kGroupBuckets + b + k] / e;
        ready += l.groupReady[f * kGroupBuckets + b + k] / e;
      }
      const x0 = this.xOf(b * width), x1 = this.xOf((b + e) * width), room = h - 5;
      const hr = Math.min(1, run / top) * room, hq = Math.min(1, (run + ready) / top) * room;
      if (hq > hr) this.list.add(x0, x1, y + h - 2 - hq, y + h - 2 - hr, faint(stateColour(State.Runnable), 0.7), -1);
      if (hr > 0) this.list.add(x0, x1, y + h - 2 - hr, y + h - 2, functionColour(f), -1);
    }
  }

  rowOfY(y: number): number {
    return rowAt(this.app.rows, y - this.ruler + this.app.top);
  }

  rowHas(row: number, span: number): boolean {
    const { m, rows } = this.app, s = m.kind[span] & 15;
    switch (rows.kind[row]) {
      case Row.Goroutine: return rows.ref[row] === m.g[span];
      case Row.P: return (s === State.Running || s === State.Call) && rows.ref[row] === (m.where[span] & 0xffff) - 1;
      case Row.Thread: return (s === State.Running || s === State.Call || s === State.Evicted) && rows.ref[row] === (m.where[span] >>> 16) - 1;
      default: return false;
    }
  }
}
