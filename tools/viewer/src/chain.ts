// The chosen slice on the timeline, and the chain behind a wait: where each one in it was, and
// at what moment it woke the next.
import type { App } from "./app";
import { theme } from "./colours";
import { spanEnd } from "./model";
import { Row } from "./rows";
import type { Timeline } from "./timeline";
import { wakerOfChosen } from "./walk";
import { pOf } from "./words";

const kMostArrows = 100;

// The row in which a goroutine's span is best shown: its own, its function's, or its P's.
function rowFor(app: App, g: number, span: number): number {
  const own = app.rows.ofG[g];
  if (own >= 0) return own;
  const p = span >= 0 ? pOf(app.m, span) : -1;
  return p >= 0 && !app.shut.has(0) ? 1 + p : -1;
}

// Top and bottom of a row's slices.
function edges(app: App, tl: Timeline, row: number): [number, number] {
  const y = app.rows.y[row] - app.top + tl.ruler;
  return [y + 3, app.rows.kind[row] === Row.Goroutine ? y + 18 : app.rows.y[row + 1] - app.top + tl.ruler - 3];
}

function arrow(c: CanvasRenderingContext2D, x: number, from: [number, number], to: [number, number]): void {
  const down = to[0] > from[0], y0 = down ? from[1] : from[0], y1 = down ? to[0] : to[1], d = down ? -6 : 6;
  c.beginPath();
  c.arc(x, y0, 3, 0, 7);
  c.fill();
  c.beginPath();
  c.moveTo(x, y0);
  c.lineTo(x, y1 + d / 2);
  c.stroke();
  c.beginPath();
  c.moveTo(x, y1);
  c.lineTo(x - 4, y1 + d);
  c.lineTo(x + 4, y1 + d);
  c.fill();
}

function drawChain(app: App, tl: Timeline, c: CanvasRenderingContext2D, chosen: number): void {
  const shown = new Map<number, number>([[app.m.g[app.chosen], chosen]]);
  const rowOf = (g: number, span: number) => shown.get(g) ?? rowFor(app, g, span);
  const x = (t: number) => tl.left + tl.xOf(t);
  for (const s of app.chain!.steps.slice(0, kMostArrows)) {
    if (s.g < 0) continue;
    const row = rowOf(s.g, s.span);
    if (row < 0) continue;
    const at = edges(app, tl, row), x0 = Math.max(tl.left - 2, x(s.from)), x1 = Math.min(tl.left + tl.width + 2, x(s.to));
    if (x1 > x0) c.fillRect(x0, at[1], x1 - x0, 3);
    const woke = s.woke >= 0 ? rowOf(s.woke, -1) : -1;
    if (woke >= 0 && woke !== row) arrow(c, x(s.to), at, edges(app, tl, woke));
  }
}

export function drawChosen(app: App, tl: Timeline, c: CanvasRenderingContext2D): void {
  const span = app.chosen, m = app.m;
  if (span < 0) return drawThing(app, tl, c);
  const row = app.chosenRow >= 0 && tl.rowHas(app.chosenRow, span) ? app.chosenRow : rowFor(app, m.g[span], span);
  if (row < 0) return;
  const [y0, y1] = edges(app, tl, row), x0 = tl.left + tl.xOf(m.start[span]), x1 = Math.max(x0 + 2, tl.left + tl.xOf(spanEnd(m, span)));
  c.lineWidth = 2;
  c.strokeStyle = c.fillStyle = theme.accent;
  if (app.chain) drawChain(app, tl, c, row);
  else {
    const waker = wakerOfChosen(app), from = waker >= 0 ? rowFor(app, m.g[waker], waker) : -1;
    if (from >= 0 && from !== row) arrow(c, x0, edges(app, tl, from), [y0, y1]);
  }
  c.strokeStyle = theme.text;
  c.strokeRect(x0, y0 - 1, x1 - x0, y1 - y0 + 2);
  c.lineWidth = 1;
}

function drawThing(app: App, tl: Timeline, c: CanvasRenderingContext2D): void {
  if (!app.thing || app.chosenRow < 0) return;
  const m = app.m, { kind, i } = app.thing, list = { task: m.tasks, region: m.regions, stop: m.stops }[kind];
  const x0 = tl.left + tl.xOf(list.start[i]), x1 = Math.max(x0 + 2, tl.left + tl.xOf(list.end[i]));
  const y = app.rows.y[app.chosenRow] - app.top + tl.ruler, top = kind === "region" ? y + 19 + 14 * Math.min(3, list.depth[i]) : y + 2;
  c.lineWidth = 2;
  c.strokeStyle = theme.text;
  c.strokeRect(x0, top, x1 - x0, kind === "region" ? 12 : 14);
  c.lineWidth = 1;
}

// Log lines, as small marks in their goroutines' rows.
export function drawLogs(app: App, tl: Timeline, c: CanvasRenderingContext2D, first: number, last: number): void {
  const l = app.m.logs, end = tl.timeAt(tl.width);
  c.fillStyle = theme.quiet;
  for (let i = app.plan.logAt(app.t0), left = 2000; i < l.time.length && l.time[i] < end && left > 0; i++, left--) {
    const row = l.g[i] ? app.rows.ofG[l.g[i] - 1] : -1;
    if (row < first || row > last || app.rows.kind[row] !== Row.Goroutine) continue;
    const x = tl.left + tl.xOf(l.time[i]), y = app.rows.y[row] - app.top + tl.ruler + 1;
    c.beginPath();
    c.moveTo(x - 3, y);
    c.lineTo(x + 3, y);
    c.lineTo(x, y + 4);
    c.fill();
  }
}
