// Details: the chosen slice and what it waited for, or the totals of an area, or the whole trace.
import type { App, Area } from "./app";
import { functionColour, stateColour } from "./colours";
import { explain, Step, wakerOf } from "./explain";
import { esc } from "./html";
import type { Frame } from "./chunks";
import { Model, spanEnd } from "./model";
import { css } from "./render";
import { Row } from "./rows";
import { count, duration, framesOf, functionName, goroutineName, kStateNames, pOf, reasonOf, shortFunction, threadOf, what, whyEnded } from "./words";
import { kStates, State } from "./world";

const swatch = (rgb: number) => `<span class="swatch" style="background:${css(rgb)}"></span>`;
const spanLink = (span: number, text: string) => `<button class="link" data-span="${span}">${esc(text)}</button>`;

function isLibrary(f: Frame): boolean {
  return /^(\(anonymous namespace\)::|)vole::/.test(f.fn) || /(^|\/)(src\/(api|arch|chan|gmp|net|sched|sync|time)|include\/vole)\/|^\/usr\/include\//.test(f.file) || /^(std::|__invoke|__gnu_cxx::|vole_)/.test(f.fn);
}

export function stack(m: Model, place: number): string {
  const frames = framesOf(m, place);
  if (!frames.length) return `<p class="quiet">The place was not recorded.</p>`;
  const line = (f: Frame) => `<li>${esc(f.fn)}${f.file ? `<span class="quiet">${esc(f.file)}${f.line ? ":" + f.line : ""}</span>` : ""}</li>`;
  // The way through vole and the standard library is seldom what one looks for: it is folded.
  const own = frames.filter((f) => !isLibrary(f));
  const all = `<ol class="stack">${frames.map(line).join("")}</ol>`;
  if (!own.length || own.length === frames.length) return all;
  return `<ol class="stack">${own.map(line).join("")}</ol><details><summary class="quiet">all ${frames.length} frames</summary>${all}</details>`;
}

function bar(parts: [number, number][]): string {
  const sum = parts.reduce((a, [, ns]) => a + ns, 0) || 1;
  return `<div class="stackbar">${parts.map(([rgb, ns]) => `<i style="width:${(100 * ns) / sum}%;background:${css(rgb)}"></i>`).join("")}</div>`;
}

function stateTable(totals: number[]): string {
  const sum = totals.reduce((a, b) => a + b, 0) || 1;
  const rows = totals.map((ns, s) => (ns > 0 ? `<dt>${swatch(stateColour(s))}${kStateNames[s]}</dt><dd>${duration(ns)} <span class="quiet">${((100 * ns) / sum).toFixed(1)} %</span></dd>` : ""));
  return bar(totals.map((ns, s): [number, number] => [stateColour(s), ns])) + `<dl>${rows.join("")}</dl>`;
}

export function showPanel(app: App, panel: HTMLElement): void {
  panel.innerHTML = app.area ? areaText(app, app.area) : app.chosen >= 0 ? spanText(app, app.chosen) : wholeText(app);
}

function goroutineTotals(m: Model, g: number): number[] {
  const t = new Array<number>(kStates).fill(0);
  for (let i = m.first[g]; i < m.first[g + 1]; i++) t[m.kind[i] & 15] += spanEnd(m, i) - m.start[i];
  return t;
}

function spanText(app: App, i: number): string {
  const m = app.m, g = m.g[i], s = m.kind[i] & 15, p = pOf(m, i), t = threadOf(m, i);
  const place = s === State.Waiting || s === State.Call ? m.arg[i] : 0;
  const where = t >= 0 && s !== State.Runnable ? `<dt>${s === State.Waiting ? "blocked on" : "on"}</dt><dd>${p >= 0 ? `P ${p}, ` : ""}thread ${m.threadNumber[t]}</dd>` : "";
  let html = `<h2>${esc(goroutineName(m, g))}</h2><div class="quiet">${esc(functionName(m, g))}</div>
    <dl><dt>state</dt><dd>${swatch(stateColour(s))}${esc(what(m, i))}</dd>
    <dt>for</dt><dd><b>${duration(spanEnd(m, i) - m.start[i])}</b></dd>
    <dt>from</dt><dd>${(m.start[i] / 1e6).toFixed(6)} ms</dd>${where}
    <dt>until</dt><dd>${esc(whyEnded(m, i))}</dd></dl>`;
  if (m.waited[g] && i === m.first[g] && s === State.Waiting) html += `<p class="quiet">It had waited ${duration(m.waited[g])} when it was listed.</p>`;
  html += wakeText(app, i, s);
  if (place) html += `<h3>${s === State.Call ? "The call" : "Waited at"}</h3>${stack(m, place)}`;
  if (s === State.Waiting) html += explainText(app, i);
  const before = i > m.first[g] ? spanLink(i - 1, "← before") : "", after = i + 1 < m.first[g + 1] ? spanLink(i + 1, "after →") : "";
  html += `<p>${before} ${after}</p><h3>Created</h3>${createdText(m, g)}<h3>This goroutine in all</h3>${stateTable(goroutineTotals(m, g))}`;
  return html + logText(m, g);
}

