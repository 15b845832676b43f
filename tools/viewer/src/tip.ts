// What the pointer is over, in a few words.
import type { App } from "./app";
import { css } from "./render";
import { stateColour } from "./colours";
import { esc } from "./html";
import { spanEnd } from "./model";
import { kLane, Row } from "./rows";
import type { Timeline } from "./timeline";
import { duration, functionName, goroutineName, shortFunction, what, whyEnded } from "./words";

export function tipFor(app: App, tl: Timeline, x: number, y: number): string {
  const { m, rows } = app, hit = tl.spanUnder(x, y), kind = rows.kind[hit.row], ref = rows.ref[hit.row];
  const t = tl.timeAt(x - tl.left), slack = 2 * app.perPixel;
  if (kind === Row.Tasks || kind === Row.Stops) {
    const list = kind === Row.Tasks ? m.tasks : m.stops;
    const at = (kind === Row.Tasks ? app.plan.lanes[ref] : [...list.start.keys()])
      .find((i) => list.start[i] - slack <= t && t <= list.end[i] + slack);
    if (at === undefined) return "";
    const name = esc(m.strings[list.name[at]] || "(no name)");
    const kindName = kind === Row.Tasks ? `task ${m.taskId[list.who[at]]}` : "the world was stopped";
    return `<b>${name}</b><br><span class="quiet">${kindName}, ${duration(list.end[at] - list.start[at])}</span>`;
  }
  const lane = Math.floor((y - tl.ruler + app.top - rows.y[hit.row] - 19) / kLane);
  if (kind === Row.Goroutine && lane >= 0) {
    const r = m.regions;
    for (let i = m.regionFirst[ref]; i < m.regionFirst[ref + 1]; i++) {
      if (Math.min(3, r.depth[i]) === lane && r.start[i] <= t && t <= r.end[i]) {
        return `<b>${esc(m.strings[r.name[i]])}</b><br><span class="quiet">region, ${duration(r.end[i] - r.start[i])}</span>`;
      }
    }
    return "";
  }
  if (hit.span < 0) return "";
  const i = hit.span, g = m.g[i], state = m.kind[i] & 15;
  return `<b>${esc(goroutineName(m, g))}</b> <span class="quiet">${esc(shortFunction(functionName(m, g)))}</span><br>` +
    `<span class="swatch" style="background:${css(stateColour(state))}"></span>${esc(what(m, i))}, <b>${duration(spanEnd(m, i) - m.start[i])}</b>` +
    `<br><span class="quiet">until ${esc(whyEnded(m, i))}</span>`;
}
