// "Explain this wait": what had to happen before a goroutine could go on. From the moment it was
// woken we go back in time along the one that woke it: while that one ran, the wait was its work;
// while it was runnable, it lacked a P; where it waited itself, we go on with the one that woke
// it; until we are back where the wait began. The steps cover the wait without gap or overlap.
import { position } from "./draw";
import { Model, spanEnd } from "./model";
import { Cause, State } from "./world";

export interface Step {
  g: number;       // −1: nobody; a timer, the network or a plain thread
  span: number;
  from: number;
  to: number;
  state: State;
  woke: number;    // goroutine that this one's wake-up concerned, −1: none
}

export interface Explanation { steps: Step[]; cut: boolean }

const kMost = 500;

// The span of g that lasts at time t or ended there.
export function spanAt(m: Model, g: number, t: number): number {
  let lo = m.first[g], hi = m.first[g + 1] - 1;
  if (lo > hi || m.start[lo] > t) return -1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >>> 1;
    if (m.start[mid] <= t) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}

// The running span of the one that woke the goroutine at the end of this wait, or −1.
export function wakerOf(m: Model, wait: number): number {
  const next = wait + 1;
  if (next >= m.first[m.g[wait] + 1] || (m.kind[next] & 15) !== State.Runnable) return -1;
  return m.arg[next] ? m.arg[next] - 1 : -1;
}

export function explain(m: Model, wait: number): Explanation {
  const from = m.start[wait], steps: Step[] = [];
  let to = spanEnd(m, wait);
  let woke = m.g[wait], span = wakerOf(m, wait);
  if (span < 0) {
    return { steps: [{ g: -1, span: -1, from, to, state: State.Waiting, woke }], cut: false };
  }
  while (to > from && steps.length < kMost) {
    const g = m.g[span], state = (m.kind[span] & 15) as State, start = Math.max(from, m.start[span]);
    if (state === State.Waiting) {
      const waker = wakerOf(m, span);
      if (waker < 0) {
        steps.push({ g, span, from: start, to, state, woke });
        woke = -1;
        to = start;
        span = previous(m, span);
      } else {
        // The chain goes on with the waker, which used the time of the wait.
        woke = g;
        span = waker;
        continue;
      }
    } else {
      if (start < to) steps.push({ g, span, from: start, to, state, woke });
      woke = -1;
      to = start;
      if ((m.kind[span] >> 4) === Cause.Create && m.arg[span]) {
        woke = g;
        span = m.arg[span] - 1;
      } else {
        span = previous(m, span);
      }
    }
    if (span < 0) break;
  }
  return { steps, cut: steps.length >= kMost };
}

function previous(m: Model, span: number): number {
  return span > m.first[m.g[span]] ? span - 1 : -1;
}

// Why a goroutine that could have run did not: what the Ps did meanwhile.
export interface Meanwhile { idle: number; calls: number; by: Map<number, number>; cut: boolean }

const kMostSpans = 200000;

export function meanwhile(m: Model, t0: number, t1: number): Meanwhile {
  const by = new Map<number, number>();
  let calls = 0, used = 0, budget = kMostSpans;
  for (let p = 0; p < m.ps; p++) {
    const row = { from: m.pFirst[p], to: m.pFirst[p + 1], index: m.pIndex, levels: -1 };
    for (let k = Math.max(row.from, position(m, row, t0)); k < row.to && budget > 0; k++, budget--) {
      const i = m.pIndex[k], ns = Math.min(t1, spanEnd(m, i)) - Math.max(t0, m.start[i]);
      if (m.start[i] >= t1) break;
      if (ns <= 0) continue;
      used += ns;
      if ((m.kind[i] & 15) === State.Running) by.set(m.fn[m.g[i]], (by.get(m.fn[m.g[i]]) ?? 0) + ns);
      else calls += ns;
    }
  }
  return { idle: Math.max(0, (t1 - t0) * m.ps - used), calls, by, cut: budget <= 0 };
}
