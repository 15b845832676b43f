// The timeline: which rows and times are visible, and drawing them.
import type { App } from "./app";
import { theme } from "./colours";
import { position, rowSpans } from "./draw";
import { spanEnd } from "./model";
import { drawOverlay, tickStep } from "./overlay";
import { makeRenderer, RectList, Renderer } from "./render";
import { RowPainter } from "./rowpaint";
import { Row, rowAt } from "./rows";
import { Labels } from "./labels";
import { thingUnder, tipFor } from "./tip";
import { toggleRow } from "./walk";
import { moment } from "./words";
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
  private painter: RowPainter;
  private pointer = -1;   // where the pointer is, −1: elsewhere
  private overlay = $("overlay") as HTMLCanvasElement;
  private bar = $("scroll");

  constructor(readonly app: App, plain: boolean) {
    this.renderer = makeRenderer($("rects") as HTMLCanvasElement, plain);
    this.labels = new Labels(app, this, $("labels"));
    this.painter = new RowPainter(app, this);
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
  // This time in the middle, as near as now.
  jump(t: number): void {
    this.app.t0 = t - (this.app.perPixel * this.width) / 2;
    this.moved();
  }
  // What keys zoom around: the pointer, the chosen slice, or the middle.
  centre(): number {
    const a = this.app;
    if (this.pointer >= 0) return this.timeAt(this.pointer);
    if (a.chosen >= 0) {
      const t = Math.max(a.t0, a.m.start[a.chosen]), e = Math.min(this.timeAt(this.width), spanEnd(a.m, a.chosen));
      if (t <= e) return (t + e) / 2;
    }
    return this.timeAt(this.width / 2);
  }
  fitAll(): void {
    this.show(0, this.app.m.duration);
  }
  fitChosen(): void {
    const a = this.app;
    if (a.area) this.show(a.area.t0, a.area.t1);
    else if (a.thing) {
      const list = { task: a.m.tasks, region: a.m.regions, stop: a.m.stops }[a.thing.kind];
      const t = list.start[a.thing.i], d = Math.max(20, list.end[a.thing.i] - t);
      this.show(t - d * 0.2, t + d * 1.2);
    } else if (a.chosen >= 0) {
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
    const a = this.app;
    if (y < this.ruler) return;
    const hit = this.spanUnder(x, y), thing = thingUnder(a, this, x, y);
    a.area = null;
    a.chosenRow = hit.row;
    if (thing) return a.chooseThing(thing);
    if (hit.span < 0 && (a.rows.kind[hit.row] === Row.Group || a.rows.kind[hit.row] === Row.Heading)) toggleRow(a);
    a.choose(hit.span);
  }

  hover(x: number, y: number, target: HTMLElement): void {
    const tip = $("tip"), inside = !target.closest("#labels, #scroll") && x >= this.left && x <= this.left + this.width;
    this.cursor(inside ? x : -1);
    const html = inside && y >= this.ruler ? tipFor(this.app, this, x, y) : "";
    tip.hidden = !html;
    if (!html) return;
    tip.innerHTML = html;
    const w = tip.offsetWidth, h = tip.offsetHeight, all = this.left + this.width;
    tip.style.left = Math.max(4, Math.min(x + 14, all - w)) + "px";
    tip.style.top = (y + 18 + h > this.height + this.ruler ? Math.max(0, y - h - 10) : y + 18) + "px";
  }
  hideTip(): void {
    $("tip").hidden = true;
  }
  // A line under the pointer, with the time at its top.
  cursor(x: number): void {
    const line = $("cursor");
    this.pointer = x < 0 ? -1 : x - this.left;
    line.hidden = x < 0;
    if (x < 0) return;
    line.style.transform = `translateX(${x}px)`;
    line.dataset.flip = String(x > this.left + this.width - 110);
    line.firstElementChild!.textContent = moment(this.timeAt(x - this.left), this.app.perPixel);
  }

  reveal(row: number): void {
    const a = this.app, y0 = a.rows.y[row], y1 = a.rows.y[row + 1];
    if (y0 < a.top) a.top = y0 - 40;
    if (y1 > a.top + this.height) a.top = y1 - this.height + 40;
    this.clamp();
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
      this.painter.paint(row);
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
