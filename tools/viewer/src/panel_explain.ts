// "Explain this wait", in words: the chain behind a wait; what the Ps did instead.
import type { App } from "./app";
import { functionColour, stateColour, theme } from "./colours";
import { explain, meanwhile, Step } from "./explain";
import { esc } from "./html";
import { Model, spanEnd } from "./model";
import { bar, functionTable, spanLink, swatch } from "./parts";
import { count, duration, functionLabel, goroutineName, kStateNames, reasonOf, share } from "./words";
import { kStates, State } from "./world";

const kShown = 40;

function stepText(m: Model, s: Step): string {
  if (s.g < 0) return "a timer, the network or a plain thread let it wait";
  const who = `${spanLink(s.span, goroutineName(m, s.g))} <span class="quiet">${esc(functionLabel(m, m.fn[s.g]))}</span>`;
  const verb = s.state === State.Running ? "ran" : s.state === State.Runnable ? "waited for a P"
    : s.state === State.Waiting ? `waited: ${esc(reasonOf(m, s.span) || "no reason recorded")}, ended by a timer, the network or a plain thread`
    : s.state === State.Call ? "was in a call" : s.state === State.Evicted ? "ran without a P" : "was in a state that is not known";
  return `${who} ${verb}${s.woke >= 0 ? `, then woke <span class="whole">${esc(goroutineName(m, s.woke))}</span>` : ""}`;
}

// The whole chain in a sentence: in which states, and above all in which function.
function summary(m: Model, steps: Step[], totals: number[], all: number): string {
  const words = ["lacked a P", "ran", "waited for a timer, the network or a plain thread", "was in calls", "ran without a P", "was stopped", "is not known"];
  const parts = totals.map((ns, s): [number, number] => [s, ns]).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
  const by = new Map<string, number>();
  for (const s of steps) {
    if (s.g < 0) continue;
    const key = `${goroutineName(m, s.g)} (${functionLabel(m, m.fn[s.g])})`;
    by.set(key, (by.get(key) ?? 0) + s.to - s.from);
  }
  const top = [...by].sort((a, b) => b[1] - a[1])[0];
  const most = top && by.size > 1 && top[1] > all * 0.25 ? ` The largest part, ${share(top[1], all)}, is <b>${esc(top[0])}</b>.` : "";
  return `<p>What it waited for ${parts.map(([s, ns]) => `${words[s]} for <b>${duration(ns)}</b> <span class="quiet">(${share(ns, all)})</span>`).join(", ")}.${most}</p>`;
}

export function explainText(app: App, i: number): string {
  const m = app.m, e = app.chain ?? explain(m, i), totals = new Array<number>(kStates).fill(0), all = spanEnd(m, i) - m.start[i];
  for (const s of e.steps) totals[s.state] += s.to - s.from;
  const shown = e.steps.slice(0, kShown), ids = [...new Set([m.g[i], ...e.steps.map((s) => s.g)])].filter((g) => g >= 0).map((g) => m.id[g]);
  const only = ids.length > 1 ? `<p><button data-only="${ids.slice(0, 60).join()}">Show these ${count(ids.length)} goroutines alone</button></p>` : "";
  return `<h3>Why it waited so long</h3>${bar(totals.map((ns, s): [number, number] => [stateColour(s), ns]))}${summary(m, e.steps, totals, all)}
    <p class="quiet">From the end back:</p><ol class="steps">${shown.map((s) => `<li><span class="time">${duration(s.to - s.from)}</span><i style="background:${color(s.state)}" title="${kStateNames[s.state]}"></i><span>${stepText(m, s)}</span></li>`).join("")}</ol>` +
    (e.steps.length > shown.length || e.cut ? `<p class="quiet">… and ${e.cut ? "many" : count(e.steps.length - shown.length)} more steps before that.</p>` : "") + only;
}

const color = (s: State) => "#" + stateColour(s).toString(16).padStart(6, "0");

// A goroutine that could run did not: what had the Ps?
export function readyText(app: App, i: number): string {
  const m = app.m, t0 = m.start[i], t1 = spanEnd(m, i), w = meanwhile(m, t0, t1), all = (t1 - t0) * m.ps;
  if (all <= 0) return "";
  const idle = w.idle > all * 0.001 ? `<p>${swatch(theme.background)}Ps were idle for <b>${duration(w.idle)}</b> <span class="quiet">(${share(w.idle, all)})</span> all the same: nobody was awake to take it.</p>` : "";
  const calls = w.calls > 0 ? `<p>${swatch(stateColour(State.Call))}In calls: ${duration(w.calls)} <span class="quiet">${share(w.calls, all)}</span></p>` : "";
  const parts = [...w.by].sort((a, b) => b[1] - a[1]).map(([f, ns]): [number, number] => [functionColour(f), ns]);
  return `<h3>What the ${m.ps} Ps did meanwhile</h3>${bar([...parts, [stateColour(State.Call), w.calls], [theme.background, w.idle]])}
    ${functionTable(m, w.by, all)}${calls}${idle}${w.cut ? `<p class="quiet">Only the beginning was added up: it is long.</p>` : ""}`;
}
