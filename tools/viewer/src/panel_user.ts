// What the program itself said: a task, a region, a stop of the world, logs.
import type { App, Thing } from "./app";
import { spanAt } from "./explain";
import { esc } from "./html";
import type { Model } from "./model";
import { areaTotals } from "./panel_area";
import { at, reasonTable, spanLink, stateTable, thingLink } from "./parts";
import { count, duration, functionLabel, goroutineName } from "./words";

export function logList(m: Model, mine: (i: number) => boolean): string {
  const lines: string[] = [];
  for (let i = 0; i < m.logs.time.length && lines.length < 50; i++) {
    if (mine(i)) lines.push(`<dt>${(m.logs.time[i] / 1e6).toFixed(3)} ms</dt><dd>${esc(m.strings[m.logs.name[i]])}: ${esc(m.strings[m.logs.text[i]])}</dd>`);
  }
  return lines.length ? `<h3>Logs</h3><dl>${lines.join("")}</dl>` : "";
}

// Where the goroutine's time went between two points.
function timeOf(m: Model, g: number, t0: number, t1: number): string {
  const t = areaTotals(m, [g], t0, t1), span = spanAt(m, g, t0);
  const who = `${span >= 0 ? spanLink(span, goroutineName(m, g)) : esc(goroutineName(m, g))} <span class="quiet">${esc(functionLabel(m, m.fn[g]))}</span>`;
  return `<h3>Where the time went</h3><p>${who}</p>${stateTable(t.states)}${t.reasons.size ? `<h3>Waiting, by reason</h3>${reasonTable(m, t.reasons)}` : ""}`;
}

// All of the same name: how many, how long.
function alike(list: { start: Float64Array; end: Float64Array; name: Uint32Array }, i: number, kind: string): string {
  const lengths: [number, number][] = [];
  for (let k = 0; k < list.start.length; k++) if (list.name[k] === list.name[i]) lengths.push([list.end[k] - list.start[k], k]);
  lengths.sort((a, b) => a[0] - b[0]);
  const mid = lengths[lengths.length >> 1], last = lengths[lengths.length - 1];
  const place = lengths.findIndex(([, k]) => k === i);
  return `<h3>Of this name</h3><dl><dt>number</dt><dd>${count(lengths.length)}</dd><dt>median</dt><dd>${thingLink(kind, mid[1], duration(mid[0]))}</dd>
    <dt>longest</dt><dd>${thingLink(kind, last[1], duration(last[0]))}</dd><dt>this one</dt><dd>longer than ${((100 * place) / lengths.length).toFixed(0)} % of them</dd></dl>`;
}

function head(m: Model, name: number, words: string, t0: number, t1: number): string {
  return `<h2>${esc(m.strings[name] || "(no name)")}</h2><div class="quiet">${words}</div>
    <dl><dt>for</dt><dd><b>${duration(t1 - t0)}</b></dd><dt>from</dt><dd>${at(t0)}</dd><dt>until</dt><dd>${at(t1)}</dd></dl>`;
}

function taskText(m: Model, i: number): string {
  const t = m.tasks, who = t.who[i], id = m.taskId[who], parent = m.taskParent[who], g = m.taskG[who];
  const indexOf = (task: number) => [...t.who].findIndex((w) => m.taskId[w] === task);
  const up = parent ? indexOf(parent) : -1;
  const children = [...t.who.keys()].filter((k) => m.taskParent[t.who[k]] === id);
  const name = (k: number) => `${m.strings[t.name[k]] || "task"} ${m.taskId[t.who[k]]}`;
  const family = (up >= 0 ? `<dt>part of</dt><dd>${thingLink("task", up, name(up))}</dd>` : "") +
    (children.length ? `<dt>parts</dt><dd>${children.slice(0, 20).map((k) => thingLink("task", k, name(k))).join("<br>")}</dd>` : "");
  return head(m, t.name[i], `task ${id}`, t.start[i], t.end[i]) + (family ? `<dl>${family}</dl>` : "") +
    logList(m, (k) => m.logs.task[k] === id) + (g >= 0 ? timeOf(m, g, t.start[i], t.end[i]) : "") + alike(t, i, "task");
}

export function thingText(app: App, thing: Thing): string {
  const m = app.m, { kind, i } = thing;
  if (kind === "task") return taskText(m, i);
  if (kind === "stop") return head(m, m.stops.name[i], "the world was stopped", m.stops.start[i], m.stops.end[i]);
  const r = m.regions, g = r.who[i];
  return head(m, r.name[i], "region", r.start[i], r.end[i]) + timeOf(m, g, r.start[i], r.end[i]) +
    logList(m, (k) => m.logs.g[k] === g + 1 && m.logs.time[k] >= r.start[i] && m.logs.time[k] <= r.end[i]) + alike(r, i, "region");
}
