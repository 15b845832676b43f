// Details: the chosen slice, or what else is chosen, or the whole trace.
import type { App } from "./app";
import { stateColour } from "./colours";
import { esc } from "./html";
import { Model, spanEnd } from "./model";
import { areaText } from "./panel_area";
import { explainText, readyText } from "./panel_explain";
import { logList, thingText } from "./panel_user";
import { at, spanLink, stack, stateTable, swatch } from "./parts";
import { count, duration, framesOf, functionLabel, functionName, goroutineName, pOf, reasonName, threadOf, what, whyEnded } from "./words";
import { Cause, kStates, State } from "./world";

export function showPanel(app: App, panel: HTMLElement): void {
  panel.innerHTML = app.area ? areaText(app, app.area) : app.thing ? thingText(app, app.thing)
    : app.chosen >= 0 ? spanText(app, app.chosen) : wholeText(app);
  panel.scrollTop = 0;
}

// The chosen slice in one sentence, for those who do not see it.
export function sentence(m: Model, i: number): string {
  return `${goroutineName(m, m.g[i])}, ${what(m, i)}, for ${duration(spanEnd(m, i) - m.start[i])}, until ${whyEnded(m, i)}.`;
}

function goroutineTotals(m: Model, g: number): number[] {
  const t = new Array<number>(kStates).fill(0);
  for (let i = m.first[g]; i < m.first[g + 1]; i++) t[m.kind[i] & 15] += spanEnd(m, i) - m.start[i];
  return t;
}

function nameText(m: Model, g: number): string {
  const label = functionLabel(m, m.fn[g]), name = functionName(m, g);
  return name.length < 60 ? `<div class="quiet">${esc(name)}</div>` : `<details><summary class="quiet">${esc(label)}</summary><code>${esc(name)}</code></details>`;
}

function spanText(app: App, i: number): string {
  const m = app.m, g = m.g[i], s = m.kind[i] & 15, p = pOf(m, i), t = threadOf(m, i);
  const place = s === State.Waiting || s === State.Call ? m.arg[i] : 0;
  const where = t >= 0 && s !== State.Runnable ? `<dt>${s === State.Waiting ? "blocked on" : "on"}</dt><dd>${p >= 0 ? `P ${p}, ` : ""}thread ${m.threadNumber[t]}</dd>` : "";
  const before = i > m.first[g] ? spanLink(i - 1, "← before") : "", after = i + 1 < m.first[g + 1] ? spanLink(i + 1, "after →") : "";
  let html = `<h2>${esc(goroutineName(m, g))}</h2>${nameText(m, g)}
    <p class="headline">${swatch(stateColour(s))}${esc(what(m, i))} <b>${duration(spanEnd(m, i) - m.start[i])}</b></p>
    <dl><dt>from</dt><dd>${at(m.start[i])}</dd>${where}<dt>until</dt><dd>${esc(whyEnded(m, i))}</dd></dl><p class="pager">${before}${after}</p>`;
  if (m.waited[g] && i === m.first[g] && s === State.Waiting) html += `<p class="quiet">It had waited ${duration(m.waited[g])} when it was listed.</p>`;
  html += wakeText(app, i, s);
  if (s === State.Waiting) html += explainText(app, i);
  if (s === State.Runnable) html += readyText(app, i);
  if (place) html += `<h3>${s === State.Call ? "The call" : "Waited at"}</h3>${stack(m, place)}`;
  return html + `<h3>Created</h3>${createdText(m, g)}<h3>This goroutine in all</h3>${stateTable(goroutineTotals(m, g))}` + logList(m, (k) => m.logs.g[k] === g + 1);
}

