// The reader on traces with known totals. Runs on the bundle that VOLE_VIEWER_READER names.
import assert from "node:assert/strict";
import test from "node:test";
import { kSmall, many, pairs, small } from "./workload.mjs";
import { reader } from "./bundle.mjs";
import { server } from "./server.mjs";

const { readTrace, explain, shortFunction, spanEnd, kStates } = await reader();
const kRunnable = 0, kRunning = 1, kWaiting = 2, kCall = 3;

function totals(m) {
  const t = new Array(kStates).fill(0);
  for (let i = 0; i < m.n; i++) t[m.kind[i] & 15] += spanEnd(m, i) - m.start[i];
  return t.map(Math.round);
}

test("a small trace has the totals that it was written with", () => {
  const m = readTrace(small().file());
  const t = totals(m);
  assert.deepEqual(m.notes, []);
  assert.equal(t[kRunning], kSmall.running);
  assert.equal(t[kRunnable], kSmall.runnable);
  assert.equal(t[kWaiting], kSmall.waiting);
  assert.equal(t[kCall], kSmall.call);
  assert.equal(m.duration, 20000);
  assert.equal(m.goroutines, 4);
  assert.equal(m.steals.time.length, 1);
});

test("the statistics add up to the lifetimes", () => {
  const m = readTrace(pairs({ events: 20000 }).file());
  const sum = m.stats.state.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - m.stats.lifetimes) < 1);
  assert.ok(Math.abs(totals(m).reduce((a, b) => a + b, 0) - sum) < 10);
});

test("regions, tasks, logs, names, stops and places are read", () => {
  const m = readTrace(small().file());
  assert.deepEqual([...m.regions.start], [7000]);
  assert.deepEqual([...m.regions.end], [9000]);
  assert.equal(m.strings[m.regions.name[0]], "prepare");
  assert.deepEqual(m.taskId, [77]);
  assert.deepEqual([...m.tasks.end], [16500]);
  assert.equal(m.strings[m.logs.text[0]], "sent one");
  assert.equal(m.strings[m.stops.name[0]], "trace stop");
  const names = [...m.id].map((id, g) => [id, m.functions.name[m.fn[g]], m.strings[m.name[g]]]);
  assert.ok(names.some(([id, f, n]) => id === 2 && f.startsWith("produce") && n === "the producer"));
  assert.ok(names.some(([id, f, n]) => id === 1 && f === "main" && n === "main"));
});

test("a wait is explained by the one that ended it, without gap", () => {
  const m = readTrace(small().file());
  const g = m.id.indexOf(3);
  let wait = -1;
  for (let i = m.first[g]; i < m.first[g + 1]; i++) if ((m.kind[i] & 15) === kWaiting) wait = i;
  const { steps } = explain(m, wait);
  assert.equal(m.id[steps[0].g], 2);
  assert.equal(steps[0].to, 10000);
  assert.equal(steps.at(-1).from, 6000);
  for (let i = 1; i < steps.length; i++) assert.equal(steps[i].to, steps[i - 1].from);
});

test("generations are joined: a goroutine that waits through several waits once", () => {
  const m = readTrace(pairs({ events: 40000, generationEvents: 10000 }).file());
  assert.deepEqual(m.notes, []);
  for (let g = 0; g < m.goroutines; g++) {
    for (let i = m.first[g] + 1; i < m.first[g + 1]; i++) {
      assert.notEqual(m.kind[i] & 15, m.kind[i - 1] & 15, `G ${m.id[g]} span ${i}`);
    }
  }
});

test("clocks that differ between threads change no order", () => {
  const even = readTrace(small().file());
  for (const skew of [(t) => t * 1e6, (t) => -t * 5000, (t) => (t === 1 ? 1e6 : -1e6)]) {
    const m = readTrace(small({ skew: (t) => skew(t) + 2e6 }).file());
    assert.deepEqual(m.notes, []);
    for (let g = 0; g < m.goroutines; g++) {
      const e = even.id.indexOf(m.id[g]);
      const kinds = (x, k) => [...x.kind.subarray(x.first[k], x.first[k + 1])];
      assert.deepEqual(kinds(m, g), kinds(even, e));
    }
    for (let i = 0; i < m.n; i++) assert.ok(spanEnd(m, i) >= m.start[i]);
  }
});

test("a hundred thousand goroutines are read", () => {
  const m = readTrace(many({ goroutines: 100000 }).file());
  assert.equal(m.goroutines, 100000);
  assert.deepEqual(m.notes, []);
});

// The simulator adds up every state as it goes; the reader knows the events only.
test("totals of a simulated server are the simulator's, to the nanosecond", () => {
  for (const options of [{}, { generation: 7e6, ms: 40 }, { ps: 1, ms: 20 }, { ps: 12, seed: 9, generation: 3e6 }]) {
    const done = server(options), m = readTrace(done.trace.file());
    assert.deepEqual(m.notes, []);
    assert.equal(m.duration, done.end);
    assert.equal(m.goroutines, done.goroutines);
    assert.deepEqual(totals(m).slice(0, 4), done.totals);
    const states = new Array(kStates).fill(0);
    m.stats.state.forEach((ns, i) => (states[i % kStates] += ns));
    assert.deepEqual(states.slice(0, 4).map(Math.round), done.totals);
  }
});

test("every wait of a server is explained without gap or overlap, back to where it began", () => {
  const m = readTrace(server({ ms: 30 }).trace.file());
  let whole = 0;
  for (let i = 0; i < m.n; i++) {
    if ((m.kind[i] & 15) !== kWaiting || spanEnd(m, i) === m.start[i]) continue;
    const { steps, cut } = explain(m, i);
    assert.equal(steps[0].to, spanEnd(m, i));
    for (let k = 1; k < steps.length; k++) assert.equal(steps[k].to, steps[k - 1].from);
    for (const s of steps) assert.ok(s.to > s.from);
    if (steps.at(-1).from === m.start[i]) whole++;
    // The rest happened before the first event of goroutines that the trace does not see created.
    else assert.ok(cut || m.id[steps.at(-1).g] === 1, `wait ${i}`);
  }
  assert.ok(whole > 1000, `${whole} waits`);
});

test("labels name the user's function, not vole's around it", () => {
  for (const [name, elsewhere, label] of [
    ["vole::detail::run_main(void (*)(void*), void*)::{lambda#1}", "", "main"],
    ["vole::wait_group::done_after<(anonymous namespace)::many()::{lambda#1}>", "", "many::λ1"],
    ["vole::wait_group::done_after<vole::detail::bound_call<(anonymous namespace)::on_vole(char const*, int)::{lambda#1}::{lambda#1}, vole::net::conn>>", "", "on_vole::λ1::λ1"],
    ["vole::detail::joinable_task<void, main::{lambda#1}::{lambda#1}>::invoke(void*)", "", "main::λ1::λ1"],
    ["vole::group::member<vole::detail::bound_call<void (*)(vole::net::conn, vole::context const&), vole::net::conn, vole::context>>", "in serve", "in serve"],
    ["void (*)(vole::net::conn)", "in serve", "in serve"],
    ["void (*)(vole::net::conn)", "", "void (*)(vole::net::conn)"],
    ["server::worker(vole::chan<job>)", "", "server::worker"],
    ["main", "", "main"],
    ["std::vector<int> pool::operator()(int) const", "", "std::vector pool::operator() const"],
  ]) assert.equal(shortFunction(name, elsewhere), label);
});
