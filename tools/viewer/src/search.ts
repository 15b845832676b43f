// Search and filters. The text is about goroutines (function, name, id) or reasons; the state or
// reason and the length are about spans. All of them hold together.
import type { App } from "./app";
import { Model, spanEnd } from "./model";
import { kStateNames, parseDuration, reasonName } from "./words";
import { State } from "./world";

export interface Query { g: Uint8Array | null; span: ((i: number) => boolean) | null; trouble: string }

function goroutinesWith(m: Model, text: string): { g: Uint8Array; any: boolean } {
  const id = /^(?:g\s*|#)?(\d+)$/i.exec(text);
  const fns = m.functions.name.map((n) => n.toLowerCase().includes(text));
  const names = m.strings.map((s) => s.toLowerCase().includes(text));
  const g = new Uint8Array(m.goroutines);
  let any = false;
  for (let i = 0; i < g.length; i++) {
    if (id ? m.id[i] === Number(id[1]) : fns[m.fn[i]] || (m.name[i] && names[m.name[i]])) {
      g[i] = 1;
      any = true;
    }
  }
  return { g, any };
}

export function compile(app: App): Query {
  const { m, filter } = app, text = filter.q.trim().toLowerCase();
  let g: Uint8Array | null = null;
  let places: Uint8Array | null = null;
  if (text) {
    const found = goroutinesWith(m, text);
    if (found.any) g = found.g;
    else {
      // No goroutine is called so: then it is a reason, or nothing.
      places = Uint8Array.from(m.placeReason, (r) => Number(reasonName(m, r).toLowerCase().includes(text)));
      if (!places.includes(1)) return { g: found.g, span: () => false, trouble: "" };
    }
  }
  const longer = filter.longer.trim() ? parseDuration(filter.longer) : 0;
  if (Number.isNaN(longer)) return { g, span: null, trouble: "a length is like 250us or 1.5ms" };
  const state = filter.reason.startsWith("s") ? Number(filter.reason.slice(1)) : -1;
  const reason = filter.reason.startsWith("r") ? Number(filter.reason.slice(1)) : -1;
  if (!g && !places && !longer && state < 0 && reason < 0) return { g: null, span: null, trouble: "" };
  const span = (i: number) => {
    if (g && !g[m.g[i]]) return false;
    const s = m.kind[i] & 15;
    if (state >= 0 && s !== state) return false;
    if (reason >= 0 && !(s === State.Waiting && m.placeReason[m.arg[i]] === reason)) return false;
    if (places && !((s === State.Waiting || s === State.Call) && places[m.arg[i]])) return false;
    return !longer || spanEnd(m, i) - m.start[i] > longer;
  };
  return { g, span, trouble: "" };
}

export function reasonOptions(m: Model): [string, string][] {
  const used = new Set<number>();
  for (const r of m.placeReason) if (r) used.add(r);
  return [["", "any state"], ...kStateNames.slice(0, 5).map((n, i): [string, string] => [`s${i}`, n]),
    ...[...used].sort((a, b) => a - b).map((r): [string, string] => [`r${r}`, `waiting: ${reasonName(m, r)}`])];
}

// Counts in small portions, so that the page goes on.
export class Counter {
  private turn = 0;
  hits = 0;
  groups = new Uint8Array(0);

  run(m: Model, q: Query, done: (hits: number, g: Uint8Array) => void): void {
    const turn = ++this.turn, g = new Uint8Array(m.goroutines);
    let i = 0, hits = 0;
    const portion = () => {
      if (turn !== this.turn) return;
      const until = performance.now() + 6;
      while (i < m.n) {
        const stop = Math.min(m.n, i + 20000);
        for (; i < stop; i++) {
          if (q.span!(i)) {
            hits++;
            g[m.g[i]] = 1;
          }
        }
        if (performance.now() > until) break;
      }
      if (i < m.n) setTimeout(portion);
      else done(hits, g);
    };
    portion();
  }
}

// The next span that matches, in order of time after t (or before it).
export function nextMatch(m: Model, match: (i: number) => boolean, from: number, forward: boolean): number {
  const t = from >= 0 ? m.start[from] : forward ? -1 : Infinity;
  let best = -1;
  for (let i = 0; i < m.n; i++) {
    const s = m.start[i];
    if (forward ? s < t || (s === t && i <= from) : s > t || (s === t && i >= from)) continue;
    if (best >= 0 && (forward ? s >= m.start[best] : s < m.start[best])) continue;
    if (match(i)) best = i;
  }
  return best;
}
