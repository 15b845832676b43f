// What is shown, as the part of the address after #, so that a view can be kept and sent.
import type { App } from "./app";

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
  if (app.open.size && app.open.size <= 20) set("open", [...app.open].join("."));
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
  for (const f of (s.open ?? "").split(".")) {
    if (f !== "" && Number(f) < app.m.functions.name.length) app.open.add(Number(f));
  }
  const sel = /^(\d+)\.(\d+)$/.exec(s.sel ?? "");
  const g = sel ? app.m.id.indexOf(Number(sel[1])) : -1;
  if (sel && g >= 0 && app.m.first[g] + Number(sel[2]) < app.m.first[g + 1]) {
    app.chosen = app.m.first[g] + Number(sel[2]);
  }
}
