// Search and filters. The text is about goroutines (function, name, id, regions, tasks) or reasons;
// the state or reason and the length are about spans. All of them hold together.
import type { App } from "./app";
import { Model, spanEnd } from "./model";
import { kStateNames, parseDuration, reasonName } from "./words";
import { State } from "./world";

export interface Query { span: ((i: number) => boolean) | null; trouble: string }

// Goroutines by id (`7`, `g 7`, `g 2,4,7`), or by what their function, their name or one of
// their regions and tasks is called.
function goroutinesWith(m: Model, text: string): Uint8Array {
  const g = new Uint8Array(m.goroutines), ids = /^(?:g\s*|#)?(\d+(?:\s*,\s*\d+)*)$/i.exec(text);
  if (ids) {
    const wanted = new Set(ids[1].split(",").map(Number));
    for (let i = 0; i < g.length; i++) if (wanted.has(m.id[i])) g[i] = 1;
    return g;
  }
  const fns = m.functions.name.map((n) => n.toLowerCase().includes(text));
  const names = m.strings.map((s) => s !== "" && s.toLowerCase().includes(text));
  for (let i = 0; i < g.length; i++) if (fns[m.fn[i]] || names[m.name[i]]) g[i] = 1;
  for (let i = 0; i < m.regions.who.length; i++) if (names[m.regions.name[i]]) g[m.regions.who[i]] = 1;
  for (let i = 0; i < m.tasks.who.length; i++) {
    const by = m.taskG[m.tasks.who[i]];
    if (by >= 0 && names[m.tasks.name[i]]) g[by] = 1;
  }
  return g;
}

// `@12.5ms`: a point in time to go to. NaN: it is none.
export function jumpTarget(text: string): number {
  const t = text.trim();
  return t.startsWith("@") ? parseDuration(t.slice(1)) : NaN;
}

export function compile(app: App): Query {
  const { m, filter } = app, text = filter.q.trim().toLowerCase();
  const longer = filter.longer.trim() ? parseDuration(filter.longer) : 0;
  if (Number.isNaN(longer)) return { span: null, trouble: "a length is like 250us or 1.5ms" };
  if (text.startsWith("@")) return { span: null, trouble: Number.isNaN(jumpTarget(text)) ? "a time is like @12.5ms" : "Enter goes there" };
  // The text is about a goroutine, or about the reason of a wait.
  const g = text ? goroutinesWith(m, text) : null;
  const places = text ? Uint8Array.from(m.placeReason, (r) => Number(reasonName(m, r).toLowerCase().includes(text))) : null;
  const state = filter.reason.startsWith("s") ? Number(filter.reason.slice(1)) : -1;
  const reason = filter.reason.startsWith("r") ? Number(filter.reason.slice(1)) : -1;
  if (!text && !longer && state < 0 && reason < 0) return { span: null, trouble: "" };
  const span = (i: number) => {
    const s = m.kind[i] & 15, place = s === State.Waiting || s === State.Call ? m.arg[i] : 0;
    if (state >= 0 && s !== state) return false;
    if (reason >= 0 && !(s === State.Waiting && m.placeReason[place] === reason)) return false;
    if (g && !g[m.g[i]] && !places![place]) return false;
    return !longer || spanEnd(m, i) - m.start[i] > longer;
  };
  return { span, trouble: "" };
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

  stop(): void {
    this.turn++;
  }

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