function wakeText(app: App, i: number, s: State): string {
  const m = app.m, g = m.g[i];
  const ready = s === State.Waiting ? i + 1 : i;
  if (s !== State.Waiting && s !== State.Runnable) return "";
  if (ready >= m.first[g + 1] || (m.kind[ready] & 15) !== State.Runnable) return `<h3>Woken by</h3><p>Nobody, as far as the trace goes.</p>`;
  const cause = m.kind[ready] >> 4;
  if (cause !== 2 && cause !== 1) return "";
  const waker = m.arg[ready] - 1, verb = cause === 1 ? "Created by" : "Woken by", t = threadOf(m, ready);
  const who = waker >= 0
    ? `${spanLink(waker, goroutineName(m, m.g[waker]))} <span class="quiet">${esc(shortFunction(functionName(m, m.g[waker])))}</span>`
    : t > 0 && m.threadNumber[t] ? `A timer or the network, found by thread ${m.threadNumber[t]}.` : "A plain thread, a timer or the network.";
  const latency = `Then it waited ${duration(spanEnd(m, ready) - m.start[ready])} for a P.`;
  return `<h3>${verb}</h3><p>${who}<br><span class="quiet">at ${(m.start[ready] / 1e6).toFixed(6)} ms. ${latency}</span></p>`;
}

function stepText(m: Model, s: Step): string {
  if (s.g < 0) return "a timer, the network or a plain thread let it wait";
  const who = `${spanLink(s.span, goroutineName(m, s.g))} <span class="quiet">${esc(shortFunction(functionName(m, s.g)))}</span>`;
  const verb = s.state === State.Running ? "ran" : s.state === State.Runnable ? "waited for a P"
    : s.state === State.Waiting ? `waited: ${esc(reasonOf(m, s.span) || "no reason recorded")}, ended by a timer, the network or a plain thread`
    : s.state === State.Call ? "was in a call" : s.state === State.Evicted ? "ran without a P" : "was in a state that is not known";
  return `${swatch(stateColour(s.state))}${who} ${verb}${s.woke >= 0 ? `, then woke ${esc(goroutineName(m, s.woke))}` : ""}`;
}

function explainText(app: App, i: number): string {
  const m = app.m, e = explain(m, i), totals = new Array<number>(kStates).fill(0);
  for (const s of e.steps) totals[s.state] += s.to - s.from;
  const shown = e.steps.slice(0, 40);
  return `<h3>Why it took so long, from the end back</h3>${bar(totals.map((ns, s): [number, number] => [stateColour(s), ns]))}
    <ol class="steps">${shown.map((s) => `<li><span class="time">${duration(s.to - s.from)}</span><span>${stepText(m, s)}</span></li>`).join("")}</ol>` +
    (e.steps.length > shown.length || e.cut ? `<p class="quiet">… and more steps before that.</p>` : "");
}

function createdText(m: Model, g: number): string {
  const parent = m.parent[g] ? m.id.indexOf(m.parent[g]) : -1;
  const by = parent >= 0 && m.first[parent + 1] > m.first[parent] ? "by " + spanLink(m.first[parent], goroutineName(m, parent))
    : m.parent[g] ? `by G ${m.parent[g]}` : "by a plain thread";
  const at = Number.isNaN(m.created[g]) ? "before the trace began" : `at ${(m.created[g] / 1e6).toFixed(6)} ms`;
  return `<p>${by}, ${at}</p>${m.site[g] && framesOf(m, m.site[g]).length ? stack(m, m.site[g]) : ""}`;
}

