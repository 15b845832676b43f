// What the pointer is over, in a few words.
import type { App, Thing } from "./app";
import { css } from "./render";
import { stateColour, theme } from "./colours";
import { esc } from "./html";
import { kGroupBuckets } from "./levels";
import { spanEnd } from "./model";
import { kLane, Row } from "./rows";
import type { Timeline } from "./timeline";
import { count, duration, functionLabel, goroutineName, what, whyEnded } from "./words";
import { State } from "./world";

// The task, region or stop under the pointer.
export function thingUnder(app: App, tl: Timeline, x: number, y: number): Thing | null {
  const { m, rows } = app, row = tl.rowOfY(y), kind = rows.kind[row], ref = rows.ref[row];
  const t = tl.timeAt(x - tl.left), slack = 2 * app.perPixel;
  if (kind === Row.Tasks || kind === Row.Stops) {
    const list = kind === Row.Tasks ? m.tasks : m.stops;
    const i = (kind === Row.Tasks ? app.plan.lanes[ref] : app.plan.stops)
      .find((k) => list.start[k] - slack <= t && t <= list.end[k] + slack);
    return i === undefined ? null : { kind: kind === Row.Tasks ? "task" : "stop", i };
  }
  const lane = Math.floor((y - tl.ruler + app.top - rows.y[row] - 19) / kLane);
  if (kind !== Row.Goroutine || lane < 0) return null;
  const r = m.regions;
  for (let i = m.regionFirst[ref]; i < m.regionFirst[ref + 1] && r.start[i] - slack <= t; i++) {
    if (Math.min(3, r.depth[i]) === lane && t <= r.end[i] + slack) return { kind: "region", i };
  }
  return null;
}

const dot = (rgb: number) => `<span class="swatch" style="background:${css(rgb)}"></span>`;

// A group's row, or a heading with a chart.
function countTip(app: App, kind: Row, ref: number, t: number): string {
  const { m, load } = app, b = Math.floor((t / m.duration) * kGroupBuckets);
  if (b < 0 || b >= kGroupBuckets) return "";
  const n = (x: number) => (x >= 99.5 ? count(Math.round(x)) : x.toFixed(x < 9.95 ? 1 : 0));
  const run = (x: number) => `${dot(stateColour(State.Running))}${n(x)} running`;
  const ready = (x: number) => `${dot(stateColour(State.Runnable))}${n(x)} runnable`;
  if (kind === Row.Group) {
    const at = ref * kGroupBuckets + b;
    return `<b>${esc(functionLabel(m, ref))}</b> <span class="quiet">${count(m.functions.count[ref])} goroutines</span><br>` +
      `${run(m.levels.group[at])}, ${ready(m.levels.groupReady[at])}`;
  }
  return ref === 0 ? `${run(load.running[b])} <span class="quiet">of ${m.ps}</span>`
    : ref === 2 ? `${dot(theme.functions[0])}${n(load.tasks[b])} tasks open`
    : ref === 4 ? `${run(load.running[b])}, ${ready(load.ready[b])}` : "";
}

export function thingTip(app: App, thing: Thing): string {
  const m = app.m, list = { task: m.tasks, region: m.regions, stop: m.stops }[thing.kind];
  const name = esc(m.strings[list.name[thing.i]] || "(no name)");
  const words = thing.kind === "task" ? `task ${m.taskId[list.who[thing.i]]}` : thing.kind === "stop" ? "the world was stopped" : "region";
  return `<b>${name}</b><br><span class="quiet">${words}, ${duration(list.end[thing.i] - list.start[thing.i])}</span>`;
}

// A log line of this goroutine near the pointer.
function logTip(app: App, g: number, t: number): string {
  const l = app.m.logs, near = 5 * app.perPixel;
  for (let i = app.plan.logAt(t - near); i < l.time.length && l.time[i] <= t + near; i++) {
    if (l.g[i] === g + 1) return `<br>${esc(app.m.strings[l.name[i]])}: <b>${esc(app.m.strings[l.text[i]])}</b>`;
  }
  return "";
}

export function tipFor(app: App, tl: Timeline, x: number, y: number): string {
  const thing = thingUnder(app, tl, x, y);
  if (thing) return thingTip(app, thing);
  const { m, rows } = app, hit = tl.spanUnder(x, y), kind = rows.kind[hit.row], ref = rows.ref[hit.row];
  if (y - tl.ruler + app.top > rows.y[rows.n]) return "";
  if (kind === Row.Group || kind === Row.Heading) return countTip(app, kind, ref, tl.timeAt(x - tl.left));
  if (hit.span < 0) return "";
  const i = hit.span, g = m.g[i], state = m.kind[i] & 15;
  return `<b>${esc(goroutineName(m, g))}</b> <span class="quiet">${esc(functionLabel(m, m.fn[g]))}</span><br>` +
    `${dot(stateColour(state))}${esc(what(m, i))}, <b>${duration(spanEnd(m, i) - m.start[i])}</b>` +
    `<br><span class="quiet">until ${esc(whyEnded(m, i))}</span>` + (kind === Row.Goroutine ? logTip(app, g, tl.timeAt(x - tl.left)) : "");
}
