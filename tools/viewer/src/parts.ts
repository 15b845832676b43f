// Pieces that the panels are made of.
import { functionColour, stateColour } from "./colours";
import type { Frame } from "./chunks";
import { esc } from "./html";
import type { Model } from "./model";
import { css } from "./render";
import { duration, framesOf, functionLabel, kStateNames, share } from "./words";

export const swatch = (rgb: number) => `<span class="swatch" style="background:${css(rgb)}"></span>`;
export const spanLink = (span: number, text: string) => `<button class="link" data-span="${span}">${esc(text)}</button>`;
export const thingLink = (kind: string, i: number, text: string) => `<button class="link" data-thing="${kind}.${i}">${esc(text)}</button>`;

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

export function bar(parts: [number, number][]): string {
  const sum = parts.reduce((a, [, ns]) => a + ns, 0) || 1;
  return `<div class="stackbar" aria-hidden="true">${parts.map(([rgb, ns]) => (ns > 0 ? `<i style="width:${(100 * ns) / sum}%;background:${css(rgb)}"></i>` : "")).join("")}</div>`;
}

export function stateTable(totals: number[]): string {
  const sum = totals.reduce((a, b) => a + b, 0) || 1;
  const rows = totals.map((ns, s) => (ns > 0 ? `<dt>${swatch(stateColour(s))}${kStateNames[s]}</dt><dd>${duration(ns)} <span class="quiet">${share(ns, sum)}</span></dd>` : ""));
  return bar(totals.map((ns, s): [number, number] => [stateColour(s), ns])) + `<dl>${rows.join("")}</dl>`;
}

// The largest parts of a total by function, and what is left.
export function functionTable(m: Model, by: Map<number, number>, all: number, most = 8): string {
  const list = [...by].sort((a, b) => b[1] - a[1]);
  return `<dl>${list.slice(0, most).map(([f, ns]) => `<dt>${duration(ns)}</dt><dd>${swatch(functionColour(f))}${esc(functionLabel(m, f))} <span class="quiet">${share(ns, all)}</span></dd>`).join("")}</dl>`;
}

export function reasonTable(m: Model, by: Map<number, number>): string {
  const list = [...by].sort((a, b) => b[1] - a[1]).slice(0, 8);
  return `<dl>${list.map(([r, ns]) => `<dt>${duration(ns)}</dt><dd>${esc(m.reasons[r] ?? `reason ${r}`)}</dd>`).join("")}</dl>`;
}

export const at = (ns: number) => `${(ns / 1e6).toFixed(6)} ms`;