function logText(m: Model, g: number): string {
  const lines: string[] = [];
  for (let i = 0; i < m.logs.time.length && lines.length < 50; i++) {
    if (m.logs.g[i] === g + 1) lines.push(`<dt>${(m.logs.time[i] / 1e6).toFixed(3)} ms</dt><dd>${esc(m.strings[m.logs.name[i]])}: ${esc(m.strings[m.logs.text[i]])}</dd>`);
  }
  return lines.length ? `<h3>Logs</h3><dl>${lines.join("")}</dl>` : "";
}

// Time within [t0, t1] of the spans of one row of the model.
export function areaTotals(m: Model, goroutines: Iterable<number>, t0: number, t1: number): { states: number[]; functions: Map<number, number>; reasons: Map<number, number>; spans: number } {
  const states = new Array<number>(kStates).fill(0), functions = new Map<number, number>(), reasons = new Map<number, number>();
  let spans = 0;
  for (const g of goroutines) {
    let lo = m.first[g], hi = m.first[g + 1];
    const to = hi;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (m.start[mid] <= t0) lo = mid + 1;
      else hi = mid;
    }
    for (let i = Math.max(m.first[g], lo - 1); i < to && m.start[i] < t1; i++) {
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

function areaText(app: App, a: Area): string {
  const m = app.m, chosen = new Set<number>();
  let whole = a.y1 === Infinity;
  for (let row = 0; row < app.rows.n && !whole; row++) {
    if (app.rows.y[row + 1] < a.y0 || app.rows.y[row] > a.y1) continue;
    if (app.rows.kind[row] === Row.Goroutine) chosen.add(app.rows.ref[row]);
    else if (app.rows.kind[row] === Row.Group) for (const g of app.plan.groups[app.rows.ref[row]]) chosen.add(g);
    else if (app.rows.kind[row] === Row.P || app.rows.kind[row] === Row.Thread) whole = true;
  }
  const all = function* () { for (let g = 0; g < m.goroutines; g++) yield g; };
  const t = areaTotals(m, whole ? all() : chosen, a.t0, a.t1);
  const top = [...t.functions].sort((x, y) => y[1] - x[1]).slice(0, 12);
  const waits = [...t.reasons].sort((x, y) => y[1] - x[1]).slice(0, 8);
  const busy = (100 * t.states[State.Running]) / Math.max(1, (a.t1 - a.t0) * m.ps);
  return `<h2>${duration(a.t1 - a.t0)} chosen</h2><div class="quiet">${whole ? "all goroutines" : `${count(chosen.size)} goroutines`}, ${count(t.spans)} slices${whole ? `, Ps busy ${busy.toFixed(1)} %` : ""}</div>
    <h3>By state</h3>${stateTable(t.states)}
    <h3>Running, by function</h3><dl>${top.map(([f, ns]) => `<dt>${duration(ns)}</dt><dd>${swatch(functionColour(f))}${esc(shortFunction(m.functions.name[f]))}</dd>`).join("")}</dl>
    <h3>Waiting, by reason</h3><dl>${waits.map(([r, ns]) => `<dt>${duration(ns)}</dt><dd>${esc(m.reasons[r] ?? `reason ${r}`)}</dd>`).join("")}</dl>`;
}

function wholeText(app: App): string {
  const m = app.m, totals = new Array<number>(kStates).fill(0);
  m.stats.state.forEach((ns, i) => (totals[i % kStates] += ns));
  const busy = (100 * totals[State.Running]) / (m.duration * Math.max(1, m.ps));
  return `<h2>The whole trace</h2><dl><dt>length</dt><dd>${duration(m.duration)}</dd><dt>events</dt><dd>${count(m.events)}</dd>
    <dt>slices</dt><dd>${count(m.n)}</dd><dt>goroutines</dt><dd>${count(m.goroutines)}</dd><dt>Ps</dt><dd>${m.ps}, busy ${busy.toFixed(1)} %</dd>
    <dt>process</dt><dd>${m.pid}</dd><dt>recorded</dt><dd>${esc(new Date(m.wall).toISOString().replace("T", " ").slice(0, 19))} UTC</dd>
    <dt>Ps taken</dt><dd>${count(m.steals.time.length)}</dd></dl>
    <h3>All goroutines</h3>${stateTable(totals)}
    <p class="quiet">Click a slice to see what it was and why it waited. Shift and drag, or drag on the ruler, to add up an area. <kbd>?</kbd> shows the keys.</p>`;
}

export { wakerOf };