function wakeText(app: App, i: number, s: State): string {
  const m = app.m, g = m.g[i];
  const ready = s === State.Waiting ? i + 1 : i;
  if (s !== State.Waiting && s !== State.Runnable) return "";
  if (ready >= m.first[g + 1] || (m.kind[ready] & 15) !== State.Runnable) return `<h3>Woken by</h3><p>Nobody, as far as the trace goes.</p>`;
  const cause = m.kind[ready] >> 4;
  if (cause !== Cause.Unblock && cause !== Cause.Create) return "";
  const waker = m.arg[ready] - 1, verb = cause === Cause.Create ? "Created by" : "Woken by", t = threadOf(m, ready);
  const who = waker >= 0
    ? `${spanLink(waker, goroutineName(m, m.g[waker]))} <span class="quiet">${esc(functionLabel(m, m.fn[m.g[waker]]))}</span>`
    : t > 0 && m.threadNumber[t] ? `A timer or the network, found by thread ${m.threadNumber[t]}.` : "A plain thread, a timer or the network.";
  const latency = s === State.Waiting ? ` Then it waited ${duration(spanEnd(m, ready) - m.start[ready])} for a P.` : "";
  return `<h3>${verb}</h3><p>${who}<br><span class="quiet">at ${at(m.start[ready])}.${latency}</span></p>`;
}

function createdText(m: Model, g: number): string {
  const parent = m.parent[g] ? m.id.indexOf(m.parent[g]) : -1;
  const by = parent >= 0 && m.first[parent + 1] > m.first[parent] ? "by " + spanLink(m.first[parent], goroutineName(m, parent))
    : m.parent[g] ? `by G ${m.parent[g]}` : "by a plain thread";
  const when = Number.isNaN(m.created[g]) ? "before the trace began" : `at ${at(m.created[g])}`;
  return `<p>${by}, ${when}</p>${m.site[g] && framesOf(m, m.site[g]).length ? stack(m, m.site[g]) : ""}`;
}

function worstText(m: Model): string {
  const s = m.stats, total = new Float64Array(s.reasons), times = new Float64Array(s.reasons);
  s.reason.forEach((ns, k) => (total[k % s.reasons] += ns));
  s.reasonCount.forEach((n, k) => (times[k % s.reasons] += n));
  const order = [...total.keys()].filter((r) => s.worstWait[r].span.length).sort((a, b) => total[b] - total[a]).slice(0, 8);
  const longest = (i: number, ns: number) => `<td>${spanLink(i, duration(ns))}</td>`;
  const row = (name: string, n: number, ns: number, i: number, max: number) =>
    `<tr><td>${esc(name)}</td><td>${count(n)}</td><td>${duration(ns)}</td>${longest(i, max)}</tr>`;
  let ready = 0, n = 0;
  for (let f = 0; f < m.functions.name.length; f++) {
    ready += s.state[f * kStates + State.Runnable];
    n += s.schedCount[f];
  }
  const rows = order.map((r) => row(reasonName(m, r) || "no reason", times[r], total[r], s.worstWait[r].span[0], s.worstWait[r].ns[0]));
  if (s.worstReady.span.length) rows.unshift(row("a P", n, ready, s.worstReady.span[0], s.worstReady.ns[0]));
  if (!rows.length) return "";
  return `<h3>What was waited for</h3><table class="small"><thead><tr><th>for</th><th>times</th><th>in all</th><th>longest</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function wholeText(app: App): string {
  const m = app.m, totals = new Array<number>(kStates).fill(0);
  m.stats.state.forEach((ns, i) => (totals[i % kStates] += ns));
  const busy = (100 * totals[State.Running]) / (m.duration * Math.max(1, m.ps));
  return `<h2>The whole trace</h2><dl><dt>length</dt><dd>${duration(m.duration)}</dd><dt>Ps</dt><dd>${m.ps}, busy ${busy.toFixed(1)} %</dd>
    <dt>goroutines</dt><dd>${count(m.goroutines)}</dd><dt>events</dt><dd>${count(m.events)}, as ${count(m.n)} slices</dd>
    <dt>Ps taken</dt><dd>${count(m.steals.time.length)}</dd><dt>process</dt><dd>${m.pid}</dd>
    <dt>recorded</dt><dd>${esc(new Date(m.wall).toISOString().replace("T", " ").slice(0, 19))} UTC</dd></dl>
    <p class="quiet">Click a slice to see what it was and why it waited, or begin with the longest waits:</p>
    ${worstText(m)}<h3>All goroutines</h3>${stateTable(totals)}
    <p class="quiet">Shift and drag, or drag on the ruler, adds up an area. <kbd>?</kbd> shows the keys.</p>`;
}
