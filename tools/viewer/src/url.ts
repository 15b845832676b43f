// What is shown, as the part of the address after #, so that a view can be kept and sent.
import type { App, Thing } from "./app";

export interface UrlState { [key: string]: string | undefined }

export function readUrl(hash: string): UrlState {
  const state: UrlState = {};
  for (const [k, v] of new URLSearchParams(hash.replace(/^#/, ""))) state[k] = v;
  return state;
}

export function writeUrl(app: App, width: number): string {
  const p = new URLSearchParams();
  const set = (k: string, v: string) => { if (v) p.set(k, v); };
  set("tab", app.tab === "timeline" ? "" : app.tab);
  set("q", app.filter.q);
  set("reason", app.filter.reason);
  set("longer", app.filter.longer);
  const whole = app.t0 <= 0 && app.perPixel * width >= app.m.duration * 0.999;
  if (!whole) set("at", `${Math.round(app.t0)},${Math.round(app.perPixel * width)}`);
  if (app.chosen >= 0) {
    const g = app.m.g[app.chosen];
    set("sel", `${app.m.id[g]}.${app.chosen - app.m.first[g]}`);
  }
  if (app.thing) set("thing", `${app.thing.kind}.${app.thing.i}`);
  if (app.area) set("area", [app.area.t0, app.area.t1, app.area.y0, app.area.y1].map(Math.round).join());
  const list = (s: Set<number>) => [...s].sort((a, b) => a - b).join(".") || "-";
  if (app.open.size <= 20 && list(app.open) !== list(app.plan.open)) set("open", list(app.open));
  if (list(app.shut) !== list(app.plan.shut)) set("shut", list(app.shut));
  set("sort", app.sort);
  return p.toString();
}

// Applies what the address says about the view; what makes no sense is passed over.
export function applyUrl(app: App, s: UrlState, width: number): void {
  app.filter = { q: s.q ?? "", reason: s.reason ?? "", longer: s.longer ?? "" };
  const at = /^(-?\d+),(\d+)$/.exec(s.at ?? "");
  if (at && Number(at[2]) > 0) {
    app.t0 = Number(at[1]);
    app.perPixel = Number(at[2]) / width;
  }
  const numbers = (text: string | undefined, below: number) =>
    (text ?? "").split(".").filter((x) => x !== "" && Number(x) < below).map(Number);
  if (s.open !== undefined) app.open = new Set(numbers(s.open, app.m.functions.name.length));
  if (s.shut !== undefined) app.shut = new Set(numbers(s.shut, 5));
  if (/^-?\d+$/.test(s.sort ?? "")) app.sort = s.sort!;
  const area = /^(\d+),(\d+),(\d+),(\d+|Infinity)$/.exec(s.area ?? "")?.slice(1).map(Number);
  if (area && area[1] > area[0]) app.area = { t0: area[0], t1: area[1], y0: area[2], y1: area[3] };
  const thing = /^(task|region|stop)\.(\d+)$/.exec(s.thing ?? "");
  const list = thing ? { task: app.m.tasks, region: app.m.regions, stop: app.m.stops }[thing[1] as Thing["kind"]] : null;
  if (thing && Number(thing[2]) < list!.start.length) app.thing = { kind: thing[1] as Thing["kind"], i: Number(thing[2]) };
  const sel = /^(\d+)\.(\d+)$/.exec(s.sel ?? "");
  const g = sel ? app.m.id.indexOf(Number(sel[1])) : -1;
  if (sel && g >= 0 && app.m.first[g] + Number(sel[2]) < app.m.first[g + 1]) {
    app.chosen = app.m.first[g] + Number(sel[2]);
  }
}
