// What is drawn above the rectangles: the ruler, names in slices, gaps and the chosen area.
import type { App } from "./app";
import { drawChosen, drawLogs } from "./chain";
import { theme } from "./colours";
import { Row } from "./rows";
import type { Timeline } from "./timeline";
import { duration, functionLabel, reasonOf } from "./words";
import { State } from "./world";

const kFont = '11px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

export function drawOverlay(app: App, tl: Timeline, canvas: HTMLCanvasElement, first: number, last: number, dpr: number): void {
  const w = tl.left + tl.width, h = tl.height + tl.ruler, c = canvas.getContext("2d")!;
  const pw = Math.round((w + 14) * dpr), ph = Math.round(h * dpr);
  if (canvas.width !== pw) canvas.width = pw;
  if (canvas.height !== ph) canvas.height = ph;
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.clearRect(0, 0, w + 14, h);
  c.font = kFont;
  c.textBaseline = "middle";
  c.save();
  c.beginPath();
  c.rect(tl.left, 0, tl.width, h);
  c.clip();
  drawGaps(app, tl, c, h);
  c.save();
  c.beginPath();
  c.rect(tl.left, tl.ruler, tl.width, h);
  c.clip();
  drawNames(app, tl, c);
  drawIntervalNames(app, tl, c, first, last);
  drawLogs(app, tl, c, first, last);
  drawChosen(app, tl, c);
  c.restore();
  drawRuler(app, tl, c);
  drawArea(app, tl, c);
  c.restore();
}

export function tickStep(perPixel: number, pixels = 110): number {
  const want = perPixel * pixels, p = 10 ** Math.floor(Math.log10(want));
  return want <= p ? p : want <= 2 * p ? 2 * p : want <= 5 * p ? 5 * p : 10 * p;
}

function drawRuler(app: App, tl: Timeline, c: CanvasRenderingContext2D): void {
  const step = tickStep(app.perPixel), from = Math.ceil(app.t0 / step) * step;
  c.fillStyle = `#${theme.stripe.toString(16)}`;
  c.fillRect(tl.left, 0, tl.width, tl.ruler);
  c.strokeStyle = theme.line;
  c.beginPath();
  for (let t = from; t < tl.timeAt(tl.width); t += step) {
    const x = Math.round(tl.left + tl.xOf(t)) + 0.5;
    c.moveTo(x, tl.ruler - 8);
    c.lineTo(x, tl.ruler);
  }
  c.moveTo(tl.left, tl.ruler - 0.5);
  c.lineTo(tl.left + tl.width, tl.ruler - 0.5);
  c.stroke();
  c.fillStyle = theme.quiet;
  const digits = (s: number, unit: number) => Math.max(0, -Math.floor(Math.log10(s / unit) + 1e-9));
  const end = Math.max(Math.abs(app.t0), Math.abs(tl.timeAt(tl.width)));
  const [unit, name] = end >= 1e9 ? [1e9, "s"] : end >= 1e6 ? [1e6, "ms"] : end >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  for (let t = from; t < tl.timeAt(tl.width); t += step) {
    c.fillText(`${(t / unit).toFixed(digits(step, unit))} ${name}`, tl.left + tl.xOf(t) + 4, 11);
  }
}

function drawGaps(app: App, tl: Timeline, c: CanvasRenderingContext2D, h: number): void {
  for (const g of app.m.gaps) {
    const x0 = tl.left + tl.xOf(g.from), x1 = tl.left + tl.xOf(g.to);
    if (x1 < tl.left || x0 > tl.left + tl.width) continue;
    c.fillStyle = "rgba(128,128,128,.18)";
    c.fillRect(x0, 0, Math.max(1, x1 - x0), h);
    if (x1 - x0 > 120) {
      c.fillStyle = theme.quiet;
      c.fillText(`not shown: ${g.why}`, Math.max(x0, tl.left) + 6, tl.ruler + 12);
    }
  }
}

