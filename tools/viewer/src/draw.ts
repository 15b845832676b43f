// One row as rectangles. What is wider than a pixel is drawn as it is; where several spans share a
// pixel, the row's level of detail is drawn, or if it has none the longest of them.
//
// Law    at most about two rectangles a pixel, however many spans there are.
// Proof  test/page_test.mjs
import { Levels, kNothing } from "./levels";
import { Model, spanEnd } from "./model";
import { State } from "./world";

export interface Rects {
  // `span`: the span drawn, or −1 for several.
  add(x0: number, x1: number, y0: number, y1: number, colour: number, span: number): void;
}

export interface View { t0: number; perPixel: number; width: number }

// A row's spans: positions from … to − 1, each a span by `index`, or itself where there is none.
export interface RowSpans { from: number; to: number; index: Uint32Array | null; levels: number }

export interface Paint {
  span(i: number): number;           // its colour; −1: not drawn
  level(kind: number): number;       // a bucket's background and foreground
  front(kind: number): number;
}

export function rowSpans(m: Model, row: number): RowSpans {
  const threads = m.threadNumber.length;
  const levels = findLevels(m.levels, row);
  if (row < m.ps) return { from: m.pFirst[row], to: m.pFirst[row + 1], index: m.pIndex, levels };
  if (row < m.ps + threads) {
    const t = row - m.ps;
    return { from: m.tFirst[t], to: m.tFirst[t + 1], index: m.tIndex, levels };
  }
  const g = row - m.ps - threads;
  return { from: m.first[g], to: m.first[g + 1], index: null, levels };
}

function findLevels(l: Levels, row: number): number {
  let lo = 0, hi = l.rows.length - 1;
  while (lo <= hi) {
    const mid = (lo + hi) >> 1;
    if (l.rows[mid] === row) return mid;
    if (l.rows[mid] < row) lo = mid + 1;
    else hi = mid - 1;
  }
  return -1;
}

// The last position whose span begins at or before t; from − 1 if there is none.
export function position(m: Model, r: RowSpans, t: number, lo = r.from, hi = r.to): number {
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (m.start[r.index ? r.index[mid] : mid] <= t) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}

export function drawRow(m: Model, r: RowSpans, v: View, y0: number, y1: number, paint: Paint, out: Rects): void {
  const t1 = v.t0 + v.perPixel * v.width;
  const a = Math.max(r.from, position(m, r, v.t0)), b = position(m, r, t1);
  if (b < a) return;
  if (b - a > v.width * 2 && r.levels >= 0) {
    const finest = m.duration / m.levels.buckets[r.levels];
    if (finest <= v.perPixel * 2) return drawLevel(m, r.levels, v, y0, y1, paint, out);
  }
  drawSpans(m, r, a, b, v, y0, y1, paint, out);
}

function drawSpans(m: Model, r: RowSpans, a: number, b: number, v: View, y0: number, y1: number,
                   paint: Paint, out: Rects): void {
  const scale = 1 / v.perPixel;
  for (let k = a; k <= b; k++) {
    const i = r.index ? r.index[k] : k;
    const end = spanEnd(m, i);
    const x0 = (m.start[i] - v.t0) * scale, x1 = (end - v.t0) * scale;
    if (x1 < 0) continue;
    const colour = paint.span(i);
    if (x1 - x0 >= 1) {
      if (colour >= 0) out.add(Math.max(x0, -2), Math.min(x1, v.width + 2), y0, y1, colour, i);
      continue;
    }
    // Narrower than a pixel: go to the last span that begins in this pixel, by larger and larger
    // steps, and draw one rectangle for all of them.
    const edge = v.t0 + (Math.floor(x0) + 1) * v.perPixel;
    let step = 1;
    while (k + step <= b && m.start[r.index ? r.index[k + step] : k + step] < edge) step *= 2;
    const last = step === 1 ? k : position(m, r, edge - 1e-9 * v.perPixel, k + (step >> 1), Math.min(k + step, b + 1));
    // The last one may reach far out of the pixel: it is drawn on its own.
    const j = r.index ? r.index[last] : last;
    const wide = last > k && spanEnd(m, j) > edge;
    if (colour >= 0) out.add(Math.floor(x0), Math.floor(x0) + 1, y0, y1, colour, last > k ? -1 : i);
    k = wide ? last - 1 : Math.max(k, last);
  }
}

function drawLevel(m: Model, which: number, v: View, y0: number, y1: number, paint: Paint, out: Rects): void {
  const l = m.levels;
  let at = l.first[which], n = l.buckets[which], width = m.duration / n;
  while (width * 2 <= v.perPixel * 1.5 && n > 2) {
    at += n;
    n >>= 1;
    width *= 2;
  }
  const b0 = Math.max(0, Math.floor(v.t0 / width)), b1 = Math.min(n - 1, Math.floor((v.t0 + v.perPixel * v.width) / width));
  const h = y1 - y0;
  for (let b = b0; b <= b1;) {
    const share = l.share[at + b] & 0xf0, kind = l.kind[at + b];
    let e = b + 1;
    while (e <= b1 && (l.share[at + e] & 0xf0) === share && l.kind[at + e] === kind) e++;
    const x0 = (b * width - v.t0) / v.perPixel, x1 = (e * width - v.t0) / v.perPixel;
    const back = kind === kNothing ? -1 : paint.level(kind);
    if (back >= 0) out.add(x0, x1, y0, y1, back, -1);
    if (l.share[at + b]) {
      const top = y1 - Math.max(1.5, (h * (share + 15)) / 255);
      out.add(x0, x1, top, y1, paint.front(kind), -1);
    }
    b = e;
  }
}

export const isBusy = (state: State) => state === State.Running || state === State.Call || state === State.Evicted;
