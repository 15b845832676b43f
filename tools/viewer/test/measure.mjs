// How long a trace takes to open in Chromium, how much memory that needs, and how long the page's
// own work takes for a frame while one pans and zooms.
//
//   node test/measure.mjs TRACE [--canvas]
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { launch, openPage } from "./browser.mjs";

const [, , trace, ...rest] = process.argv;
const browser = await launch({ gl: true });

// Our browser's processes: {kind, MB (proportional set size), seconds of processor time}.
function processes() {
  const list = [], parents = new Map();
  for (const pid of readdirSync("/proc").filter((p) => /^\d+$/.test(p))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      parents.set(Number(pid), { parent: Number(stat[1]), seconds: (Number(stat[11]) + Number(stat[12])) / 100 });
    } catch { /* it has just ended */ }
  }
  const ours = (pid) => pid === process.pid || (parents.has(pid) && pid > 1 && ours(parents.get(pid).parent));
  for (const [pid, { seconds }] of parents) {
    if (pid === process.pid || !ours(pid)) continue;
    try {
      const kind = /--type=([\w-]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] ?? "browser";
      list.push({ kind, seconds, mb: Number(/Pss:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]) / 1024 });
    } catch { /* it has just ended */ }
  }
  return list;
}
const sum = (list, what) => list.reduce((a, p) => a + p[what], 0);

const empty = processes(), page = await openPage(browser.context, null, { query: rest.includes("--canvas") ? "?renderer=canvas" : "" });
const tabs = (list) => list.filter((p) => p.kind === "renderer");
const before = processes();
let tab = 0, all = 0;
const watch = () => {
  const now = processes();
  tab = Math.max(tab, sum(tabs(now), "mb"));
  all = Math.max(all, sum(now, "mb"));
};
const timer = setInterval(watch, 30);
await page.setInputFiles("#file", trace);
await page.waitForSelector('html[data-state="open"]', { state: "attached" });
clearInterval(timer);
const then = processes();
const said = await page.evaluate(() => ({ ms: document.documentElement.dataset.openedIn, events: window.vole.m.events, name: window.vole.tl.renderer.name }));
await page.waitForTimeout(2000);
const after = processes();
console.log(`${said.events} events, ${said.name}, load ${loadavg()[0].toFixed(1)}`);
console.log(`opened in ${said.ms} ms; processor time of the tab ${(sum(tabs(then), "seconds") - sum(tabs(before), "seconds")).toFixed(2)} s, ` +
  `of the whole browser ${(sum(then, "seconds") - sum(before, "seconds")).toFixed(2)} s`);
console.log(`memory: tab ${tab.toFixed(0)} MB at most, ${sum(tabs(after), "mb").toFixed(0)} MB afterwards; ` +
  `whole browser ${all.toFixed(0)} MB at most, ${sum(empty, "mb").toFixed(0)} MB when empty`);

const frames = await page.evaluate(async () => {
  const { tl } = window.vole, next = () => new Promise((r) => requestAnimationFrame(r));
  tl.frames.length = 0;
  for (let i = 0; i < 150; i++) { tl.zoom(1 / 1.12, tl.timeAt(tl.width * 0.4)); await next(); }
  for (let i = 0; i < 100; i++) { tl.pan(25); await next(); }
  for (let i = 0; i < 150; i++) { tl.zoom(1.12, tl.timeAt(tl.width * 0.6)); await next(); }
  for (let i = 0; i < 100; i++) { tl.scroll(i < 50 ? 40 : -40); await next(); }
  return tl.frames;
});
frames.sort((a, b) => a - b);
const at = (q) => frames[Math.min(frames.length - 1, Math.floor(frames.length * q))].toFixed(2);
console.log(`${frames.length} frames: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`);
if (page.problems.length) console.log(page.problems);
await browser.close();