// Fits a text into a width, or gives it up.
function fitted(text: string, width: number): string {
  if (text.length * 6.4 < width) return text;
  const n = Math.floor(width / 6.4) - 1;
  return n >= 3 ? text.slice(0, n) + "…" : "";
}

function luminous(rgb: number): boolean {
  return ((rgb & 255) * 0.299 + ((rgb >> 8) & 255) * 0.587 + ((rgb >> 16) & 255) * 0.114) > 150;
}

function drawNames(app: App, tl: Timeline, c: CanvasRenderingContext2D): void {
  const { list } = tl, m = app.m, f = list.floats;
  let drawn = 0;
  for (let i = 0; i < list.n && drawn < 500; i++) {
    const span = list.spans[i];
    if (span < 0) continue;
    const x0 = Math.max(tl.left, f[i * 5]), x1 = Math.min(tl.left + tl.width, f[i * 5 + 2]);
    if (x1 - x0 < 34) continue;
    const y0 = f[i * 5 + 1], y1 = f[i * 5 + 3];
    const row = tl.rowOfY((y0 + y1) / 2), g = m.g[span], s = m.kind[span] & 15;
    const text = app.rows.kind[row] === Row.Goroutine
      ? s === State.Running ? "" : s === State.Waiting || s === State.Call ? reasonOf(m, span) || (s === State.Call ? "call" : "waiting") : ["runnable", "", "", "", "evicted", "preempted", ""][s]
      : `${functionLabel(m, m.fn[g])} ${m.id[g]}`;
    const short = fitted(text, x1 - x0 - 8);
    if (!short) continue;
    c.fillStyle = luminous(list.colours[i * 5 + 4]) ? "#1d2530" : "#ffffff";
    c.fillText(short, x0 + 4, (y0 + y1) / 2 + 0.5);
    drawn++;
  }
}

function drawIntervalNames(app: App, tl: Timeline, c: CanvasRenderingContext2D, first: number, last: number): void {
  const { m, rows } = app;
  c.fillStyle = theme.text;
  const name = (t0: number, t1: number, y: number, text: string) => {
    const x0 = Math.max(tl.left, tl.left + tl.xOf(t0)), x1 = Math.min(tl.left + tl.width, tl.left + tl.xOf(t1));
    const short = x1 - x0 > 30 ? fitted(text, x1 - x0 - 6) : "";
    if (short) c.fillText(short, x0 + 3, y);
  };
  for (let row = first; row <= last; row++) {
    const y = rows.y[row] - app.top + tl.ruler, ref = rows.ref[row];
    if (rows.kind[row] === Row.Tasks) {
      for (const i of app.plan.lanes[ref]) name(m.tasks.start[i], m.tasks.end[i], y + 9, m.strings[m.tasks.name[i]]);
    } else if (rows.kind[row] === Row.Goroutine && app.plan.depth[ref]) {
      for (let i = m.regionFirst[ref]; i < m.regionFirst[ref + 1]; i++) {
        name(m.regions.start[i], m.regions.end[i], y + 25 + Math.min(3, m.regions.depth[i]) * 14, m.strings[m.regions.name[i]]);
      }
    }
  }
}

function drawArea(app: App, tl: Timeline, c: CanvasRenderingContext2D): void {
  const a = app.area;
  if (!a) return;
  const x0 = tl.left + tl.xOf(a.t0), x1 = tl.left + tl.xOf(a.t1);
  const y0 = Math.max(tl.ruler, a.y0 - app.top + tl.ruler), y1 = Math.min(tl.height + tl.ruler, a.y1 - app.top + tl.ruler);
  c.fillStyle = "rgba(60,120,240,.13)";
  c.fillRect(x0, y0, x1 - x0, y1 - y0);
  c.strokeStyle = theme.accent;
  c.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0, y1 - y0);
  c.fillStyle = theme.accent;
  c.fillRect(x0, tl.ruler - 4, x1 - x0, 4);
  c.fillText(duration(a.t1 - a.t0), Math.max(x0, tl.left) + 4, tl.ruler - 9);
}
