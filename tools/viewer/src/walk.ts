// Choosing without a pointer: from slice to slice, from row to row, to the one that woke.
import type { App } from "./app";
import { position, rowSpans } from "./draw";
import { wakerOf } from "./explain";
import { spanEnd } from "./model";
import { Row, rowAt } from "./rows";
import type { Timeline } from "./timeline";
import { State } from "./world";

// The chosen row's slice at this time, or the first after it; −1: it has none.
function spanNear(app: App, tl: Timeline, row: number, t: number): number {
  const r = tl.modelRow(row);
  if (r < 0) return -1;
  const spans = rowSpans(app.m, r), k = Math.max(spans.from, position(app.m, spans, t));
  return k < spans.to ? (spans.index ? spans.index[k] : k) : -1;
}

// To the previous or next slice of the row.
export function step(app: App, tl: Timeline, by: number): void {
  if (app.chosenRow < 0) app.chosenRow = app.rows.kind.indexOf(Row.P);
  if (app.chosen < 0) {
    const span = spanNear(app, tl, app.chosenRow, tl.timeAt(0));
    if (span >= 0) app.choose(span, true);
    return;
  }
  const r = tl.modelRow(app.chosenRow), m = app.m;
  if (r < 0) return;
  const spans = rowSpans(m, r);
  let k = app.chosen;
  if (spans.index) {
    k = position(m, spans, m.start[app.chosen]);
    while (k > spans.from && spans.index[k] !== app.chosen && m.start[spans.index[k - 1]] === m.start[app.chosen]) k--;
  }
  k += by;
  if (k >= spans.from && k < spans.to) app.choose(spans.index ? spans.index[k] : k, true);
}

export function stepRow(app: App, tl: Timeline, by: number): void {
  const next = app.chosenRow < 0 ? rowAt(app.rows, app.top) : Math.min(app.rows.n - 1, Math.max(0, app.chosenRow + by));
  const t = app.chosen >= 0 ? app.m.start[app.chosen] : tl.timeAt(tl.width / 2);
  app.chosenRow = next;
  tl.reveal(next);
  const span = spanNear(app, tl, next, t);
  app.choose(span, span >= 0);
}

export function toggleRow(app: App): void {
  const kind = app.rows.kind[app.chosenRow], ref = app.rows.ref[app.chosenRow];
  const set = kind === Row.Group ? app.open : kind === Row.Heading ? app.shut : null;
  if (!set) return;
  if (!set.delete(ref)) set.add(ref);
  app.relayout();
  app.saveUrl();
}

// The running span of the one that woke the chosen span's goroutine, or created it; −1: none.
export function wakerOfChosen(app: App): number {
  if (app.chosen < 0) return -1;
  const s = app.m.kind[app.chosen] & 15;
  return s === State.Waiting ? wakerOf(app.m, app.chosen) : s === State.Runnable ? app.m.arg[app.chosen] - 1 : -1;
}

export function toWaker(app: App): void {
  const waker = wakerOfChosen(app);
  if (waker < 0) return;
  app.chosenRow = -1;
  app.choose(waker, true);
}

export function areaOfChosen(app: App): void {
  if (app.chosen < 0) return;
  app.chooseArea({ t0: app.m.start[app.chosen], t1: spanEnd(app.m, app.chosen), y0: 0, y1: Infinity });
}
