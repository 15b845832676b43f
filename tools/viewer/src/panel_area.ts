// The totals of an area: time by state, by function, by reason.
import type { App, Area } from "./app";
import { firstAt } from "./load";
import { Model, spanEnd } from "./model";
import { functionTable, reasonTable, stateTable } from "./parts";
import { Row } from "./rows";
import { count, duration } from "./words";
import { kStates, State } from "./world";

export interface Totals { states: number[]; functions: Map<number, number>; reasons: Map<number, number>; spans: number }

// Time within [t0, t1] of these goroutines' spans.
export function areaTotals(m: Model, goroutines: Iterable<number>, t0: number, t1: number): Totals {
  const states = new Array<number>(kStates).fill(0), functions = new Map<number, number>(), reasons = new Map<number, number>();
  let spans = 0;
  for (const g of goroutines) {
    for (let i = firstAt(m, g, t0); i < m.first[g + 1] && m.start[i] < t1; i++) {
      const ns = Math.min(t1, spanEnd(m, i)) - Math.max(t0, m.start[i]);
      if (ns <= 0) continue;
      const s = m.kind[i] & 15;
      spans++;
      states[s] += ns;
      if (s === State.Running) functions.set(m.fn[g], (functions.get(m.fn[g]) ?? 0) + ns);
      if (s === State.Waiting) {
        const r = m.placeReason[m.arg[i]];
        reasons.set(r, (reasons.get(r) ?? 0) + ns);
      }
    }
  }
  return { states, functions, reasons, spans };
}

// The goroutines of the rows that the area touches; null: all, because it touches a P or a thread.
function goroutinesIn(app: App, a: Area): Set<number> | null {
  const chosen = new Set<number>();
  if (a.y1 === Infinity) return null;
  for (let row = 0; row < app.rows.n; row++) {
    if (app.rows.y[row + 1] < a.y0 || app.rows.y[row] > a.y1) continue;
    const kind = app.rows.kind[row], ref = app.rows.ref[row];
    if (kind === Row.Goroutine) chosen.add(ref);
    else if (kind === Row.Group) for (const g of app.plan.groups[ref]) chosen.add(g);
    else if (kind === Row.P || kind === Row.Thread) return null;
  }
  return chosen;
}

export function areaText(app: App, a: Area): string {
  const m = app.m, chosen = goroutinesIn(app, a);
  const all = function* () { for (let g = 0; g < m.goroutines; g++) yield g; };
  const t = areaTotals(m, chosen ?? all(), a.t0, a.t1), running = t.states[State.Running];
  const busy = chosen ? "" : `, Ps busy ${((100 * running) / Math.max(1, (a.t1 - a.t0) * m.ps)).toFixed(1)} %`;
  return `<h2>${duration(a.t1 - a.t0)} chosen</h2><div class="quiet">${chosen ? `${count(chosen.size)} goroutines` : "all goroutines"}, ${count(t.spans)} slices${busy}</div>
    <h3>By state</h3>${stateTable(t.states)}
    <h3>Running, by function</h3>${functionTable(m, t.functions, running, 12)}
    <h3>Waiting, by reason</h3>${reasonTable(m, t.reasons)}
    <p class="quiet"><kbd>F</kbd> zooms to it, <kbd>Esc</kbd> lets it go.</p>`;
}
