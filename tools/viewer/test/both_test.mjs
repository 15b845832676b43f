// Two readers, written apart from each other, on the same traces: the page's and the command's
// (`vole trace summary --json`). Whatever both add up must be the same.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { reader } from "./bundle.mjs";
import { server } from "./server.mjs";
import { many, pairs, small } from "./workload.mjs";

const { readTrace, kStates } = await reader();
const vole = process.env.VOLE_COMMAND, dir = mkdtempSync(join(tmpdir(), "vole-both-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const summary = (...words) => spawnSync(vole, ["trace", "summary", ...words], { encoding: "utf8", maxBuffer: 1 << 28 });
const commands = vole ? spawnSync(vole, ["trace", "--help"], { encoding: "utf8" }).stdout ?? "" : "";
const skip = /^\s+summary\b/m.test(commands) ? false : "there is no `vole trace summary`";

const kNames = ["runnable", "running", "waiting", "call", "evicted", "preempted", "unknown"];
const close = (a, b, what) => assert.ok(Math.abs(a - b) <= 1 + 1e-6 * Math.abs(b), `${what}: the page has ${a}, the command ${b}`);

function compare(name, bytes) {
  const file = join(dir, name);
  writeFileSync(file, bytes);
  const run = summary(file, "--json");
  assert.equal(run.status, 0, run.stderr);
  const theirs = JSON.parse(run.stdout), m = readTrace(new Uint8Array(bytes)), s = m.stats;
  for (const [what, ours] of Object.entries({ events: m.events, goroutines: m.goroutines, ps_taken: m.steals.time.length, stops: m.stops.start.length })) {
    assert.equal(ours, theirs[what], what);
  }
  close(m.duration, theirs.duration, "duration");
  close(s.lifetimes, theirs.lifetimes, "lifetimes");
  for (const f of theirs.functions) {
    const i = m.functions.name.indexOf(f.name);
    assert.ok(i >= 0, f.name);
    assert.equal(m.functions.count[i], f.goroutines, f.name);
    kNames.forEach((state, k) => close(s.state[i * kStates + k], f.states[state], `${f.name} ${state}`));
  }
  theirs.ps.forEach((p, i) => close(s.busy[i], p.running, `P ${i}`));
  compareWaits(m, theirs);
}

// How often goroutines waited, for a P and for each reason, and the longest time.
function compareWaits(m, theirs) {
  const s = m.stats, sum = (a) => a.reduce((x, y) => x + y, 0);
  assert.equal(sum(s.schedCount), theirs.latency.count, "times without a P");
  if (theirs.latency.count) close(Math.max(...s.schedMax), theirs.latency.longest, "longest without a P");
  for (const r of theirs.reasons) {
    const i = Math.max(0, m.reasons.indexOf(r.name));
    let count = 0, ns = 0;
    for (let f = 0; f < m.functions.name.length; f++) {
      count += s.reasonCount[f * s.reasons + i];
      ns += s.reason[f * s.reasons + i];
    }
    assert.equal(count, r.waits.count, r.name);
    close(ns, r.total, r.name);
    close(s.waitMax[i], r.waits.longest, `longest ${r.name}`);
  }
}

const traces = {
  small: () => small(),
  skewed: () => small({ skew: (t) => (t === 1 ? 3e6 : 2e6) }),
  server: () => server({ ms: 30 }).trace,
  "a server in many generations": () => server({ ms: 30, generation: 4e6, ps: 3, seed: 8 }).trace,
  pairs: () => pairs({ events: 30000, generationEvents: 9000 }),
  many: () => many({ goroutines: 20000 }),
};
for (const [name, make] of Object.entries(traces)) {
  test(`${name}: both readers come to the same totals`, { skip }, () => compare(name.replace(/\W/g, "_"), make().file()));
}
const recorded = process.env.VOLE_TRACE_FILE;
test("a recorded trace", { skip: recorded ? skip : "VOLE_TRACE_FILE names none" }, async () => {
  const { readFileSync } = await import("node:fs");
  compare("recorded", readFileSync(recorded));
});
